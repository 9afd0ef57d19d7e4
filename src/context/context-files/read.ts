import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Workspace } from "../../policy/workspace/open.ts";
import type { World } from "../../world/world.ts";
import { createContextNote, type ContextNote, type ContextNoteKind } from "./note.ts";
import { listProjectFoldersUpward, listInnerPaths, formatLabel, listOuterPaths, openWiderWorkspace } from "./paths.ts";
import {
  createPersonalReader,
  createProjectReader,
  readMemory,
  cutToWholeLines,
  type ReadContextFile,
  type ReadContextText,
} from "./file-reader.ts";
import { findImports, removeImports } from "./imports.ts";
import type { WorkspaceScan } from "../workspace/scan.ts";

/** Where context files are looked for. */
export type ContextOptions = {
  readonly world: Pick<World, "disk" | "host">;
  readonly files: Pick<Workspace, "roots" | "open" | "ignored">;
  /** The agent's own folder, with what it remembers. */
  readonly home: string;
  readonly isTrusted: (folder: string) => Promise<boolean>;
  /** What stands below each root that is trusted, or will be known to. */
  readonly scans: readonly WorkspaceScan[] | Promise<readonly WorkspaceScan[]>;
  /** The names of context files; those of `contextFileNames` if not given. */
  readonly names?: readonly string[];
  /** Further files of the person's own, which count in every project. `~` stands for the home folder. */
  readonly person?: readonly string[];
};

/** A text that was found for the model. */
export type ContextFile = {
  readonly scope: "person" | "project";
  /** How it is called: relative to the workspace. */
  readonly label: string;
  readonly text: string;
};

/** Everything that was found, in the order in which a model should read it, and what to say about it. */
export type ContextFiles = { readonly files: readonly ContextFile[]; readonly notes: readonly ContextNote[] };

/** The names agents' files go by. The last of them is our own, so it has the last word in a folder. */
const contextFileNames: readonly string[] = ["AGENTS.md", "GEMINI.md", "CLAUDE.md", "PARLEY.md"];

/**
 * Reads what a person and a project say to agents: the memory and the person's files, then the project's from its
 * outermost folder to the workspace and on into the folders below. Nothing of an untrusted folder is read.
 */
export const readContextFiles = async (options: ContextOptions): Promise<ContextFiles> => {
  const { world, files, home } = options;
  const person = (await world.disk.canonicalPath(world.host.home)) ?? world.host.home;
  const label = (path: string): string => formatLabel(path, { roots: files.roots, person });
  const reading = new ContextFileCollector(label);
  const named = expandHome(options.person ?? [], world.host.home);
  const [memory, others, project] = await Promise.all([
    readMemory(world.disk, home),
    readAll(named, createPersonalReader(world.disk)),
    readProjectFiles(options, person),
  ]);
  const own = [...(memory === undefined ? [] : [{ path: join(home, "PARLEY.md"), found: memory }]), ...others];
  for (const { path, found } of own) {
    const read = typeof found === "string" ? undefined : createPersonalReader(world.disk, dirname(found.path));
    await reading.add({ scope: "person", path, found }, read);
  }
  try {
    for (const root of project.untrusted) reading.note("untrusted", root);
    for (const { path, found } of project.files)
      if (found !== "absent") await reading.add({ scope: "project", path, found }, project.read);
  } finally {
    await project.close();
  }
  return { files: reading.files, notes: reading.notes };
};

/** Characters of context files in all. */
const maxCharacters = 100_000;

/** How deep imports may be nested, how many are followed, and how many files there may be. */
const maxImportDepth = 5;
const maxImports = 100;
const maxFiles = 100;

type FoundContextFile = { readonly path: string; readonly found: ReadContextText | ContextNoteKind };
type ScopedContextFile = FoundContextFile & Pick<ContextFile, "scope">;

const readAll = (paths: readonly string[], read: ReadContextFile): Promise<readonly FoundContextFile[]> =>
  Promise.all(paths.map(async (path) => ({ path, found: await read(path) })));

const expandHome = (paths: readonly string[], home: string): readonly string[] =>
  paths.map((path) => (/^~[/\\]/.test(path) ? join(home, path.slice(2)) : path)).filter((path) => isAbsolute(path));

