import { DiskError } from "../../world/disk.ts";
import { PolicyError, type PolicyErrorType } from "../error.ts";
import { quotePath } from "./paths.ts";

/** What a failure of the disk means for whoever named the path. Everything else is passed on as it is. */
export const explainDiskError = (error: unknown, path: string, doing: "read" | "write"): unknown => {
  if (!(error instanceof DiskError)) return error;
  const { type, text } = meanings[error.code] ?? unknownMeaning[doing];
  return new PolicyError(type, `${quotePath(path)} ${text} (${error.code}).`, { cause: error });
};

type DiskErrorMeaning = { readonly type: PolicyErrorType; readonly text: string };

const absent: DiskErrorMeaning = { type: "file_not_found", text: "is not there" };
const refused: DiskErrorMeaning = {
  type: "permission_denied",
  text: "cannot be accessed: the system does not permit it",
};
const full: DiskErrorMeaning = { type: "no_space_left", text: "cannot be written: there is no space left" };

const meanings: { readonly [code: string]: DiskErrorMeaning } = {
  ENOENT: absent,
  EACCES: refused,
  EPERM: refused,
  EROFS: refused,
  ENOSPC: full,
  EDQUOT: full,
  ENOTDIR: { type: "path_is_not_a_directory", text: "leads through something that is not a folder" },
  EISDIR: { type: "target_is_directory", text: "is a folder, not a file" },
  ENXIO: { type: "not_a_regular_file", text: "is a pipe, a socket or a device, not a file" },
  ESTALE: { type: "file_modified_conflict", text: "has changed since it was looked at. Read it again" },
  ELOOP: { type: "file_modified_conflict", text: "was changed while it was opened" },
};

const unknownMeaning: { readonly [doing in "read" | "write"]: DiskErrorMeaning } = {
  read: { type: "read_content_failure", text: "could not be read" },
  write: { type: "file_write_failure", text: "could not be written" },
};
