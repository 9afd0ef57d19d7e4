import { needsExactRule } from "../command/always-allow.ts";
import type { CommandProgram } from "../command/analysis.ts";
import {
  checkChangedFiles,
  checkCommitKeys,
  listCommandPrefixes,
  coversTool,
  checkDenyRules,
  listExactCommands,
  checkUrls,
  checkPlanMode,
  checkProtectedPaths,
  checkSideEffect,
  checkCommand,
  checkAllowList,
  checkNewNames,
  checkLookalikeLetters,
  type GateFinding,
} from "./findings.ts";
import type { GateDependencies, GateRequest, JudgedCommand } from "./request.ts";
import { approvalModes, isApprovalMode, type ApprovalMode } from "./approval-mode.ts";
import type { UrlJudgement } from "../network/judge-url.ts";
import {
  mergePermissionRules,
  type PermissionRule,
  type PermissionRules,
  type PermissionRuleSources,
} from "./permission-rules.ts";

export type PermissionGateOptions = GateDependencies & {
  readonly mode: ApprovalMode;
  readonly rules: PermissionRuleSources;
  /** Whether the person trusts the folder. */
  readonly trusted: boolean;
  /** Whether somebody is there to answer. Where nobody is, what would be asked is refused. */
  readonly interactive: boolean;
};

/** The one gate every effect passes. */
export type PermissionGate = {
  readonly mode: () => ApprovalMode;
  readonly setMode: (mode: ApprovalMode) => void;
  readonly judge: (request: GateRequest) => Promise<PermissionVerdict>;
  /** Keeps an answer for as long as the gate lives. */
  readonly remember: (always: AlwaysAllow) => void;
  /** Notes that the person approved a call: the files that its command runs count as seen. */
  readonly recordApproval: (request: GateRequest) => Promise<void>;
};

/** What may happen, and why: a sentence for the model and the person. */
export type PermissionVerdict = {
  readonly decision: "allow" | "ask" | "deny";
  readonly reason: string;
  readonly details: PermissionDetails;
  /** The command-line options that would allow what is denied because nobody is there to be asked; each is enough for its part. */
  readonly allowedBy?: readonly string[];
};

/** What a person should see before answering. */
type PermissionDetails = {
  readonly commands: readonly CommandProgram[];
  readonly urls: readonly UrlJudgement[];
  /** The answers for always that would spare this question next time. */
  readonly always: readonly AlwaysAllow[];
};

/** An answer that holds for the session. */
export type AlwaysAllow =
  | { readonly type: "tool"; readonly tool: string; readonly identity?: string }
  | { readonly type: "server"; readonly server: string; readonly identity?: string }
  /** Commands that begin with these words, or that are these words where fewer would allow something worse. */
  | { readonly type: "command"; readonly commands: readonly (readonly string[])[] };

/** A gate for one session. */
export const createPermissionGate = (options: PermissionGateOptions): PermissionGate => {
  const given = mergePermissionRules(options.rules, options.trusted);
  const remembered: PermissionRule[] = [];
  let mode = requireMode(options.mode);
  return {
    mode: () => mode,
    setMode: (next) => void (mode = requireMode(next)),
    remember: (always) => void remembered.push(...rulesFromAnswer(always)),
    recordApproval: async ({ touches }) => {
      if (touches.command !== undefined) await options.acceptCommand?.(touches.command);
    },
    judge: async (request) => {
      const rules = { ...given, allow: [...given.allow, ...remembered] };
      const heard = await analyzeRequest(request, { rules, mode, dependencies: options });
      const findings = await collectFindings(request, heard, { rules, mode, dependencies: options });
      const verdict = decideByFindings(request, heard, findings);
      return options.interactive || verdict.decision !== "ask" ? verdict : denyUnattended(verdict, findings);
    },
  };
};

/** Callers without types can pass anything; a mode that does not exist must not loosen the one in force. */
const requireMode = (mode: unknown): ApprovalMode => {
  if (isApprovalMode(mode)) return mode;
  throw new TypeError(`Unknown approval mode ${JSON.stringify(mode)}. Available: ${approvalModes.join(", ")}.`);
};

const rulesFromAnswer = (always: AlwaysAllow): readonly PermissionRule[] => {
  switch (always.type) {
    case "tool":
      return [{ type: "tool", name: always.tool, ...withIdentity(always.identity) }];
    case "server":
      return [{ type: "server", name: always.server, ...withIdentity(always.identity) }];
    case "command":
      return always.commands.map((words) => ({
        type: "command",
        words,
        ...(needsExactRule(words) && { exact: true }),
      }));
  }
};

