import { ensureFolderPath } from "../../world/ensure-folder.ts";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { Folder } from "../../world/disk.ts";
import type { World } from "../../world/world.ts";
import { SystemPromptError } from "./error.ts";

/** The sources of the system prompt. */
export type SystemPromptOptions = {
  readonly world: Pick<World, "env" | "files" | "disk" | "host">;
  /** Parley's home folder. */
  readonly home: string;
  /** The base of relative paths. */
  readonly folder: string;
  /** The default prompt. */
  readonly prompt: string;
  /** A prompt from the command line that replaces it. */
  readonly override?: string;
};

/** The system prompt of a session, and its source. */
export type SystemPrompt = {
  readonly text: string;
  readonly source: "default" | "option" | "file";
  /** The file it was read from. */
  readonly path?: string;
  /** Where the default prompt was written for the user to edit. */
  readonly writtenTo?: string;
  /** The file with other text that was not overwritten. */
  readonly notOverwritten?: string;
};

/**
 * Selects the system prompt: the command line, then the file PARLEY_SYSTEM_MD names, then the default. A named file that
 * cannot be read is an error, because falling back to the default would be unexpected.
 */
export const selectSystemPrompt = async (options: SystemPromptOptions): Promise<SystemPrompt> => {
  const trace = await writeDefaultPrompt(options);
  if (options.override !== undefined) return { text: options.override, source: "option", ...trace };
  const path = findNamedFile("SYSTEM_MD", options);
  if (path === undefined) return { text: options.prompt, source: "default", ...trace };
  return { text: await readPrompt(path, options), source: "file", path: path.path, ...trace };
};

/** A file, and the variable that names it. */
type NamedPromptFile = { readonly path: string; readonly variable: string };

/** PARLEY_ takes precedence over GEMINI_. "1" and "true" mean the default file; "0", "false" and empty mean no file. */
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

/** Longer prompts leave too little of the context window. */
const maxPromptLength = 2 ** 20;

const readPrompt = async ({ path, variable }: NamedPromptFile, { world }: SystemPromptOptions): Promise<string> => {
  const text = await world.files.read(path).catch((error: unknown) => {
    throw createPromptError(variable, path, "cannot be read", error);
  });
  if (text === undefined) throw createPromptError(variable, path, "does not exist");
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
    `The system prompt ${JSON.stringify(path)} ${why}. ${variable} names it: correct or unset it, or write the default prompt there with PARLEY_WRITE_SYSTEM_MD.`,
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
      `The system prompt cannot be written to ${JSON.stringify(path)}. ${variable} names it: use a file in an existing folder.`,
      { cause: error },
    );
  }
};

/** Opens a folder. Only Parley's home folder is created if it is missing. */
const openOrCreateFolder = async ({ world: { disk }, home }: SystemPromptOptions, path: string): Promise<Folder> => {
  const there = await disk.canonicalPath(path);
  if (there !== undefined) return disk.openFolder(there);
  if (path !== home) throw new SystemPromptError(`There is no folder ${path}.`);
  return disk.openFolder(await ensureFolderPath(disk, path));
};
