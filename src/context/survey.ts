import { sep } from "node:path";
import type { Workspace } from "../policy/workspace.ts";
import type { Disk } from "../world/disk.ts";

/** What a look around needs. */
export type SurveyOptions = {
  readonly disk: Pick<Disk, "names">;
  readonly files: Pick<Workspace, "ignoring">;
  /** The folder to look around in, by its canonical path. */
  readonly folder: string;
  /** How many folders are looked into; 200 if not given. */
  readonly most?: number;
};

/** What stands in a folder and below it, the nearest first, without what ignore files name. No link was followed. */
export type Survey = { readonly root: string; readonly folders: readonly Surveyed[] };

/** One folder of a survey. Names are sorted; links stand among the files. */
export type Surveyed = {
  /** Relative to the root, with slashes; "" is the root. */
  readonly path: string;
  readonly folders: readonly string[];
  /** All names of files. Ask `isSeen` before using one: to judge them all takes longer than to find them. */
  readonly files: readonly string[];
  /** Whether no ignore file keeps a file out. */
  readonly isSeen: (file: string) => boolean;
  /** Why it is not known what stands in it: it was too far away, it is of no interest, or it cannot be listed. */
  readonly closed?: "far" | "dull" | "unreadable";
};

/** Looks around in a folder once, level by level. The same files give the same survey. */
export const survey = async ({ disk, files, folder, most = 200 }: SurveyOptions): Promise<Survey> => {
  const found: Surveyed[] = [];
  const rulesIn = (path: string): Promise<Judge> => files.ignoring(path, { git: true, own: true });
  let level: readonly Waiting[] = [{ path: "", rules: { judge: rulesIn(folder), above: "" } }];
  let opened = 0;
  while (level.length > 0) {
    opened += level.length;
    const looked = await Promise.all(level.map((each) => lookInto(each, { disk, folder, rulesIn })));
    found.push(...looked.map(({ surveyed }) => surveyed));
    const next = looked.flatMap((each) => each.next);
    const open = next.filter(({ path }) => !dull.has(path.slice(path.lastIndexOf("/") + 1)));
    level = open.slice(0, Math.max(0, most - opened));
    const near = new Set(level);
    const isFar = new Set(open.slice(level.length));
    const dropped = next.filter((each) => !near.has(each));
    found.push(...dropped.map((each) => closed(each.path, isFar.has(each) ? "far" : "dull")));
  }
  return { root: folder, folders: found };
};

/** Folders that other programs fill. */
const dull: ReadonlySet<string> = new Set([
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

type Judge = Awaited<ReturnType<Workspace["ignoring"]>>;

/** Ignore rules, and the folder they were read for; they count below it until there are others. */
type Rules = { readonly judge: Promise<Judge>; readonly above: string };
type Waiting = { readonly path: string; readonly rules: Rules };

const closed = (path: string, why: NonNullable<Surveyed["closed"]>): Surveyed => ({
  path,
  folders: [],
  files: [],
  isSeen: () => false,
  closed: why,
});

type Looking = Pick<SurveyOptions, "disk" | "folder"> & { readonly rulesIn: (path: string) => Promise<Judge> };

const lookInto = async (
  { path, rules: given }: Waiting,
  { disk, folder, rulesIn }: Looking,
): Promise<{ readonly surveyed: Surveyed; readonly next: readonly Waiting[] }> => {
  const real = path === "" ? folder : `${folder.endsWith(sep) ? folder : folder + sep}${path}`;
  const [names] = await Promise.all([disk.names(real).catch(() => undefined), given.judge]);
  if (names === undefined) return { surveyed: closed(path, "unreadable"), next: [] };
  const hasRules = path !== "" && names.some(({ name }) => name === ".gitignore");
  const rules = hasRules ? { judge: rulesIn(real), above: path } : given;
  const judge = await rules.judge;
  const isKept = (name: string, isFolder: boolean): boolean => {
    const whole = below(path, name);
    return judge(rules.above === "" ? whole : whole.slice(rules.above.length + 1), isFolder) !== undefined;
  };
  const folders = names
    .flatMap(({ name, kind }) => (kind === "folder" && !isKept(name, true) ? [name] : []))
    .toSorted();
  const files = names.flatMap(({ name, kind }) => (kind === "folder" ? [] : [name])).toSorted();
  return {
    surveyed: { path, folders, files, isSeen: (name) => !isKept(name, false) },
    next: folders.map((name) => ({ path: below(path, name), rules })),
  };
};

const below = (folder: string, name: string): string => (folder === "" ? name : `${folder}/${name}`);