const withIdentity = (identity: string | undefined): { readonly identity?: string } =>
  identity === undefined ? {} : { identity };

/** What those who read commands and addresses say. */
type AnalyzedRequest = { readonly command: JudgedCommand | undefined; readonly urls: readonly UrlJudgement[] };

type JudgeContext = {
  readonly rules: PermissionRules;
  readonly mode: ApprovalMode;
  readonly dependencies: GateDependencies;
};

/** A rule that names the tool allows any command, as far as any mode does. */
const analyzeRequest = async (
  request: GateRequest,
  { rules, mode, dependencies: facts }: JudgeContext,
): Promise<AnalyzedRequest> => {
  const { command, urls } = request.touches;
  const isCovered = mode !== "plan" && rules.allow.some((rule) => coversTool(rule, request));
  const ruling = {
    allow: listCommandPrefixes(rules.allow),
    exact: listExactCommands(rules.allow),
    deny: listCommandPrefixes(rules.deny),
    mode: isCovered ? "yolo" : mode,
  } as const;
  return {
    command: command && (await facts.judgeCommand(command, ruling)),
    urls: urls.map((url) => facts.judgeUrl(url)),
  };
};

/** All that speaks against running at once. In yolo mode the person has said beforehand that only the worst counts. */
const collectFindings = async (
  request: GateRequest,
  { command, urls }: AnalyzedRequest,
  { rules, mode, dependencies: facts }: JudgeContext,
): Promise<readonly GateFinding[]> => {
  const findings = [
    ...checkDenyRules(request, rules),
    ...(await checkAllowList(request, rules, facts)),
    ...checkPlanMode(request, mode),
    ...checkNewNames(request),
    ...checkProtectedPaths(request, rules, facts),
    ...checkUrls(urls),
    ...checkLookalikeLetters(request),
    ...checkCommand(command),
    ...checkChangedFiles(command),
    ...checkCommitKeys(command),
    ...checkSideEffect(request, rules, mode),
  ];
  return mode === "yolo" ? findings.filter(({ weight }) => weight === "deny" || weight === "hard") : findings;
};

/** The strictest finding decides; all of its kind are told. */
const decideByFindings = (
  request: GateRequest,
  heard: AnalyzedRequest,
  findings: readonly GateFinding[],
): PermissionVerdict => {
  const denied = findings.filter(({ weight }) => weight === "deny");
  const decision = denied.length > 0 ? "deny" : findings.length > 0 ? "ask" : "allow";
  const told = decision === "deny" ? denied : findings;
  return {
    decision,
    reason: [...new Set(told.map(({ reason }) => reason))].join(" "),
    details: {
      commands: heard.command?.analysis.programs ?? [],
      urls: heard.urls,
      always:
        decision === "ask" && findings.every(({ weight }) => weight === "soft") ? listAlwaysAllow(request, heard) : [],
    },
  };
};

const listAlwaysAllow = (
  { tool, server, identity }: GateRequest,
  { command }: AnalyzedRequest,
): readonly AlwaysAllow[] => {
  if (server !== undefined)
    return [
      { type: "tool", tool, ...withIdentity(identity?.tool) },
      { type: "server", server, ...withIdentity(identity?.server) },
    ];
  if (command === undefined) return [{ type: "tool", tool }];
  const commands = command.analysis.suggestedRules;
  return commands.length > 0 ? [{ type: "command", commands }] : [];
};

/** Nobody can be asked: a refusal that says what would have allowed it. What covers a protected path covers the edit too. */
const denyUnattended = (verdict: PermissionVerdict, findings: readonly GateFinding[]): PermissionVerdict => {
  const hard = findings.filter(({ weight }) => weight === "hard");
  const asks = hard.length > 0 ? hard : findings;
  const options = new Set(
    asks.flatMap((finding) => (finding.weight === "deny" || finding.option === undefined ? [] : [finding.option])),
  );
  const hint = options.size === 0 ? "" : ` To allow it, the person can start with ${[...options].join(" and ")}.`;
  return {
    ...verdict,
    decision: "deny",
    allowedBy: [...options],
    reason: `${verdict.reason} This needs approval, and nobody is there to give it: it was not run.${hint}`,
  };
};
