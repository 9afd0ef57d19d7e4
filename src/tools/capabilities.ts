/**
 * All a tool can do. Policy stands behind each of these: whatever it does not
 * allow throws a `ToolFailure`, so a tool cannot reach around it.
 */
export type Capabilities = {
  readonly files: WorkspaceFiles;
  readonly shell: Shell;
  readonly web: Web;
  readonly search: FileSearch;
  readonly memory: Memory;
  /** Asks a model a question on the side; undefined where there is none to ask. */
  readonly model?: SideQueryModel;
  /** Shows live output. Called as often as there is something; the scheduler tells of it at most once a second. */
  readonly report: (text: string) => void;
  readonly signal: AbortSignal;
  /** What was approved: the file must still be as it was then. */
  readonly approved?: ApprovedEdit;
};

/** An edit as it was approved. `proposed` is what the model wanted, where a person changed it. */
export type ApprovedEdit = { readonly before: string | undefined; readonly after: string; readonly proposed?: string };

/** What is remembered between sessions: one text of the person's own. */
export type Memory = {
  readonly path: string;
  readonly read: () => Promise<string | undefined>;
  /** Replaces it as a whole. */
  readonly write: (text: string) => Promise<void>;
};

/** The files of the workspace. Paths are absolute, or relative to the first root; what leaves the roots is refused. */
export type WorkspaceFiles = {
  readonly roots: readonly string[];
  /** Where a path leads, all links followed, inside the workspace. */
  readonly resolve: (path: string) => Promise<ResolvedPath>;
  /** Opens a regular file. */
  readonly open: (path: string) => Promise<OpenedFile>;
  /** The whole of a file of at most `most` bytes. */
  readonly bytes: (path: string, most: number) => Promise<Uint8Array>;
  /** What is in a folder, by name; the first `most` of it. */
  readonly list: (path: string, most?: number) => Promise<readonly DirectoryEntry[]>;
  /** Whether ignore files keep this path out, and which. */
  readonly ignored: (path: string, rules: IgnoreFilter) => Promise<string | undefined>;
  /** The same for everything in a folder at once, each by its own name. */
  readonly ignoring: (
    folder: string,
    rules: IgnoreFilter,
  ) => Promise<(name: string, isFolder: boolean) => string | undefined>;
  /** Writes a file as a whole. `was` is the identity it must still have, or "absent"; anything else is a conflict. */
  readonly write: (path: string, bytes: Uint8Array, was: string) => Promise<void>;
  /** Keeps text too long for the model in a file it can read, and tells where. */
  readonly keep: (text: string, name: string) => Promise<string>;
};

export type IgnoreFilter = { readonly git: boolean; readonly own: boolean };

/** A place in the workspace. `shown` is how people know it, relative to its root. */
export type ResolvedPath = {
  readonly path: string;
  readonly shown: string;
  readonly kind: "file" | "folder" | "other" | "absent";
  readonly size: number;
  readonly modified: number;
  readonly identity: string;
  /** Why nothing may be made there, where there is nothing. */
  readonly fault?: string;
};

export type OpenedFile = {
  readonly place: ResolvedPath;
  readonly read: (at: number, length: number) => Promise<Uint8Array>;
  readonly close: () => Promise<void>;
};

export type DirectoryEntry = {
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "other";
  readonly size: number;
  readonly modified: number;
};

/** Commands. */
export type Shell = {
  /** Runs a command line with bash (or what stands in for it) in a folder of the workspace. */
  readonly run: (command: ShellCommand) => Promise<ShellCommandResult>;
};

type ShellCommand = {
  readonly text: string;
  /** Relative to the first root; "" is the root itself. */
  readonly folder: string;
  readonly timeout?: number;
  readonly signal: AbortSignal;
  /** Text as it comes, already safe to show. */
  readonly report: (text: string) => void;
};

/** How a command ended. Text is bounded: where it was longer, `output` says so and names the file with all of it. */
export type ShellCommandResult = {
  readonly folder: string;
  readonly output: string;
  readonly error: string | undefined;
  readonly code: number | undefined;
  readonly signal: string | undefined;
  readonly background: readonly number[];
  readonly group: number | undefined;
  readonly ended: "exit" | "timeout" | "cancelled";
};

/** The network, guarded. */
export type Web = {
  /** Fetches a public address, following at most a few redirects, each checked anew. At most `most` bytes. */
  readonly fetch: (
    url: string,
    options: { readonly most: number; readonly signal: AbortSignal },
  ) => Promise<FetchResult>;
};

export type FetchResult = {
  readonly url: string;
  readonly status: number;
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly cut: boolean;
};

/** Finding files and text, by ripgrep where it is there. Never follows links, never leaves the folder. */
export type FileSearch = {
  /** Files below a folder, relative to it, the latest changed first. */
  readonly files: (folder: string, options: FindOptions) => Promise<FindResult>;
  readonly text: (folder: string, options: GrepOptions) => Promise<GrepResult>;
};

type FindOptions = {
  readonly rules: IgnoreFilter;
  /** Which paths count; the search itself knows nothing of patterns. */
  readonly wanted: (path: string) => boolean;
  readonly names?: NamePattern;
  readonly most: number;
  readonly signal: AbortSignal;
};

/** A glob pattern that the names of all wanted files fit, so that others need not be looked at. */
export type NamePattern = { readonly pattern: string; readonly caseSensitive: boolean };

type FindResult = { readonly paths: readonly string[]; readonly cut: boolean };

export type GrepOptions = {
  /** A regular expression of ripgrep's kind. */
  readonly pattern: string;
  /** Which paths count, relative to the folder; all if not given. */
  readonly wanted?: (path: string) => boolean;
  readonly names?: NamePattern;
  readonly most: number;
  readonly signal: AbortSignal;
};

export type GrepResult = {
  readonly matches: readonly { readonly path: string; readonly line: number; readonly text: string }[];
  readonly cut: boolean;
};

/** A side question to a model. `google` asks with Google's own search or URL tools. */
export type SideQueryModel = {
  readonly ask: (prompt: string, signal: AbortSignal) => Promise<string>;
  /** Asks Google's with its own tools; undefined where there is no key for that. */
  readonly google?: (
    prompt: string,
    tool: "search" | "url",
    signal: AbortSignal,
  ) => Promise<GroundedAnswer | undefined>;
};

/** A grounded answer: its text, and which bytes of it come from which sources. */
export type GroundedAnswer = {
  readonly text: string;
  readonly sources: readonly { readonly title: string; readonly uri: string }[];
  readonly supports: readonly { readonly end: number; readonly sources: readonly number[] }[];
  /** Addresses a URL tool could not read. */
  readonly failed: readonly string[];
};
