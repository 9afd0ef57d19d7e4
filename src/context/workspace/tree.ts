import { escapeName } from "../../tools/files/escape-name.ts";
import type { WorkspaceScan, ScannedFolder } from "./scan.ts";

/** How much of a survey is shown. */
export type TreeLimits = {
  /** Names in all; 200 if not given. */
  readonly maxNames?: number;
  /** Names in one folder; 50 if not given. */
  readonly maxNamesPerFolder?: number;
};

/** A survey as indented lines, the nearest names first. What is left out is marked where it stands. */
export const formatTree = (
  { folders }: WorkspaceScan,
  { maxNames: most = 200, maxNamesPerFolder: mostInFolder = 50 }: TreeLimits = {},
): string => {
  const shown = new Map<string, ShownFolder>();
  let room = most;
  for (const folder of folders) {
    const taken = selectNames(folder, Math.min(room, mostInFolder));
    room -= taken.names.length;
    shown.set(folder.path, { ...taken, skipped: folder.skipped });
  }
  return formatLines(shown, "", "").join("\n");
};

type ShownFolder = {
  readonly names: readonly string[];
  /** Whether there may be more. */
  readonly isCut: boolean;
  readonly skipped: ScannedFolder["skipped"];
};

const selectNames = (
  { folders, files, isVisible: isSeen }: ScannedFolder,
  most: number,
): Pick<ShownFolder, "names" | "isCut"> => {
  const names = folders.slice(0, most).map((name) => `${name}/`);
  if (folders.length > most) return { names, isCut: true };
  for (const name of files) {
    if (!isSeen(name)) continue;
    if (names.length === most) return { names, isCut: true };
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

/** Whether nothing of a folder is shown although something may be in it. */
const isHidden = (folder: ShownFolder | undefined): boolean =>
  folder === undefined || folder.skipped !== undefined || (folder.names.length === 0 && folder.isCut);
