import type { DiskEntry, Folder } from "../../world/disk.ts";
import { PolicyError } from "../error.ts";
import { quotePath } from "./paths.ts";
import { checkProtection, type ProtectionContext } from "./protected-paths.ts";
import { findInvalidName } from "./read.ts";
import { walkedPath, type WalkResult } from "./walk.ts";

export type WriteRequest = {
  /** The path as requested, before links were followed. */
  readonly requestedPath: string;
  /** Whether no link was followed. */
  readonly isDirect: boolean;
  readonly bytes: Uint8Array;
  /** The identity the file must still have, or "absent". */
  readonly expectedIdentity: string;
  readonly protectionContext: ProtectionContext;
  /** Writes the file through an editor, after all checks. False if it did not. */
  readonly writeInEditor?: (path: string) => Promise<boolean>;
};

/** Writes the file a walk ended at, if it still has the expected identity. */
export const writeFileAt = async (walk: WalkResult, request: WriteRequest): Promise<void> => {
  const { requestedPath, isDirect, bytes, expectedIdentity, protectionContext } = request;
  const { name, entry, missing } = walk;
  const path = quotePath(walkedPath(walk));
  for (const each of [requestedPath, walkedPath(walk)]) {
    const { level, reason } = checkProtection(each, protectionContext);
    if (level === "deny") throw new PolicyError("policy_violation", `${quotePath(each)} may not be written. ${reason}`);
  }
  if (name === undefined || entry?.kind === "folder")
    throw new PolicyError("target_is_directory", `${path} is a folder, not a file.`);
  if (entry !== undefined && entry.kind !== "file")
    throw new PolicyError("not_a_regular_file", `${path} is a pipe, a socket or a device, not a file.`);
  const check = (now: DiskEntry | undefined): void => {
    if ((now?.identity ?? "absent") !== expectedIdentity)
      throw new PolicyError("file_modified_conflict", `${path} has changed since it was read. Read it again.`);
  };
  check(entry);
  if (entry === undefined && !isDirect)
    throw new PolicyError("file_modified_conflict", `${quotePath(requestedPath)} now leads to ${path}. Read it again.`);
  if (entry === undefined) requireValidNames([name, ...missing]);
  const [file = name, ...folders] = [name, ...missing].toReversed();
  await withFolder(walk.folder, folders.toReversed(), async (folder) => {
    // An editor may format the file while it saves it. One that only changed its buffer leaves the writing to us.
    if (await request.writeInEditor?.(walkedPath(walk)))
      if (((await folder.stat(file))?.identity ?? "absent") !== expectedIdentity) return;
    await folder.replaceFile(file, bytes, expectedIdentity);
  });
};

const requireValidNames = (names: readonly string[]): void => {
  const invalidReason = findInvalidName(names);
  if (invalidReason !== undefined) throw new PolicyError("policy_violation", invalidReason);
};

/** Runs work in a folder below, which is created if it does not exist. */
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
