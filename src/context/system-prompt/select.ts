import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { Folder } from "../../world/disk.ts";
import type { World } from "../../world/world.ts";
import { SystemPromptError } from "./error.ts";

/** Who may replace the prompt. */
export type SystemPromptOptions = {
  readonly world: Pick<World, "env" | "files" | "disk" | "host">;
  /** The agent's own folder. */
  readonly home: string;
  /** Where relative paths begin. */
  readonly folder: string;
  /** The prompt Parley would use. */
  readonly prompt: string;
  /** What the person gave on the command line instead. */
  readonly override?: string;
};

/** The prompt of a session, and where it came from. */
export type SystemPrompt = {
  readonly text: string;
  readonly source: "default" | "option" | "file";
  /** The file it came from. */
  readonly path?: string;
  /** Where the usual one was put for the person to edit. */
  readonly writtenTo?: string;
  /** Where it should have been put, but another text stands, which was left alone. */
  readonly notOverwritten?: string;
};

/**
 * The prompt a session uses: what was given, else the file that PARLEY_SYSTEM_MD names, else the usual one. A file that
 * is named and cannot be read is an error: nobody who replaced the prompt wants the usual one.
 */
export const selectSystemPrompt = async (options: SystemPromptOptions): Promise<SystemPrompt> => {
  const trace = await writeDefaultPrompt(options);
  if (options.override !== undefined) return { text: options.override, source: "option", ...trace };
  const path = findNamedFile("SYSTEM_MD", options);
  if (path === undefined) return { text: options.prompt, source: "default", ...trace };
  return { text: await readPrompt(path, options), source: "file", path: path.path, ...trace };
};

/** A file, and the variable that named it. */
type NamedPromptFile = { readonly path: string; readonly variable: string };

/** Ours wins over the other. "1" and "true" mean the usual place; "0", "false" and nothing mean no file. */
const findNamedFile = (
  name: "SYSTEM_MD" | "WRITE_SYSTEM_MD",
  { world: { env, host }, home, folder }: SystemPromptOptions,
): NamedPromptFile | undefined => {
  const variable = [`PARLEY_${name}`, `GEMINI_${name}`].find((each) => (env[each] ?? "").trim() !== "");
  if (variable === undefined) return undefined;
  const value = (env[variable] ?? "").trim();
  if (/^(0|false)$/i.test(value)) return undefined;
  if (/^(1|true)$/i.test(value)) return { path: join(home, "system.md"), variable };
  const path = /^~([/\\]|$)/.test(value) ? join(host.home, value.slice(1)) : value;
  return { path: isAbsolute(path) ? path : resolve(folder, path), variable };
};

/** Longer prompts leave no room to work. */
const maxPromptLength = 2 ** 20;

const readPrompt = async ({ path, variable }: NamedPromptFile, { world }: SystemPromptOptions): Promise<string> => {
  const text = await world.files.read(path).catch((error: unknown) => {
    throw createPromptError(variable, path, "cannot be read", error);
  });
  if (text === undefined) throw createPromptError(variable, path, "is not there");
  if (text.length > maxPromptLength) throw createPromptError(variable, path, "is too long");
  const clean = text
    .replace(/^\ufeff/, "")
    .replaceAll("\r\n", "\n")
    .trim();
  if (clean === "") throw createPromptError(variable, path, "is empty");
  return clean.toWellFormed();
};

const createPromptError = (variable: string, path: string, why: string, cause?: unknown): SystemPromptError =>
  new SystemPromptError(
    `The system prompt ${JSON.stringify(path)} ${why}. ${variable} names it: correct or unset that, or write the usual prompt there with PARLEY_WRITE_SYSTEM_MD.`,
    { cause },
  );

const writeDefaultPrompt = async (
  options: SystemPromptOptions,
): Promise<Pick<SystemPrompt, "writtenTo" | "notOverwritten">> => {
  const named = findNamedFile("WRITE_SYSTEM_MD", options);
  if (named === undefined) return {};
  const { path, variable } = named;
  const text = `${options.prompt}\n`;
  try {
    const there = await options.world.files.read(path);
    if (there !== undefined) return there === text ? { writtenTo: path } : { notOverwritten: path };
    const folder = await openOrCreateFolder(options, dirname(path));
    try {
      await folder.writeFile(basename(path), new TextEncoder().encode(text), 0o600);
    } finally {
      await folder.close();
    }
    return { writtenTo: path };
  } catch (error) {
    throw new SystemPromptError(
      `The system prompt cannot be written to ${JSON.stringify(path)}. ${variable} names it: name a file in a folder that is there.`,
      { cause: error },
    );
  }
};

/** An open folder. Only the agent's own is made where it is missing. */
const openOrCreateFolder = async ({ world: { disk }, home }: SystemPromptOptions, path: string): Promise<Folder> => {
  const there = await disk.canonicalPath(path);
  if (there !== undefined) return disk.openFolder(there);
  const parent = await disk.canonicalPath(dirname(path));
  if (path !== home || parent === undefined) throw new SystemPromptError(`There is no folder ${path}.`);
  const above = await disk.openFolder(parent);
  try {
    await above.makeFolder(basename(path), 0o700);
    return await above.openFolder(basename(path));
  } finally {
    await above.close();
  }
};
