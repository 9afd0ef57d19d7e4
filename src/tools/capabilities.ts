import type { TodoItem } from "../conversation/todo.ts";
import type { ToolResult } from "./tool.ts";

/**
 * The capabilities of a tool: everything it can do. Policy implements each of them and throws a `ToolFailure` for what
 * it does not allow, so a tool cannot bypass it.
 */
export type Capabilities = {
  readonly files: WorkspaceFiles;
  readonly shell: Shell;
  readonly web: Web;
  readonly search: FileSearch;
  readonly memory: Memory;
  /** Asks a model a side query; undefined where no model is available. */
  readonly model?: SideQueryModel;
  /** The to-do list; undefined in a conversation without one, such as a subagent's. */
  readonly todos?: TodoList;
  /** Asks the user; undefined where no person can answer. */
  readonly askUser?: AskUser;
  /** Plan mode; undefined in a conversation that cannot end it, such as a subagent's. */
  readonly planMode?: PlanMode;
  /** Work that can continue in the background. Undefined where nothing outlives its call. */
  readonly tasks?: BackgroundTasks;
  /** Reports live output. Called as often as there is some; the scheduler emits it at most once a second. */
  readonly report: (text: string) => void;
  readonly signal: AbortSignal;
  /** The approved edit: the file must still be the same. */
  readonly approved?: ApprovedEdit;
};

/** An edit as approved. `proposed` is the model's text, where the user changed it. */
export type ApprovedEdit = { readonly before: string | undefined; readonly after: string; readonly proposed?: string };

/** The to-do list of a conversation. */
type TodoList = {
  /** Replaces the list, and resolves once it is recorded. */
  readonly replace: (todos: readonly TodoItem[]) => Promise<void>;
};

/** A question of the model to the user. They can always type another answer than the options. */
export type UserQuestion = {
  readonly question: string;
  /** The subject, in a word or two. */
  readonly header?: string;
  /** The suggested answers; none if any text is an answer. */
  readonly options: readonly { readonly label: string; readonly description?: string }[];
  /** The hint for typing an answer instead of choosing an option. Default: another answer. */
  readonly textHint?: string;
  /** Whether several options can be chosen. */
  readonly allowsSeveral: boolean;
};

/** Asks the user: the answers to each question, in order; undefined if they did not want to answer. */
export type AskUser = (
  questions: readonly UserQuestion[],
  signal: AbortSignal,
) => Promise<readonly (readonly string[])[] | undefined>;

/** Plan mode: read-only until the user approves a plan. */
export type PlanMode = {
  readonly isOn: () => boolean;
  /** Shows a plan to the user, and ends plan mode if they approve it. Undefined where no person can answer. */
  readonly review?: ReviewPlan;
};

/** Shows a plan to the user and asks whether to carry it out. */
export type ReviewPlan = (plan: string, signal: AbortSignal) => Promise<PlanReview>;

/** The answer to a plan: approved, perhaps changed, with the approval mode to carry it out in; or refused. */
export type PlanReview =
  | { readonly type: "approved"; readonly mode: "default" | "auto_edit"; readonly plan: string }
  | { readonly type: "refused"; readonly reason?: string };

/** The commands and subagents of a session that run in the background, or can be moved there. */
export type BackgroundTasks = {
  /** Runs work until it ends, or until it is moved to the background. */
  readonly run: (task: NewTask) => Promise<TaskOutcome>;
  /** The tasks in the background, running and ended. */
  readonly list: () => readonly TaskInfo[];
  /** The output of a running task since the last read, or the result of one that ended. Undefined if there is none. */
  readonly read: (
    id: string,
    options: { readonly waitMs: number; readonly signal: AbortSignal },
  ) => Promise<TaskReport | undefined>;
  /** Stops a task. Resolves once it has ended; undefined if there is none. */
  readonly stop: (id: string) => Promise<TaskInfo | undefined>;
};

/** Work for the background, or work that may be moved there. */
export type NewTask = {
  readonly kind: "command" | "agent";
  readonly title: string;
  readonly startsInBackground: boolean;
  /** Stops the work, until it is in the background. */
  readonly signal: AbortSignal;
  readonly report: (text: string) => void;
  readonly work: (context: TaskContext) => Promise<ToolResult>;
};

/** The context of a task's work. `detached` is aborted when it moves to the background: from then on it has no time limit. */
type TaskContext = {
  readonly signal: AbortSignal;
  readonly detached: AbortSignal;
  readonly report: (text: string) => void;
};

/** How work went on: it ended, or it is in the background now. */
export type TaskOutcome =
  | { readonly type: "ended"; readonly result: ToolResult }
  | { readonly type: "background"; readonly info: TaskInfo; readonly output: string; readonly byUser: boolean };