/** What was found in the project; `read` reads what it imports. Close it. */
type ProjectContextFiles = {
  readonly files: readonly FoundContextFile[];
  readonly untrusted: readonly string[];
  readonly read: ReadContextFile;
  readonly close: () => Promise<void>;
};

/** The outer folders are read while the inner ones are still being looked at. */
const readProjectFiles = async (
  { world: { disk }, files, home, isTrusted, scans: surveys, names = contextFileNames }: ContextOptions,
  person: string,
): Promise<ProjectContextFiles> => {
  const plain = names.filter((name) => !/[/\\\0]|^\.{0,2}$/.test(name));
  const trusted = await Promise.all(files.roots.map(isTrusted));
  const roots = files.roots.filter((_, index) => trusted[index]);
  const upward = await Promise.all(roots.map((root) => listProjectFoldersUpward({ disk, isTrusted, person }, root)));
  const outermost = [...new Set(upward.flatMap((folders) => folders.slice(0, 1)))];
  const wider = await openWiderWorkspace({ disk, home }, outermost, files.roots);
  try {
    const read = createProjectReader(wider === undefined ? [files] : [files, wider]);
    const outer = readAll(
      upward.flatMap((folders) => listOuterPaths(folders, plain)),
      read,
    );
    const inner = Promise.resolve(surveys).then((all) => {
      const seen = all.filter(({ root }) => roots.includes(root)).flatMap((each) => listInnerPaths(each, plain));
      return readAll(seen.slice(0, maxFiles), read);
    });
    return {
      files: (await Promise.all([outer, inner])).flat(),
      untrusted: files.roots.filter((_, index) => !trusted[index]),
      read,
      close: async () => wider?.close(),
    };
  } catch (error) {
    await wider?.close();
    throw error;
  }
};

/** What has been read so far. Every file and every text counts once. */
class ContextFileCollector {
  readonly files: ContextFile[] = [];
  readonly notes: ContextNote[] = [];
  readonly #label: (path: string) => string;
  readonly #paths = new Set<string>();
  readonly #texts = new Set<string>();
  #room = maxCharacters;
  #imports = 0;

  constructor(label: (path: string) => string) {
    this.#label = label;
  }

  note(kind: ContextNoteKind, path: string): void {
    const made = createContextNote(kind, kind === "untrusted" ? path : this.#label(path));
    if (!this.notes.some(({ text }) => text === made.text)) this.notes.push(made);
  }

  /** Takes a file in, and after it the files it imports. */
  async add(file: ScopedContextFile, read: ReadContextFile | undefined, from: readonly string[] = []): Promise<void> {
    const { scope, path, found } = file;
    if (typeof found === "string") return this.note(found, path);
    if (from.includes(found.path)) return this.note("cycle", path);
    if (this.#paths.has(found.path)) return;
    this.#paths.add(found.path);
    if (found.hadInvisible) this.note("unseen", path);
    this.#keep({ ...file, ...found, text: found.text.trim() });
    if (read === undefined) return;
    const inside = [...from, found.path];
    for (const imported of findImports(found.text)) {
      const target = resolve(dirname(found.path), imported);
      if (imported.startsWith("~")) this.note("outside", imported);
      else if (inside.length > maxImportDepth) this.note("deep", target);
      else if ((this.#imports += 1) > maxImports) return this.note("full", target);
      else await this.add({ scope, path: target, found: await read(target) }, read, inside);
    }
  }

  #keep({ scope, path, text, isCut }: Pick<ScopedContextFile, "scope"> & ReadContextText): void {
    if (removeImports(text).trim() === "") return;
    if (this.#texts.has(text)) return this.note("same", path);
    this.#texts.add(text);
    if (this.#room < minUsefulLength || this.files.length >= maxFiles) return this.note("full", path);
    const isLong = text.length > this.#room;
    const kept = isLong ? cutToWholeLines(text.slice(0, this.#room)) : text;
    this.#room -= kept.length;
    if (isLong || isCut) this.note("cut", path);
    this.files.push({ scope, label: this.#label(path), text: isLong || isCut ? `${kept}\n${cutMark}` : kept });
  }
}

/** Less than this of a file is no use to anyone. */
const minUsefulLength = 200;
const cutMark = "[Cut here: the file is longer. read_file reads the rest.]";
