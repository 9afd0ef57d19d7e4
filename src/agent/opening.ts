import { openingOf } from "../context/opening.ts";
import type { ToolDeclaration } from "../conversation/entry.ts";
import type { UserPart } from "../conversation/parts.ts";
import { openTrust } from "../policy/trust.ts";
import { openWorkspace } from "../policy/workspace.ts";
import type { Disk } from "../world/disk.ts";
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
  const trust = remembered(openTrust(disk, home).isTrusted);
  const files = await openWorkspace({ disk, roots, home, scratch: `${home}/scratch` });
  try {
    const { system, environment, notes } = await openingOf({
      world,
      files,
      home,
      isTrusted: trust,
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
    const told = notes.filter(({ kind }) => kind !== "untrusted").map(({ text }) => text);
    return {
      root: files.roots[0] ?? folder,
      system,
      environment,
      notes: [...(await unread(disk, files.roots, trust)), ...told],
    };
  } finally {
    await files.close();
  }
};

/** The same folders are asked about from several sides. */
const remembered = (isTrusted: (folder: string) => Promise<boolean>): ((folder: string) => Promise<boolean>) => {
  const known = new Map<string, Promise<boolean>>();
  return (folder) => {
    const answer = known.get(folder) ?? isTrusted(folder);
    known.set(folder, answer);
    return answer;
  };
};

/** What a project says to agents, by the names at its top. */
const toAgents = /^(AGENTS|GEMINI|CLAUDE|PARLEY)\.md$|^\.(parley|gemini|claude|mcp\.json)$/;

/** One line for each folder that says something to agents and is not trusted. */
const unread = async (
  disk: Disk,
  roots: readonly string[],
  isTrusted: (folder: string) => Promise<boolean>,
): Promise<readonly string[]> => {
  const lines = roots.map(async (root) => {
    if (await isTrusted(root)) return [];
    const names = (await disk.names(root).catch(() => []))
      .map(({ name }) => name)
      .filter((name) => toAgents.test(name));
    if (names.length === 0) return [];
    return [
      `${root} is not trusted, so ${names.join(", ")} ${names.length === 1 ? "is" : "are"} not read. parley trust changes that.`,
    ];
  });
  return (await Promise.all(lines)).flat();
};
