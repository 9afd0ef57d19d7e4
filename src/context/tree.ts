import { nameLine } from "../tools/names.ts";
import type { Survey, Surveyed } from "./survey.ts";

/** How much of a survey is shown. */
export type TreeBounds = {
  /** Names in all; 200 if not given. */
  readonly most?: number;
  /** Names in one folder; 50 if not given. */
  readonly mostInFolder?: number;
};

/** A survey as indented lines, the nearest names first. What is left out is marked where it stands. */
export const treeText = ({ folders }: Survey, { most = 200, mostInFolder = 50 }: TreeBounds = {}): string => {
  const shown = new Map<string, Shown>();
  let room = most;
  for (const folder of folders) {
    const taken = namesIn(folder, Math.min(room, mostInFolder));
    room -= taken.names.length;
    shown.set(folder.path, { ...taken, closed: folder.closed });
  }
  return linesOf(shown, "", "").join("\n");
};

type Shown = {
  readonly names: readonly string[];
  /** Whether there may be more. */
  readonly isCut: boolean;
  readonly closed: Surveyed["closed"];
};

const namesIn = ({ folders, files, isSeen }: Surveyed, most: number): Pick<Shown, "names" | "isCut"> => {
  const names = folders.slice(0, most).map((name) => `${name}/`);
  if (folders.length > most) return { names, isCut: true };
  for (const name of files) {
    if (!isSeen(name)) continue;
    if (names.length === most) return { names, isCut: true };
    names.push(name);
  }
  return { names, isCut: false };
};

const linesOf = (shown: ReadonlyMap<string, Shown>, path: string, indent: string): readonly string[] => {
  const folder = shown.get(path);
  if (folder === undefined) return [];
  const lines = folder.names.flatMap((name) => {
    const line = `${indent}${nameLine(name)}`;
    if (!name.endsWith("/")) return [line];
    const inside = `${path === "" ? "" : `${path}/`}${name.slice(0, -1)}`;
    return isHidden(shown.get(inside)) ? [`${line} ...`] : [line, ...linesOf(shown, inside, `${indent}  `)];
  });
  return folder.isCut ? [...lines, `${indent}...`] : lines;
};

/** Whether nothing of a folder is shown although something may be in it. */
const isHidden = (folder: Shown | undefined): boolean =>
  folder === undefined || folder.closed !== undefined || (folder.names.length === 0 && folder.isCut);
