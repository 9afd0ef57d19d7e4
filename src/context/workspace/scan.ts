import { sep } from "node:path";
import type { Workspace } from "../../policy/workspace/open.ts";
import type { Disk } from "../../world/disk.ts";

export type WorkspaceScanOptions = {
  readonly disk: Pick<Disk, "listNames">;
  readonly files: Pick<Workspace, "ignoring">;
  /** The canonical path of the folder to scan. */
  readonly folder: string;
  /** The maxFolders folders to scan; default: 200. */
  readonly maxFolders?: number;
};

/** The contents of a folder and its subfolders, nearest first, without ignored files. Links are not followed. */
export type WorkspaceScan = { readonly root: string; readonly folders: readonly ScannedFolder[] };

/** One scanned folder. Names are sorted; links are among the files. */
export type ScannedFolder = {
  /** Relative to the root, with slashes; "" is the root. */
  readonly path: string;
  readonly folders: readonly string[];
  /** All file names. Check `isVisible` before using one: checking all takes longer than listing them. */
  readonly files: readonly string[];
  /** Whether a file is not ignored. */
  readonly isVisible: (file: string) => boolean;
  /** Why it was not scanned: the folder limit, generated contents, or a read error. */
  readonly skipped?: "limit" | "generated" | "unreadable";
};

/** Scans a folder breadth first. The same files give the same result. */
export const scanWorkspace = async ({
  disk,
  files,
  folder,
  maxFolders = 200,
}: WorkspaceScanOptions): Promise<WorkspaceScan> => {
  const found: ScannedFolder[] = [];
  const rulesIn = (path: string): Promise<IgnoreCheck> => files.ignoring(path, { git: true, own: true });
  let level: readonly PendingFolder[] = [{ path: "", rules: { judge: rulesIn(folder), above: "" } }];
  let opened = 0;
  while (level.length > 0) {
    opened += level.length;
    const results = await Promise.all(level.map((each) => scanFolder(each, { disk, folder, rulesIn })));
    found.push(...results.map(({ surveyed }) => surveyed));
    const next = results.flatMap((each) => each.next);
    const open = next.filter(({ path }) => !generatedFolders.has(path.slice(path.lastIndexOf("/") + 1)));
    level = open.slice(0, Math.max(0, maxFolders - opened));
    const scanned = new Set(level);
    const beyondLimit = new Set(open.slice(level.length));
    const dropped = next.filter((each) => !scanned.has(each));
    found.push(...dropped.map((each) => skippedFolder(each.path, beyondLimit.has(each) ? "limit" : "generated")));
  }
  return { root: folder, folders: found };
};

/** Folders with generated contents. */
const generatedFolders: ReadonlySet<string> = new Set([
  ".git",
  ".hg",
  ".jj",
  ".svn",
  "node_modules",
  "bower_components",
  "__pycache__",
  ".venv",
  "venv",
]);

type IgnoreCheck = Awaited<ReturnType<Workspace["ignoring"]>>;

/** Ignore rules, and the folder they were read for; they apply below it until another .gitignore. */
type ScanIgnoreRules = { readonly judge: Promise<IgnoreCheck>; readonly above: string };
type PendingFolder = { readonly path: string; readonly rules: ScanIgnoreRules };

const skippedFolder = (path: string, why: NonNullable<ScannedFolder["skipped"]>): ScannedFolder => ({
  path,
  folders: [],
  files: [],
  isVisible: () => false,
  skipped: why,
});

type ScanContext = Pick<WorkspaceScanOptions, "disk" | "folder"> & {
  readonly rulesIn: (path: string) => Promise<IgnoreCheck>;
};

const scanFolder = async (
  { path, rules: given }: PendingFolder,
  { disk, folder, rulesIn }: ScanContext,
): Promise<{ readonly surveyed: ScannedFolder; readonly next: readonly PendingFolder[] }> => {
  const real = path === "" ? folder : `${folder.endsWith(sep) ? folder : folder + sep}${path}`;
  const [names] = await Promise.all([disk.listNames(real).catch(() => undefined), given.judge]);
  if (names === undefined) return { surveyed: skippedFolder(path, "unreadable"), next: [] };
  const hasRules = path !== "" && names.some(({ name }) => name === ".gitignore");
  const rules = hasRules ? { judge: rulesIn(real), above: path } : given;
  const judge = await rules.judge;
  const isIgnored = (name: string, isFolder: boolean): boolean => {
    const whole = joinPath(path, name);
    return judge(rules.above === "" ? whole : whole.slice(rules.above.length + 1), isFolder) !== undefined;
  };
  const folders = names
    .flatMap(({ name, kind }) => (kind === "folder" && !isIgnored(name, true) ? [name] : []))
    .toSorted();
  const files = names.flatMap(({ name, kind }) => (kind === "folder" ? [] : [name])).toSorted();
  return {
    surveyed: { path, folders, files, isVisible: (name) => !isIgnored(name, false) },
    next: folders.map((name) => ({ path: joinPath(path, name), rules })),
  };
};

const joinPath = (folder: string, name: string): string => (folder === "" ? name : `${folder}/${name}`);
