import { openingOf } from "../context/opening.ts";
import type { ToolDeclaration, UserPart } from "../conversation/index.ts";
import { openTrust } from "../policy/trust.ts";
import { openWorkspace } from "../policy/workspace.ts";
import type { OpenOptions } from "./open.ts";

/** What a model is told at the start of a session. */
export type Opening = {
  readonly system: string;
  /** The day, the machine, the folders. */
  readonly environment: readonly UserPart[];
  readonly notes: readonly string[];
  /** Where the project really is. */
  readonly root: string;
};

/** Looks around, once, and puts what is found into words. */
export const openContext = async (
  { world, home, folder, loaded: { settings }, interactive, system: given, sandbox }: OpenOptions,
  tools: readonly ToolDeclaration[],
): Promise<Opening> => {
  const { disk } = world;
  const roots = [folder, ...settings["context.includeDirectories"]];
  const files = await openWorkspace({ disk, roots, home, scratch: `${home}/scratch` });
  try {
    const { system, environment, notes } = await openingOf({
      world,
      files,
      home,
      isTrusted: openTrust(disk, home).isTrusted,
      setting: {
        isInteractive: interactive,
        isSandboxed: sandbox !== undefined,
        tools: tools.map(({ name }) => name),
      },
      context: { names: settings["context.fileName"] },
      isFull: settings["context.fullContext"],
      signal: new AbortController().signal,
      ...(given === undefined ? {} : { prompt: given }),
    });
    return { root: files.roots[0] ?? folder, system, environment, notes: notes.map(({ text }) => text) };
  } finally {
    await files.close();
  }
};
