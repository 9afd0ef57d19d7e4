import type { CommandAnalysis } from "../command/analysis.ts";
import type { CommandDecision, CommandRules } from "../command/decide.ts";
import type { RemoteAgentTarget } from "../../tools/tool.ts";
import type { CommitFinding } from "../secrets/commit-keys.ts";
import type { UrlJudgement } from "../network/judge-url.ts";
import type { Protection } from "../workspace/protected-paths.ts";

/** One tool call, as the gate judges it. Paths are canonical. */
export type GateRequest = {
  readonly tool: string;
  readonly access: "read" | "write" | "execute" | "network";
  /** Set for a tool of an MCP server. The access such a tool declares is not trusted. */
  readonly server?: string | undefined;
  readonly identity?: ServerIdentity | undefined;
  /** Set for a task that is sent to a remote agent. */
  readonly agent?: RemoteAgentTarget | undefined;
  /** The decision of the person's hooks, where they made one. It never allows what a rule or the floor denies. */
  readonly hook?: { readonly decision: "allow" | "ask"; readonly reason: string } | undefined;
  readonly touches: ResolvedTouches;
};

/**
 * Digests of an MCP server and its tool: how the server is started or reached and everything it offers; and the same
 * with this tool's own description. An answer of the user holds only for what was shown.
 */
export type ServerIdentity = { readonly server: string; readonly tool: string };

export type ResolvedTouches = {
  readonly reads: readonly TouchedPath[];
  readonly writes: readonly WrittenPath[];
  readonly command?: CommandText | undefined;
  readonly urls: readonly string[];
};

/** A path with all links followed, and as displayed: relative to its root. */
export type TouchedPath = { readonly path: string; readonly shown: string };

/** A path to be written, and why its name is invalid, if it is. */
type WrittenPath = TouchedPath & { readonly invalidReason?: string | undefined };

/** A command line, and the folder it would run in. */
export type CommandText = { readonly text: string; readonly folder: string };

/** The functions the gate judges calls with. */
export type GateDependencies = {
  /** How a path is protected against writing. */
  readonly protection: (path: string) => Protection;
  readonly judgeCommand: (command: CommandText, ruling: CommandRules) => Promise<JudgedCommand>;
  /** The user's home folder, for rules that begin with `~/`. */
  readonly home?: string;
  readonly judgeUrl: (url: string) => UrlJudgement;
  /** Records that the user approved a command with the files it executes as they are now. */
  readonly acceptCommand?: (command: CommandText) => Promise<void>;
};

/** A file that a command names: read unless it is known to be written. */
export type NamedFile = TouchedPath & { readonly access: "read" | "edit" };

/** The decision about a command, with what the approval shows. */
export type JudgedCommand = Pick<CommandDecision, "decision" | "reason" | "asksInEveryMode"> & {
  /** Why a command that rules allow still needs approval: a file it executes changed. */
  readonly changedReason?: string | undefined;
  /** Why the content it would commit needs approval. */
  readonly commitFinding?: CommitFinding | undefined;
  readonly analysis: Pick<CommandAnalysis, "programs" | "suggestedRules" | "writes" | "readsOutside" | "mayRunUnseen">;
  /** The files its text names; absent if no rule on the deny or ask list is about files. */
  readonly files?: readonly NamedFile[] | undefined;
};
