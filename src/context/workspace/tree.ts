import { escapeName } from "../../tools/files/escape-name.ts";
import type { WorkspaceScan, ScannedFolder } from "./scan.ts";

/** Limits of a formatted tree. */
export type TreeLimits = {
  /** Total names; default: 200. */
  readonly maxNames?: number;
  /** Names per folder; default: 50. */
  readonly maxNamesPerFolder?: number;
};

/** Formats a scan as indented lines, nearest names first. Omissions are marked with `...`. */
export const formatTree = (
  { folders }: WorkspaceScan,
  { maxNames = 200, maxNamesPerFolder = 50 }: TreeLimits = {},
): string => {
  const shown = new Map<string, ShownFolder>();
  let remaining = maxNames;
  for (const folder of folders) {
    const taken = selectNames(folder, Math.min(remaining, maxNamesPerFolder));
    remaining -= taken.names.length;
    shown.set(folder.path, { ...taken, skipped: folder.skipped });
  }
  return formatLines(shown, "", "").join("\n");
};

type ShownFolder = {
  readonly names: readonly string[];
  /** Whether names were omitted. */
  readonly isCut: boolean;
  readonly skipped: ScannedFolder["skipped"];
};

const selectNames = (
  { folders, files, isVisible }: ScannedFolder,
  maxCount: number,
): Pick<ShownFolder, "names" | "isCut"> => {
  const names = folders.slice(0, maxCount).map((name) => `${name}/`);
  if (folders.length > maxCount) return { names, isCut: true };
  for (const name of files) {
    if (!isVisible(name)) continue;
    if (names.length === maxCount) return { names, isCut: true };
    names.push(name);
  }
  return { names, isCut: false };
};

const formatLines = (shown: ReadonlyMap<string, ShownFolder>, path: string, indent: string): readonly string[] => {
  const folder = shown.get(path);
  if (folder === undefined) return [];
  const lines = folder.names.flatMap((name) => {
    const line = `${indent}${escapeName(name)}`;
    if (!name.endsWith("/")) return [line];
    const inside = `${path === "" ? "" : `${path}/`}${name.slice(0, -1)}`;
    return isHidden(shown.get(inside)) ? [`${line} ...`] : [line, ...formatLines(shown, inside, `${indent}  `)];
  });
  return folder.isCut ? [...lines, `${indent}...`] : lines;
};

/** Whether the contents of a folder are unknown or completely omitted. */
const isHidden = (folder: ShownFolder | undefined): boolean =>
  folder === undefined || folder.skipped !== undefined || (folder.names.length === 0 && folder.isCut);
