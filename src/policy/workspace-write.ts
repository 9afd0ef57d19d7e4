import type { Entry, Folder } from "../world/disk.ts";
import { PolicyError } from "./error.ts";
import { shown } from "./paths.ts";
import { protection, type ProtectionContext } from "./protected.ts";
import { faultIn } from "./workspace-read.ts";
import { pathOf, type Spot } from "./workspace-walk.ts";

export type Writing = {
  /** The path as it was given, before links were followed. */
  readonly spelled: string;
  /** Whether no link was followed on the way. */
  readonly isDirect: boolean;
  readonly bytes: Uint8Array;
  /** The identity the file must still have, or "absent". */
  readonly was: string;
  readonly protectedFrom: ProtectionContext;
};

/** Writes the file at a spot, if it is still what it was. */
export const writeAt = async (spot: Spot, writing: Writing): Promise<void> => {
  const { spelled, isDirect, bytes, was, protectedFrom } = writing;
  const { name, entry, missing } = spot;
  const path = shown(pathOf(spot));
  for (const each of [spelled, pathOf(spot)]) {
    const { level, reason } = protection(each, protectedFrom);
    if (level === "deny") throw new PolicyError("policy_violation", `${shown(each)} may not be written. ${reason}`);
  }
  if (name === undefined || entry?.kind === "folder")
    throw new PolicyError("target_is_directory", `${path} is a folder, not a file.`);
  if (entry !== undefined && entry.kind !== "file")
    throw new PolicyError("not_a_regular_file", `${path} is a pipe, a socket or a device, not a file.`);
  const check = (now: Entry | undefined): void => {
    if ((now?.identity ?? "absent") !== was)
      throw new PolicyError("file_modified_conflict", `${path} has changed since it was looked at. Read it again.`);
  };
  check(entry);
  if (entry === undefined && !isDirect)
    throw new PolicyError("file_modified_conflict", `${shown(spelled)} leads to ${path} now. Look at it again.`);
  if (entry === undefined) refuseNames([name, ...missing]);
  const [file = name, ...folders] = [name, ...missing].toReversed();
  await inFolder(spot.folder, folders.toReversed(), async (folder) => {
    await folder.replace(file, bytes, was);
  });
};

const refuseNames = (names: readonly string[]): void => {
  const fault = faultIn(names);
  if (fault !== undefined) throw new PolicyError("policy_violation", fault);
};

/** Works in a folder below, which is made if it is not there. */
const inFolder = async (
  start: Folder,
  names: readonly string[],
  work: (folder: Folder) => Promise<void>,
): Promise<void> => {
  let folder = start;
  try {
    for (const name of names) {
      await folder.makeFolder(name);
      const next = await folder.folder(name);
      if (folder !== start) await folder.close();
      folder = next;
    }
    await work(folder);
  } finally {
    if (folder !== start) await folder.close();
  }
};
