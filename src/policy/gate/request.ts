import type { CommandAnalysis } from "../command/analysis.ts";
import type { CommandDecision, CommandRules } from "../command/decide.ts";
import type { CommitFinding } from "../secrets/commit-keys.ts";
import type { UrlJudgement } from "../network/judge-url.ts";
import type { Protection } from "../workspace/protected-paths.ts";

/** One call, as the gate sees it. Paths are where they really lead. */
export type GateRequest = {
  readonly tool: string;
  readonly access: "read" | "write" | "execute" | "network";
  /** Set for a tool of an MCP server. What such a tool says of its own access is not believed. */
  readonly server?: string | undefined;
  readonly identity?: ServerIdentity | undefined;
  readonly touches: ResolvedTouches;
};

/**
 * What really stands behind the names of a server and its tool, as digests: how the server is started or reached and
 * all it offers; and the same with this tool's own words. A person's answer holds for what they saw, and for nothing else.
 */
export type ServerIdentity = { readonly server: string; readonly tool: string };

export type ResolvedTouches = {
  readonly reads: readonly TouchedPath[];
  readonly writes: readonly WrittenPath[];
  readonly command?: CommandText | undefined;
  readonly urls: readonly string[];
};

/** A path with all links followed, and as people know it: relative to its root. */
export type TouchedPath = { readonly path: string; readonly shown: string };

/** A path to be written, and why nothing may be made there. */
type WrittenPath = TouchedPath & { readonly invalidReason?: string | undefined };

/** A command line, and the folder it would run in. */
export type CommandText = { readonly text: string; readonly folder: string };

/** What the gate needs to know, from those who know it. */
export type GateDependencies = {
  /** What guards a path against being written. */
  readonly protection: (path: string) => Protection;
  readonly judgeCommand: (command: CommandText, ruling: CommandRules) => Promise<JudgedCommand>;
  readonly judgeUrl: (url: string) => UrlJudgement;
  /** Notes that the person approved a command with the files it runs as they are now. */
  readonly acceptCommand?: (command: CommandText) => Promise<void>;
};

/** What is heard of a command. */
export type JudgedCommand = Pick<CommandDecision, "decision" | "reason" | "asksInEveryMode"> & {
  /** Why a command that rules allow is asked about all the same. */
  readonly changedReason?: string | undefined;
  /** Why what it would commit is asked about. */
  readonly commitFinding?: CommitFinding | undefined;
  readonly analysis: Pick<CommandAnalysis, "programs" | "suggestedRules" | "writes">;
};
