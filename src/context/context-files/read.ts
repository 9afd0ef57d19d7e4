import { toHomeFolders, type HomeOption } from "../../world/home-folders.ts";
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

/** Where context files are searched. */
export type ContextOptions = {
  readonly world: Pick<World, "disk" | "host">;
  readonly files: Pick<Workspace, "roots" | "open" | "ignored">;
  /** Parley's own folders, with its memory file. */
  readonly home: HomeOption;
  readonly isTrusted: (folder: string) => Promise<boolean>;
  /** The scans of the trusted roots, or a promise of them. */
  readonly scans: readonly WorkspaceScan[] | Promise<readonly WorkspaceScan[]>;
  /** The names of context files; default: `contextFileNames`. */
  readonly names?: readonly string[];
  /** The user's own context files for all projects. `~` is the home folder. */
  readonly person?: readonly string[];
};

/** A context file. */
export type ContextFile = {
  readonly scope: "person" | "project";
  /** Its path relative to the workspace. */
  readonly label: string;
  readonly text: string;
};

/** All context files in collector order, and notes for the user. */
export type ContextFiles = { readonly files: readonly ContextFile[]; readonly notes: readonly ContextNote[] };

/** The default names of context files. Parley's own name is last, so it takes precedence in a folder. */
const contextFileNames: readonly string[] = ["AGENTS.md", "GEMINI.md", "CLAUDE.md", "PARLEY.md"];

/**
 * Reads the context files: memory and the user's files, then the project's, from the outermost folder to the workspace and
 * into the folders below. Nothing is read from an untrusted folder.
 */
export const readContextFiles = async (options: ContextOptions): Promise<ContextFiles> => {
  const { world, files } = options;
  const { config } = toHomeFolders(options.home);
  const person = (await world.disk.canonicalPath(world.host.home)) ?? world.host.home;
  const label = (path: string): string => formatLabel(path, { roots: files.roots, person });
  const collector = new ContextFileCollector(label);
  const named = expandHome(options.person ?? [], world.host.home);
  const [memory, others, project] = await Promise.all([
    readMemory(world.disk, config),
    readAll(named, createPersonalReader(world.disk)),
    readProjectFiles(options, person),
  ]);
  const own = [...(memory === undefined ? [] : [{ path: join(config, "PARLEY.md"), found: memory }]), ...others];
  for (const { path, found } of own) {
    const read = typeof found === "string" ? undefined : createPersonalReader(world.disk, dirname(found.path));
    await collector.add({ scope: "person", path, found }, read);
  }
  try {
    for (const root of project.untrusted) collector.note("untrusted", root);
    for (const { path, found } of project.files)
      if (found !== "absent") await collector.add({ scope: "project", path, found }, project.read);
  } finally {
    await project.close();
  }
  return { files: collector.files, notes: collector.notes };
};

/** Total characters of all context files. */
const maxCharacters = 100_000;

/** Limits of import depth, imports and files. */
const maxImportDepth = 5;
const maxImports = 100;
const maxFiles = 100;

type FoundContextFile = { readonly path: string; readonly found: ReadContextText | ContextNoteKind };
type ScopedContextFile = FoundContextFile & Pick<ContextFile, "scope">;

const readAll = (paths: readonly string[], read: ReadContextFile): Promise<readonly FoundContextFile[]> =>
  Promise.all(paths.map(async (path) => ({ path, found: await read(path) })));

const expandHome = (paths: readonly string[], home: string): readonly string[] =>
  paths.map((path) => (/^~[/\\]/.test(path) ? join(home, path.slice(2)) : path)).filter((path) => isAbsolute(path));

/** The project's context files; `read` reads their imports. The caller closes it. */
type ProjectContextFiles = {
  readonly files: readonly FoundContextFile[];
  readonly untrusted: readonly string[];
  readonly read: ReadContextFile;
  readonly close: () => Promise<void>;
};

/** Reads the outer folders while the inner ones are being scanned. */
const readProjectFiles = async (
  { world: { disk }, files, home, isTrusted, scans, names = contextFileNames }: ContextOptions,
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
    const inner = Promise.resolve(scans).then((all) => {
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

/** Collects context files. Every file and every text is included once. */
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

  /** Adds a file, and then the files it imports. */
  async add(file: ScopedContextFile, read: ReadContextFile | undefined, from: readonly string[] = []): Promise<void> {
    const { scope, path, found } = file;
    if (typeof found === "string") return this.note(found, path);
    if (from.includes(found.path)) return this.note("cycle", path);
    if (this.#paths.has(found.path)) return;
    this.#paths.add(found.path);
    if (found.hadInvisible) this.note("invisible", path);
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

/** A shorter part of a file is not included. */
const minUsefulLength = 200;
const cutMark = "[Cut here: the file is longer. read_file reads the rest.]";
