import type { DiskEntry, Folder } from "../../world/disk.ts";
import { PolicyError } from "../error.ts";
import { quotePath } from "./paths.ts";
import { checkProtection, type ProtectionContext } from "./protected-paths.ts";
import { findInvalidName } from "./read.ts";
import { walkedPath, type WalkResult } from "./walk.ts";

export type WriteRequest = {
  /** The path as it was given, before links were followed. */
  readonly requestedPath: string;
  /** Whether no link was followed on the way. */
  readonly isDirect: boolean;
  readonly bytes: Uint8Array;
  /** The identity the file must still have, or "absent". */
  readonly expectedIdentity: string;
  readonly protectionContext: ProtectionContext;
};

/** Writes the file at a spot, if it is still what it was. */
export const writeFileAt = async (spot: WalkResult, writing: WriteRequest): Promise<void> => {
  const { requestedPath: spelled, isDirect, bytes, expectedIdentity: was, protectionContext: protectedFrom } = writing;
  const { name, entry, missing } = spot;
  const path = quotePath(walkedPath(spot));
  for (const each of [spelled, walkedPath(spot)]) {
    const { level, reason } = checkProtection(each, protectedFrom);
    if (level === "deny") throw new PolicyError("policy_violation", `${quotePath(each)} may not be written. ${reason}`);
  }
  if (name === undefined || entry?.kind === "folder")
    throw new PolicyError("target_is_directory", `${path} is a folder, not a file.`);
  if (entry !== undefined && entry.kind !== "file")
    throw new PolicyError("not_a_regular_file", `${path} is a pipe, a socket or a device, not a file.`);
  const check = (now: DiskEntry | undefined): void => {
    if ((now?.identity ?? "absent") !== was)
      throw new PolicyError("file_modified_conflict", `${path} has changed since it was looked at. Read it again.`);
  };
  check(entry);
  if (entry === undefined && !isDirect)
    throw new PolicyError("file_modified_conflict", `${quotePath(spelled)} leads to ${path} now. Look at it again.`);
  if (entry === undefined) requireValidNames([name, ...missing]);
  const [file = name, ...folders] = [name, ...missing].toReversed();
  await withFolder(spot.folder, folders.toReversed(), async (folder) => {
    await folder.replaceFile(file, bytes, was);
  });
};

const requireValidNames = (names: readonly string[]): void => {
  const fault = findInvalidName(names);
  if (fault !== undefined) throw new PolicyError("policy_violation", fault);
};

/** Works in a folder below, which is made if it is not there. */
const withFolder = async (
  start: Folder,
  names: readonly string[],
  work: (folder: Folder) => Promise<void>,
): Promise<void> => {
  let folder = start;
  try {
    for (const name of names) {
      await folder.makeFolder(name);
      const next = await folder.openFolder(name);
      if (folder !== start) await folder.close();
      folder = next;
    }
    await work(folder);
  } finally {
    if (folder !== start) await folder.close();
  }
};
