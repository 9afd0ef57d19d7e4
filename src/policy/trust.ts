import { basename, dirname, isAbsolute, sep } from "node:path";
import { DiskError, type Disk, type Folder } from "../world/disk.ts";
import { PolicyError } from "./error.ts";

/** The folders a person trusts, kept in a file of the person's own. */
export type Trust = {
  /** Whether this folder, or one above it, is trusted: by where it really is, whatever it says of itself. */
  readonly isTrusted: (folder: string) => Promise<boolean>;
  readonly trust: (folder: string) => Promise<void>;
  /** What a project may do to policy. "inert": none of its files is loaded. "tighten": its settings may add to what is refused. */
  readonly projectScope: (folder: string) => Promise<ProjectScope>;
};

export type ProjectScope = "inert" | "tighten";

/** Reads and writes `trust.json` in the folder where Parley keeps its own things. */
export const openTrust = (disk: Disk, home: string): Trust => {
  const isTrusted = async (folder: string): Promise<boolean> => {
    const canonical = await disk.canonical(folder);
    if (canonical === undefined) return false;
    const known = await readTrusted(disk, home).catch((error: unknown) => {
      if (error instanceof PolicyError) return [];
      throw error;
    });
    return known.some((trusted) => isAtOrBelow(canonical, trusted));
  };
  return {
    isTrusted,
    projectScope: async (folder) => ((await isTrusted(folder)) ? "tighten" : "inert"),
    trust: async (folder) => {
      const canonical = await disk.canonical(folder);
      if (canonical === undefined) throw new PolicyError("file_not_found", `There is no folder ${folder} to trust.`);
      const known = await readTrusted(disk, home);
      if (known.includes(canonical)) return;
      await writeTrusted(disk, home, [...known, canonical].toSorted());
    },
  };
};

const fileName = "trust.json";

const isAtOrBelow = (folder: string, trusted: string): boolean =>
  folder === trusted || folder.startsWith(trusted.endsWith(sep) ? trusted : trusted + sep);

/** Throws where the file is not one only its owner could have written: then nothing in it counts. */
const readTrusted = async (disk: Disk, home: string): Promise<readonly string[]> => {
  const canonical = await disk.canonical(home);
  if (canonical === undefined) return [];
  return inFolder(await disk.open(canonical), async (folder) => {
    const entry = await folder.look(fileName);
    if (entry === undefined) return [];
    if (entry.kind !== "file") throw refused(home, "it is not a regular file");
    const file = await folder.file(fileName);
    try {
      const { size, mode } = await file.look();
      if ((mode & 0o022) !== 0) throw refused(home, "others may write to it");
      if (size > mostBytes) throw refused(home, "it is too long");
      return parseTrusted(home, new TextDecoder().decode(await file.read(0, size)));
    } finally {
      await file.close();
    }
  });
};

const mostBytes = 1_000_000;

const parseTrusted = (home: string, text: string): readonly string[] => {
  const { trusted } = objectIn(text) ?? {};
  if (!Array.isArray(trusted) || !trusted.every((path) => typeof path === "string" && isAbsolute(path)))
    throw refused(home, "it is not what Parley wrote there");
  return trusted as readonly string[];
};

const objectIn = (text: string): { readonly trusted?: unknown } | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
};

const refused = (home: string, why: string): PolicyError =>
  new PolicyError("policy_violation", `${home}/${fileName} is not used: ${why}. Look at it, then mend or remove it.`);

const writeTrusted = async (disk: Disk, home: string, trusted: readonly string[]): Promise<void> => {
  const bytes = new TextEncoder().encode(`${JSON.stringify({ version: 1, trusted }, undefined, 2)}\n`);
  await inFolder(await ownFolder(disk, home), async (folder) => {
    await folder.put(fileName, bytes, 0o600);
  });
};

/** The folder of Parley's own things, made where it is missing. */
const ownFolder = async (disk: Disk, home: string): Promise<Folder> => {
  const there = await disk.canonical(home);
  if (there !== undefined) return disk.open(there);
  const above = await disk.canonical(dirname(home));
  if (above === undefined) throw new PolicyError("file_not_found", `There is no folder for ${home}.`);
  return inFolder(await disk.open(above), async (folder) => {
    await folder.makeFolder(basename(home), 0o700);
    return folder.folder(basename(home));
  });
};

const inFolder = async <Result>(folder: Folder, work: (folder: Folder) => Promise<Result>): Promise<Result> => {
  try {
    return await work(folder);
  } catch (error) {
    if (error instanceof DiskError && error.code === "ELOOP")
      throw new PolicyError("policy_violation", `${folder.path} holds a link where a file of Parley's own should be.`);
    throw error;
  } finally {
    await folder.close();
  }
};
