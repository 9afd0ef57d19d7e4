import { sep } from "node:path";
import type { Workspace } from "../../policy/workspace/open.ts";
import type { Disk } from "../../world/disk.ts";

/** What a look around needs. */
export type WorkspaceScanOptions = {
  readonly disk: Pick<Disk, "listNames">;
  readonly files: Pick<Workspace, "ignoring">;
  /** The folder to look around in, by its canonical path. */
  readonly folder: string;
  /** How many folders are looked into; 200 if not given. */
  readonly maxFolders?: number;
};

/** What stands in a folder and below it, the nearest first, without what ignore files name. No link was followed. */
export type WorkspaceScan = { readonly root: string; readonly folders: readonly ScannedFolder[] };

/** One folder of a survey. Names are sorted; links stand among the files. */
export type ScannedFolder = {
  /** Relative to the root, with slashes; "" is the root. */
  readonly path: string;
  readonly folders: readonly string[];
  /** All names of files. Ask `isSeen` before using one: to judge them all takes longer than to find them. */
  readonly files: readonly string[];
  /** Whether no ignore file keeps a file out. */
  readonly isVisible: (file: string) => boolean;
  /** Why it is not known what stands in it: it was too far away, it is of no interest, or it cannot be listed. */
  readonly skipped?: "far" | "dull" | "unreadable";
};

/** Looks around in a folder once, level by level. The same files give the same survey. */
export const scanWorkspace = async ({
  disk,
  files,
  folder,
  maxFolders: most = 200,
}: WorkspaceScanOptions): Promise<WorkspaceScan> => {
  const found: ScannedFolder[] = [];
  const rulesIn = (path: string): Promise<IgnoreCheck> => files.ignoring(path, { git: true, own: true });
  let level: readonly PendingFolder[] = [{ path: "", rules: { judge: rulesIn(folder), above: "" } }];
  let opened = 0;
  while (level.length > 0) {
    opened += level.length;
    const looked = await Promise.all(level.map((each) => scanFolder(each, { disk, folder, rulesIn })));
    found.push(...looked.map(({ surveyed }) => surveyed));
    const next = looked.flatMap((each) => each.next);
    const open = next.filter(({ path }) => !generatedFolders.has(path.slice(path.lastIndexOf("/") + 1)));
    level = open.slice(0, Math.max(0, most - opened));
    const near = new Set(level);
    const isFar = new Set(open.slice(level.length));
    const dropped = next.filter((each) => !near.has(each));
    found.push(...dropped.map((each) => skippedFolder(each.path, isFar.has(each) ? "far" : "dull")));
  }
  return { root: folder, folders: found };
};

/** Folders that other programs fill. */
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

/** Ignore rules, and the folder they were read for; they count below it until there are others. */
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
  const isKept = (name: string, isFolder: boolean): boolean => {
    const whole = joinPath(path, name);
    return judge(rules.above === "" ? whole : whole.slice(rules.above.length + 1), isFolder) !== undefined;
  };
  const folders = names
    .flatMap(({ name, kind }) => (kind === "folder" && !isKept(name, true) ? [name] : []))
    .toSorted();
  const files = names.flatMap(({ name, kind }) => (kind === "folder" ? [] : [name])).toSorted();
  return {
    surveyed: { path, folders, files, isVisible: (name) => !isKept(name, false) },
    next: folders.map((name) => ({ path: joinPath(path, name), rules })),
  };
};

const joinPath = (folder: string, name: string): string => (folder === "" ? name : `${folder}/${name}`);
