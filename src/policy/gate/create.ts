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
  /** Whether the user trusts the folder. */
  readonly trusted: boolean;
  /** Whether the user can be asked. If not, calls that need approval are denied. */
  readonly interactive: boolean;
};

/** The permission gate: the one place that decides whether a tool call is allowed, denied or asked about. */
export type PermissionGate = {
  readonly mode: () => ApprovalMode;
  readonly setMode: (mode: ApprovalMode) => void;
  readonly judge: (request: GateRequest) => Promise<PermissionVerdict>;
  /** Remembers an answer for the lifetime of the gate (the session). */
  readonly remember: (always: AlwaysAllow) => void;
  /** Records that the user approved a call: the files its command executes count as seen. */
  readonly recordApproval: (request: GateRequest) => Promise<void>;
};

/** The decision about a call. The reason is a sentence for the model and the user. */
export type PermissionVerdict = {
  readonly decision: "allow" | "ask" | "deny";
  readonly reason: string;
  readonly details: PermissionDetails;
  /** The command-line options that would allow a call that was denied because the user could not be asked. */
  readonly allowedBy?: readonly string[];
};

/** Details for the approval question. */
type PermissionDetails = {
  readonly commands: readonly CommandProgram[];
  readonly urls: readonly UrlJudgement[];
  /** The "always allow" answers that would avoid this question next time. */
  readonly always: readonly AlwaysAllow[];
};

/** An "always allow" answer, which holds for the session. */
export type AlwaysAllow =
  | { readonly type: "tool"; readonly tool: string; readonly identity?: string }
  | { readonly type: "server"; readonly server: string; readonly identity?: string }
  /** Commands that begin with these words, or equal them where a prefix would allow something worse. */
  | { readonly type: "command"; readonly commands: readonly (readonly string[])[] };

/** Creates the permission gate of a session. */
export const createPermissionGate = (options: PermissionGateOptions): PermissionGate => {
  const configuredRules = mergePermissionRules(options.rules, options.trusted);
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
      const rules = { ...configuredRules, allow: [...configuredRules.allow, ...remembered] };
      const analyzed = await analyzeRequest(request, { rules, mode, dependencies: options });
      const findings = await collectFindings(request, analyzed, { rules, mode, dependencies: options });
      const verdict = decideByFindings(request, analyzed, findings);
      return options.interactive || verdict.decision !== "ask" ? verdict : denyUnattended(verdict, findings);
    },
  };
};

/** Throws for an unknown mode: untyped callers can pass anything, and it must not loosen the current mode. */
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

/** A request with its command and URLs judged. */
type AnalyzedRequest = { readonly command: JudgedCommand | undefined; readonly urls: readonly UrlJudgement[] };

type JudgeContext = {
  readonly rules: PermissionRules;
  readonly mode: ApprovalMode;
  readonly dependencies: GateDependencies;
};

/** Judges the command and URLs of a request. A rule that names the tool allows its commands like yolo mode. */
const analyzeRequest = async (
  request: GateRequest,
  { rules, mode, dependencies }: JudgeContext,
): Promise<AnalyzedRequest> => {
  const { command, urls } = request.touches;
  const isCovered = mode !== "plan" && rules.allow.some((rule) => coversTool(rule, request));
  const commandRules = {
    allow: listCommandPrefixes(rules.allow),
    exact: listExactCommands(rules.allow),
    deny: listCommandPrefixes(rules.deny),
    mode: isCovered ? "yolo" : mode,
  } as const;
  return {
    command: command && (await dependencies.judgeCommand(command, commandRules)),
    urls: urls.map((url) => dependencies.judgeUrl(url)),
  };
};

/** Collects all reasons not to run without approval. Yolo mode keeps only denials and hard findings. */
const collectFindings = async (
  request: GateRequest,
  { command, urls }: AnalyzedRequest,
  { rules, mode, dependencies }: JudgeContext,
): Promise<readonly GateFinding[]> => {
  const findings = [
    ...checkDenyRules(request, rules),
    ...(await checkAllowList(request, rules, dependencies)),
    ...checkPlanMode(request, mode),
    ...checkNewNames(request),
    ...checkProtectedPaths(request, rules, dependencies),
    ...checkUrls(urls),
    ...checkLookalikeLetters(request),
    ...checkCommand(command),
    ...checkChangedFiles(command),
    ...checkCommitKeys(command),
    ...checkSideEffect(request, rules, mode),
  ];
  return mode === "yolo" ? findings.filter(({ severity }) => severity === "deny" || severity === "hard") : findings;
};

/** Decides by the strictest finding; the reason lists all findings of that kind. */
const decideByFindings = (
  request: GateRequest,
  analyzed: AnalyzedRequest,
  findings: readonly GateFinding[],
): PermissionVerdict => {
  const denied = findings.filter(({ severity }) => severity === "deny");
  const decision = denied.length > 0 ? "deny" : findings.length > 0 ? "ask" : "allow";
  const reported = decision === "deny" ? denied : findings;
  return {
    decision,
    reason: [...new Set(reported.map(({ reason }) => reason))].join(" "),
    details: {
      commands: analyzed.command?.analysis.programs ?? [],
      urls: analyzed.urls,
      always:
        decision === "ask" && findings.every(({ severity }) => severity === "soft")
          ? listAlwaysAllow(request, analyzed)
          : [],
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

/** Denies because the user cannot be asked, and names the options that would allow it. An option for a protected path covers the edit too. */
const denyUnattended = (verdict: PermissionVerdict, findings: readonly GateFinding[]): PermissionVerdict => {
  const hard = findings.filter(({ severity }) => severity === "hard");
  const questions = hard.length > 0 ? hard : findings;
  const options = new Set(
    questions.flatMap((finding) =>
      finding.severity === "deny" || finding.option === undefined ? [] : [finding.option],
    ),
  );
  const hint = options.size === 0 ? "" : ` To allow it, start with ${[...options].join(" and ")}.`;
  return {
    ...verdict,
    decision: "deny",
    allowedBy: [...options],
    reason: `${verdict.reason} Needs approval, but this session is not interactive: not run.${hint}`,
  };
};
