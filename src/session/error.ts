import { DiskError } from "../world/disk.ts";

/** The failures of the session store. Code reads `kind`; people read `explainSessionFailure`. */
export type SessionFailure =
  | { readonly kind: "not-found"; readonly id: string }
  | { readonly kind: "ambiguous"; readonly id: string; readonly matches: readonly string[] }
  | {
      readonly kind: "busy";
      readonly id: string;
      /** The program that holds it, e.g. `process 17`. */ readonly by: string;
    }
  | { readonly kind: "too-new"; readonly id: string; readonly version: number }
  | { readonly kind: "unreadable"; readonly id: string; readonly path: string }
  | { readonly kind: "no-space"; readonly path: string }
  | { readonly kind: "read-only"; readonly path: string; readonly code: string }
  | { readonly kind: "changed"; readonly id: string }
  | { readonly kind: "lost"; readonly id: string }
  | { readonly kind: "unconfirmed"; readonly id: string; readonly code: string }
  | { readonly kind: "closed"; readonly id: string }
  | { readonly kind: "disk"; readonly path: string; readonly code: string }
  | { readonly kind: "database"; readonly code: string; readonly message: string };

/** A thrown session failure. Match on `failure.kind`, never on the message. */
export class SessionError extends Error {
  readonly failure: SessionFailure;

  constructor(failure: SessionFailure, options?: ErrorOptions) {
    super(explainSessionFailure(failure), options);
    this.name = "SessionError";
    this.failure = failure;
  }
}

/** Returns two sentences: what happened, and what to do about it. */
const explainSessionFailure = (failure: SessionFailure): string => {
  switch (failure.kind) {
    case "not-found":
      return `There is no session ${failure.id}. "parley sessions list" shows the existing ones.`;
    case "ambiguous":
      return `More than one session starts with ${failure.id}: ${failure.matches.join(", ")}. Type more of the id.`;
    case "busy":
      return `Session ${failure.id} is open in another program (${failure.by}). Close it there, or start a new session.`;
    case "too-new":
      return `Session ${failure.id} was written by a newer Parley (format ${failure.version}). Update parley-agent to open it; the file is untouched.`;
    case "unreadable":
      return `${failure.path} has no readable record. Run "parley sessions repair ${failure.id}" to save its bytes aside and start an empty log.`;
    case "no-space":
      return `The disk is full, so nothing was written to ${failure.path}. Free some space and try again.`;
    case "read-only":
      return `${failure.path} cannot be written (${failure.code}). Make it writable, or set PARLEY_HOME to a folder that is.`;
    case "changed":
      return `Another program changed the file of session ${failure.id} while it was open. Open the session again to continue from the changed file.`;
    case "lost":
      return `Another worker has taken over session ${failure.id}, so nothing was written. Open the session again to continue from what it wrote.`;
    case "unconfirmed":
      return `The last write to session ${failure.id} could not be flushed to disk (${failure.code}). Check the disk, then open the session again to see what was saved.`;
    case "closed":
      return `Session ${failure.id} is closed. Open it again to write to it.`;
    case "disk":
      return `The disk failed at ${failure.path} (${failure.code}). Check the disk and its permissions, then try again.`;
    case "database":
      return `The database failed (${failure.code}: ${failure.message}). Check that it runs and can be reached, then try again.`;
  }
};

/** Converts a disk error during a write to a `SessionError`. Returns other errors unchanged. */
export const toSessionError = (error: unknown, path: string): unknown => {
  if (!(error instanceof DiskError)) return error;
  const { code } = error;
  if (isDiskFull(code)) return new SessionError({ kind: "no-space", path }, { cause: error });
  if (code === "EACCES" || code === "EPERM" || code === "EROFS")
    return new SessionError({ kind: "read-only", path, code }, { cause: error });
  return new SessionError({ kind: "disk", path, code }, { cause: error });
};

/** Converts a disk error during a read to a `SessionError`. Returns other errors unchanged. */
export const toSessionReadError = (error: unknown, path: string): unknown =>
  error instanceof DiskError ? new SessionError({ kind: "disk", path, code: error.code }, { cause: error }) : error;

/** Whether an error code means that the disk or quota is full. */
export const isDiskFull = (code: string): boolean => code === "ENOSPC" || code === "EDQUOT";
