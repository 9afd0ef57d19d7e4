import type { CommandAnalysis } from "./command-analysis.ts";
import type { CommandJudgement, CommandRuling } from "./command-judge.ts";
import type { UrlJudgement } from "./network.ts";
import type { Protection } from "./protected.ts";

/** One call, as the gate sees it. Paths are where they really lead. */
export type GateRequest = {
  readonly tool: string;
  readonly access: "read" | "write" | "execute" | "network";
  /** Set for a tool of an MCP server. What such a tool says of its own access is not believed. */
  readonly server?: string | undefined;
  readonly touches: ResolvedTouches;
};

export type ResolvedTouches = {
  readonly reads: readonly TouchedPath[];
  readonly writes: readonly TouchedPath[];
  readonly command?: CommandText | undefined;
  readonly urls: readonly string[];
};

/** A path with all links followed, and as people know it: relative to its root. */
export type TouchedPath = { readonly path: string; readonly shown: string };

/** A command line, and the folder it would run in. */
type CommandText = { readonly text: string; readonly folder: string };

/** What the gate needs to know, from those who know it. */
export type GateFacts = {
  /** What guards a path against being written. */
  readonly protection: (path: string) => Protection;
  readonly judgeCommand: (command: CommandText, ruling: CommandRuling) => Promise<HeardCommand>;
  readonly judgeUrl: (url: string) => UrlJudgement;
};

/** What is heard of a command. */
export type HeardCommand = Pick<CommandJudgement, "decision" | "reason"> & {
  readonly analysis: Pick<CommandAnalysis, "roots" | "always" | "writes">;
};
