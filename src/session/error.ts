import { DiskError } from "../world/disk.ts";

/** What can go wrong with sessions. Code reads `kind`; people read `explainSession`. */
export type SessionFailure =
  | { readonly kind: "not-found"; readonly id: string }
  | { readonly kind: "ambiguous"; readonly id: string; readonly matches: readonly string[] }
  | { readonly kind: "busy"; readonly id: string; /** The number of the process that has it. */ readonly pid: number }
  | { readonly kind: "too-new"; readonly id: string; readonly version: number }
  | { readonly kind: "unreadable"; readonly id: string; readonly path: string }
  | { readonly kind: "no-space"; readonly path: string }
  | { readonly kind: "read-only"; readonly path: string; readonly code: string }
  | { readonly kind: "changed"; readonly id: string }
  | { readonly kind: "unconfirmed"; readonly id: string; readonly code: string }
  | { readonly kind: "closed"; readonly id: string }
  | { readonly kind: "disk"; readonly path: string; readonly code: string };

/** A failure of the store, thrown. Its message is `explainSession`; nobody needs to match on it. */
export class SessionError extends Error {
  readonly failure: SessionFailure;

  constructor(failure: SessionFailure, options?: ErrorOptions) {
    super(explainSessionFailure(failure), options);
    this.name = "SessionError";
    this.failure = failure;
  }
}

/** Two sentences: what happened, and what the reader can do now. */
const explainSessionFailure = (failure: SessionFailure): string => {
  switch (failure.kind) {
    case "not-found":
      return `There is no session ${failure.id}. See which there are with "parley sessions list".`;
    case "ambiguous":
      return `More than one session begins with ${failure.id}: ${failure.matches.join(", ")}. Give more of its id.`;
    case "busy":
      return `Session ${failure.id} is open in another program (process ${failure.pid}). Close it there, or start a new session.`;
    case "too-new":
      return `Session ${failure.id} was written by a newer Parley (format ${failure.version}). Update parley-agent to open it; the file is untouched.`;
    case "unreadable":
      return `Nothing in ${failure.path} can be read. Run "parley sessions repair ${failure.id}" to keep its bytes aside and begin anew.`;
    case "no-space":
      return `The disk is full, so nothing was written to ${failure.path}. Make room and try again.`;
    case "read-only":
      return `${failure.path} cannot be written (${failure.code}). Make it writable, or set PARLEY_HOME to a folder that is.`;
    case "changed":
      return `Another program changed the file of session ${failure.id} while it was open. Open the session again to go on with what is there now.`;
    case "unconfirmed":
      return `The disk did not confirm what was last written to session ${failure.id} (${failure.code}). Check the disk, then open the session again to see what was kept.`;
    case "closed":
      return `Session ${failure.id} is closed. Open it again to write to it.`;
    case "disk":
      return `The disk failed at ${failure.path} (${failure.code}). Check the disk and its permissions, then try again.`;
  }
};

/** A disk's failure while writing, as one of the store's. Whatever else was thrown stays as it is. */
export const toSessionError = (error: unknown, path: string): unknown => {
  if (!(error instanceof DiskError)) return error;
  const { code } = error;
  if (isDiskFull(code)) return new SessionError({ kind: "no-space", path }, { cause: error });
  if (code === "EACCES" || code === "EPERM" || code === "EROFS")
    return new SessionError({ kind: "read-only", path, code }, { cause: error });
  return new SessionError({ kind: "disk", path, code }, { cause: error });
};

/** The same while reading. */
export const toSessionReadError = (error: unknown, path: string): unknown =>
  error instanceof DiskError ? new SessionError({ kind: "disk", path, code: error.code }, { cause: error }) : error;

/** Whether a code means there is no room left. */
export const isDiskFull = (code: string): boolean => code === "ENOSPC" || code === "EDQUOT";
