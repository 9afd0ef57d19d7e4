/** A connected editor. Everything it sends is parsed, bounded and sanitized before it gets here. */
export type Ide = {
  /** Its name, for the user. */
  readonly name: string;
  /** The files and the selection it shows now. */
  readonly context: () => IdeContext;
  /** Removes and returns the places the user sent to the agent since the last call. */
  readonly takeMentions: () => readonly IdeMention[];
  /** Opens a diff and waits for the user. A new file has no text yet. */
  readonly openDiff: (proposal: DiffProposal) => IdeDiff;
  /** The problems it knows: of one file, or of all. Undefined where it cannot tell. */
  readonly diagnostics: (path?: string) => Promise<readonly FileDiagnostics[] | undefined>;
  readonly close: () => void;
};

/** The open files, the active one first, and the selection in it. Paths are absolute, as the editor wrote them. */
export type IdeContext = { readonly openFiles: readonly string[]; readonly selection?: IdeSelection };

/** A selected text. Lines count from 1. */
export type IdeSelection = LineRange & { readonly path: string; readonly text: string };

/** A place in a file that the user sent to the agent; without lines, the whole file. */
export type IdeMention = Partial<LineRange> & { readonly path: string };

type LineRange = { readonly firstLine: number; readonly lastLine: number };

/** An edit to show. */
export type DiffProposal = { readonly path: string; readonly after: string };

/** A diff that waits for the user. */
export type IdeDiff = {
  /** Never rejects. `closed`: no answer came from there, and none will. */
  readonly outcome: Promise<DiffOutcome>;
  /** Closes it, because the question was refused elsewhere or is gone. */
  readonly close: () => void;
  /** Closes it, because the edit was accepted elsewhere. Resolves to the text as the user left it, where the editor tells. */
  readonly closeAccepted: () => Promise<string | undefined>;
};

/** The user's answer in the editor; `text` is the file as accepted, with the user's own changes. */
export type DiffOutcome =
  | { readonly type: "accepted"; readonly text: string }
  | { readonly type: "refused" }
  | { readonly type: "closed" };

/** The problems of one file. */
export type FileDiagnostics = { readonly path: string; readonly diagnostics: readonly Diagnostic[] };

/** One problem a language server or linter reported. */
export type Diagnostic = {
  readonly severity: "error" | "warning";
  readonly message: string;
  /** From 1. */
  readonly line: number;
  readonly source?: string;
  readonly code?: string;
};

/** Listens to a connection. */
export type IdeListener = {
  /** Context or mentions changed. */
  readonly onChange: () => void;
  /** The connection is gone. Called once, not after `close`. */
  readonly onClose: () => void;
};

/** The longest text exchanged for a diff, in characters. Larger edits are approved in the terminal alone. */
export const maxDiffLength: number = 4 * 2 ** 20;

/** The longest selection that is sent to models, in characters. */
export const maxSelectionLength = 16_000;

/** The most open files that are kept. */
export const maxOpenFiles = 20;
