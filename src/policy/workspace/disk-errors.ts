import { DiskError } from "../../world/disk.ts";
import { PolicyError, type PolicyErrorType } from "../error.ts";
import { quotePath } from "./paths.ts";

/** Turns a disk error into a `PolicyError` that names the path. Other errors are returned unchanged. */
export const explainDiskError = (error: unknown, path: string, operation: "read" | "write"): unknown => {
  if (!(error instanceof DiskError)) return error;
  const { type, text } = meanings[error.code] ?? unknownMeaning[operation];
  return new PolicyError(type, `${quotePath(path)} ${text} (${error.code}).`, { cause: error });
};

type DiskErrorMeaning = { readonly type: PolicyErrorType; readonly text: string };

const absent: DiskErrorMeaning = { type: "file_not_found", text: "does not exist" };
const refused: DiskErrorMeaning = {
  type: "permission_denied",
  text: "cannot be accessed: permission denied",
};
const full: DiskErrorMeaning = { type: "no_space_left", text: "cannot be written: no space left on the disk" };

const meanings: { readonly [code: string]: DiskErrorMeaning } = {
  ENOENT: absent,
  EACCES: refused,
  EPERM: refused,
  EROFS: refused,
  ENOSPC: full,
  EDQUOT: full,
  ENOTDIR: { type: "path_is_not_a_directory", text: "passes through something that is not a folder" },
  EISDIR: { type: "target_is_directory", text: "is a folder, not a file" },
  ENXIO: { type: "not_a_regular_file", text: "is a pipe, a socket or a device, not a file" },
  ESTALE: { type: "file_modified_conflict", text: "has changed since it was read. Read it again" },
  ELOOP: { type: "file_modified_conflict", text: "changed while it was being opened" },
};

const unknownMeaning: { readonly [doing in "read" | "write"]: DiskErrorMeaning } = {
  read: { type: "read_content_failure", text: "could not be read" },
  write: { type: "file_write_failure", text: "could not be written" },
};