/** A task in the background. */
export type TaskInfo = {
  readonly id: string;
  readonly kind: "command" | "agent";
  readonly title: string;
  readonly status: "running" | "done" | "failed" | "stopped";
  /** How it ended, or what it does at the moment, in a few words. */
  readonly detail?: string;
  readonly elapsedMs: number;
};

/** The new output of a task, and its result once it has ended. */
export type TaskReport = { readonly info: TaskInfo; readonly output: string; readonly result?: ToolResult };

/** The memory file: one text of the user's own, kept between sessions. */
export type Memory = {
  readonly path: string;
  readonly read: () => Promise<string | undefined>;
  /** Replaces the whole text. */
  readonly write: (text: string) => Promise<void>;
};

/**
 * The files of the workspace. Paths are absolute, or relative to the first root; paths outside the roots are refused.
 */
export type WorkspaceFiles = {
  readonly roots: readonly string[];
  /** Resolves a path inside the workspace, following all links. */
  readonly resolve: (path: string) => Promise<ResolvedPath>;
  /** Opens a regular file. */
  readonly open: (path: string) => Promise<OpenedFile>;
  /** Reads a whole file of at most `most` bytes. */
  readonly bytes: (path: string, most: number) => Promise<Uint8Array>;
  /** Lists a folder by name; at most `most` entries. */
  readonly list: (path: string, most?: number) => Promise<readonly DirectoryEntry[]>;
  /** The ignore file that excludes this path, if any. */
  readonly ignored: (path: string, rules: IgnoreFilter) => Promise<string | undefined>;
  /** The same for everything in a folder at once, each by its own name. */
  readonly ignoring: (
    folder: string,
    rules: IgnoreFilter,
  ) => Promise<(name: string, isFolder: boolean) => string | undefined>;
  /** Writes a file atomically. `was` is the identity it must still have, or "absent"; anything else is a conflict. */
  readonly write: (path: string, bytes: Uint8Array, was: string) => Promise<void>;
  /** Stores a text too long for the model in a file it can read, and returns its path. */
  readonly keep: (text: string, name: string) => Promise<string>;
};

export type IgnoreFilter = { readonly git: boolean; readonly own: boolean };

/** A resolved path in the workspace. `shown` is the path relative to its root, for the user. */
export type ResolvedPath = {
  readonly path: string;
  readonly shown: string;
  readonly kind: "file" | "folder" | "other" | "absent";
  readonly size: number;
  readonly modified: number;
  readonly identity: string;
  /** Why no file may be created there, where there is none. */
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

/** Shell commands. */
export type Shell = {
  /** Runs a command line with bash (or the platform's replacement) in a folder of the workspace. */
  readonly run: (command: ShellCommand) => Promise<ShellCommandResult>;
};

export type ShellCommand = {
  readonly text: string;
  /** Relative to the first root; "" is the root itself. */
  readonly folder: string;
  readonly timeout?: number;
  readonly signal: AbortSignal;
  /** Reports output as it arrives, already sanitized. */
  readonly report: (text: string) => void;
  /** Aborted when the command moves to the background: it then has no time limit any more. */
  readonly detached?: AbortSignal;
};

/** How a command ended. Long output is truncated, says so, and names the file with all of it. */
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
  /** Fetches a public URL, following at most a few redirects, each checked again. At most `most` bytes. */
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

/** Finds files and text, with ripgrep where available. Never follows links, never leaves the folder. */
export type FileSearch = {
  /** Files below a folder, relative to it, most recently modified first. */
  readonly files: (folder: string, options: FindOptions) => Promise<FindResult>;
  readonly text: (folder: string, options: GrepOptions) => Promise<GrepResult>;
};

export type FindOptions = {
  readonly rules: IgnoreFilter;
  /** Whether a path matches; the search itself knows nothing of patterns. */
  readonly wanted: (path: string) => boolean;
  readonly names?: NamePattern;
  readonly most: number;
  readonly signal: AbortSignal;
};

/** A glob pattern that the names of all matching files fit, so that others can be skipped. */
export type NamePattern = { readonly pattern: string; readonly caseSensitive: boolean };

export type FindResult = { readonly paths: readonly string[]; readonly cut: boolean };

export type GrepOptions = {
  /** A regular expression in ripgrep's syntax. */
  readonly pattern: string;
  /** Whether a path counts, relative to the folder; default: all. */
  readonly wanted?: (path: string) => boolean;
  readonly names?: NamePattern;
  readonly most: number;
  readonly signal: AbortSignal;
};

export type GrepResult = {
  readonly matches: readonly { readonly path: string; readonly line: number; readonly text: string }[];
  readonly cut: boolean;
};

/** A model for side queries. `google` asks with Google's own search or URL tools. */
export type SideQueryModel = {
  readonly ask: (prompt: string, signal: AbortSignal) => Promise<string>;
  /** Asks a Google model with its own tools; undefined where there is no key for that. */
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
  /** URLs that the URL tool could not read. */
  readonly failed: readonly string[];
};
