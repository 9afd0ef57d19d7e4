import { isDeepStrictEqual } from "node:util";
import { needsExactRule } from "../command/always-allow.ts";
import type { CommandAnalysis, CommandProgram } from "../command/analysis.ts";
import {
  checkChangedFiles,
  checkCommitKeys,
  listCommandPatterns,
  listCommandPrefixes,
  listRestrictedCommands,
  coversTool,
  checkAskRules,
  checkDenyRules,
  checkHook,
  listExactCommands,
  checkUrls,
  checkPlanMode,
  checkProtectedPaths,
  checkSideEffect,
  checkCommand,
  checkAllowList,
  checkNewNames,
  checkLookalikeLetters,
  isEdit,
  type GateFinding,
} from "./findings.ts";
import type { GateDependencies, GateRequest, JudgedCommand, ResolvedTouches } from "./request.ts";
import { approvalModes, isApprovalMode, type ApprovalMode } from "./approval-mode.ts";
import type { UrlJudgement } from "../network/judge-url.ts";
import { listConfiguredRules, type ListedRule, type RuleScope } from "./listed-rules.ts";
import { isBoundToContent, type SessionRule, type SessionRules } from "./session-rules.ts";
import { isStorable, type RuleList, type RuleStore } from "../trust/stored-rules.ts";
import {
  commandRuleFor,
  deniesUrl,
  formatPermissionRule,
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
  /** The rules the user stored for this project. They are read again for every call, so that one taken back no longer counts. */
  readonly stored?: RuleStore | undefined;
  /** The rules of the session that hold from the start, and the recorder of changes to them. */
  readonly sessionRules?: SessionRules | undefined;
};

/** The permission gate: the one place that decides whether a tool call is allowed, denied or asked about. */
export type PermissionGate = {
  readonly mode: () => ApprovalMode;
  readonly setMode: (mode: ApprovalMode) => void;
  readonly judge: (request: GateRequest) => Promise<PermissionVerdict>;
  /** Adds the rules of an "always allow" answer, for the session or stored for the project. Returns what was added. */
  readonly remember: (always: AlwaysAllow, scope: RuleScope) => Promise<AddedRules>;
  /** Lists every rule, with where it comes from. */
  readonly listRules: () => Promise<readonly ListedRule[]>;
  readonly addRule: (
    rule: PermissionRule,
    where: {
      readonly list: RuleList;
      readonly scope: RuleScope;
      /** Whether the rule is removed after a turn, so that it never outlives the process. */
      readonly isForTurn?: true;
    },
  ) => Promise<void>;
  /** Removes a rule of the session or of the project. False if it is not there, or comes from settings. */
  readonly removeRule: (rule: ListedRule) => Promise<boolean>;
  /** Why a deny rule, or what no rule allows, forbids a program that is no tool call, such as a hook. */
  readonly findDenial: (touches: Partial<Pick<ResolvedTouches, "command" | "urls">>) => Promise<string | undefined>;
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
  /** The known effects of the command besides running its programs. */
  readonly effects?: CommandEffects | undefined;
  /** Whether it is an ordinary edit of the workspace, or a command without effects that are hard to undo or outside. */
  readonly isRoutine: boolean;
  /** The "always allow" answers that would avoid this question next time. */
  readonly always: readonly AlwaysAllow[];
};

/** The rules an answer added, as text. `problem` says why they could not be stored and hold for the session only. */
export type AddedRules = { readonly rules: readonly string[]; readonly scope: RuleScope; readonly problem?: string };

/** The files a command is known to write, and whether it reads outside the workspace or may run other commands. */
type CommandEffects = Pick<CommandAnalysis, "writes" | "readsOutside" | "mayRunUnseen">;

/** An "always allow" answer a question offers, and the scopes it can be given for. */
export type AlwaysAllow = { readonly scopes: readonly RuleScope[] } & (
  | { readonly type: "edits" }
  | { readonly type: "tool"; readonly tool: string; readonly identity?: string }
  | { readonly type: "server"; readonly server: string; readonly identity?: string }
  | { readonly type: "agent"; readonly agent: string; readonly identity: string }
  /** Commands that begin with these words, or equal them where a prefix would allow something worse. */
  | { readonly type: "command"; readonly commands: readonly (readonly string[])[] }
);

/** Creates the permission gate of a session. */
export const createPermissionGate = (options: PermissionGateOptions): PermissionGate => {
  const { stored, trusted, sessionRules } = options;
  const configuredRules = mergePermissionRules(options.rules, trusted);
  const remembered: RememberedRule[] = (sessionRules?.initial ?? []).map((rule) => ({ ...rule, isRecorded: true }));
  let mode = requireMode(options.mode);
  const rememberForSession = async (added: readonly SessionRule[], isRecorded: boolean): Promise<void> => {
    for (const { list, rule } of added) {
      if (remembered.some((known) => known.list === list && isDeepStrictEqual(known.rule, rule))) continue;
      remembered.push({ list, rule, isRecorded });
      if (isRecorded) await sessionRules?.record({ list, rule, change: "add" });
    }
  };
  return {
    mode: () => mode,
    setMode: (next) => void (mode = requireMode(next)),
    remember: async (always, scope) => {
      const rules = rulesFromAnswer(always);
      const texts = rules.map(formatPermissionRule);
      if (scope === "session" || stored === undefined || !always.scopes.includes("project")) {
        await rememberForSession(toSessionRules("allow", rules), true);
        return { rules: texts, scope: "session" };
      }
      try {
        for (const rule of rules) await stored.add({ list: "allow", rule });
        return { rules: texts, scope };
      } catch (error) {
        await rememberForSession(toSessionRules("allow", rules), true);
        return { rules: texts, scope: "session", problem: error instanceof Error ? error.message : String(error) };
      }
    },
    listRules: async () => [
      ...remembered.map(({ list, rule }) => ({ list, rule, scope: "session" as const })),
      ...((await stored?.list()) ?? []).map((each) => ({ ...each, scope: "project" as const })),
      ...listConfiguredRules(options.rules, trusted),
    ],
    addRule: async (rule, { list, scope, isForTurn = false }) => {
      if (scope === "session" || stored === undefined)
        await rememberForSession([{ list, rule }], !isForTurn && isBoundToContent({ list, rule }));
      else await stored.add({ list, rule });
    },
    removeRule: async ({ list, scope, rule }) => {
      if (scope === "project") return (await stored?.remove({ list, rule })) ?? false;
      const at = remembered.findIndex(
        (each) => scope === "session" && each.list === list && isDeepStrictEqual(each.rule, rule),
      );
      if (at < 0) return false;
      const [removed] = remembered.splice(at, 1);
      if (removed?.isRecorded === true) await sessionRules?.record({ list, rule, change: "remove" });
      return true;
    },
    recordApproval: async ({ touches }) => {
      if (touches.command !== undefined) await options.acceptCommand?.(touches.command);
    },
    findDenial: async ({ command, urls = [] }) => {
      const added = [...remembered, ...((await stored?.list()) ?? [])];
      const deny = [...configuredRules.deny, ...rulesOnList(added, "deny")];
      const host = deny.find((rule) => urls.some((url) => deniesUrl(rule, url)));
      if (host !== undefined) return `Denied by the rule ${formatPermissionRule(host)}.`;
      if (command === undefined) return undefined;
      const commandRules = { allow: [], deny: listRestrictedCommands(deny), mode: "default" } as const;
      const { decision, reason } = await options.judgeCommand(command, commandRules);
      return decision === "deny" ? reason : undefined;
    },
    judge: async (request) => {
      const added = [
        ...remembered,
        ...((await stored?.list()) ?? []).filter(({ list }) => trusted || list !== "allow"),
      ];
      const rules = {
        ...configuredRules,
        allow: [...configuredRules.allow, ...rulesOnList(added, "allow")],
        ask: [...configuredRules.ask, ...rulesOnList(added, "ask")],
        deny: [...configuredRules.deny, ...rulesOnList(added, "deny")],
      };
      const analyzed = await analyzeRequest(request, { rules, mode, dependencies: options });
      const findings = await collectFindings(request, analyzed, { rules, mode, trusted, dependencies: options });
      const verdict = decideByFindings(request, analyzed, { findings, canStore: trusted && stored !== undefined });
      return options.interactive || verdict.decision !== "ask" ? verdict : denyUnattended(verdict, findings);
    },
  };
};

/** A rule of the session, and whether it is in the session log. */
type RememberedRule = SessionRule & { readonly isRecorded: boolean };

const toSessionRules = (list: RuleList, rules: readonly PermissionRule[]): readonly SessionRule[] =>
  rules.map((rule) => ({ list, rule }));

const rulesOnList = (rules: readonly SessionRule[], list: RuleList): readonly PermissionRule[] =>
  rules.filter((each) => each.list === list).map(({ rule }) => rule);

/** Throws for an unknown mode: untyped callers can pass anything, and it must not loosen the current mode. */
const requireMode = (mode: unknown): ApprovalMode => {
  if (isApprovalMode(mode)) return mode;
  throw new TypeError(`Unknown approval mode ${JSON.stringify(mode)}. Available: ${approvalModes.join(", ")}.`);
};

const rulesFromAnswer = (always: AlwaysAllow): readonly PermissionRule[] => {
  switch (always.type) {
    case "edits":
      return [{ type: "edits" }];
    case "tool":
      return [{ type: "tool", name: always.tool, ...withIdentity(always.identity) }];
    case "server":
      return [{ type: "server", name: always.server, ...withIdentity(always.identity) }];
    case "agent":
      return [{ type: "agent", name: always.agent, identity: always.identity }];
    case "command":
      return always.commands.map(commandRuleFor);
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
    patterns: listCommandPatterns(rules.allow),
    ask: listRestrictedCommands(rules.ask),
    deny: listRestrictedCommands(rules.deny),
    findsFiles: [...rules.ask, ...rules.deny].some(({ type }) => type === "files" || type === "path"),
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
  { rules, mode, trusted, dependencies }: JudgeContext & { readonly trusted: boolean },
): Promise<readonly GateFinding[]> => {
  const findings = [
    ...checkDenyRules(request, rules, { command, home: dependencies.home }),
    ...checkAskRules(request, rules, { command, home: dependencies.home }),
    ...(await checkAllowList(request, rules, dependencies)),
    ...checkPlanMode(request, mode),
    ...checkNewNames(request),
    ...checkProtectedPaths(request, rules, dependencies),
    ...checkUrls(urls),
    ...checkLookalikeLetters(request),
    ...checkCommand(command),
    ...checkChangedFiles(command),
    ...checkCommitKeys(command),
    ...checkSideEffect(request, rules, { mode, home: dependencies.home }),
    ...checkHook(request),
  ];
  // A hook can answer a question that a permission rule could have answered, in a folder where such rules count.
  if (request.hook?.decision === "allow" && trusted) return findings.filter(({ severity }) => severity !== "soft");
  return mode === "yolo" ? findings.filter(({ severity }) => severity === "deny" || severity === "hard") : findings;
};

/** Decides by the strictest finding; the reason lists all findings of that kind. */
const decideByFindings = (
  request: GateRequest,
  analyzed: AnalyzedRequest,
  { findings, canStore }: { readonly findings: readonly GateFinding[]; readonly canStore: boolean },
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
      effects: analyzed.command?.analysis,
      isRoutine: decision === "ask" && isRoutine(request, analyzed, findings),
      always:
        decision === "ask" && findings.every(({ severity }) => severity === "soft")
          ? listAlwaysAllow(request, analyzed).map((always) => withScopes(always, canStore))
          : [],
    },
  };
};

/** Whether a question is about nothing unusual: neither hard to undo, nor outside the workspace. */
const isRoutine = (request: GateRequest, { command }: AnalyzedRequest, findings: readonly GateFinding[]): boolean => {
  if (findings.some(({ severity }) => severity !== "soft")) return false;
  if (command === undefined) return isEdit(request);
  const { suggestedRules, readsOutside, writes } = command.analysis;
  return (
    suggestedRules.length > 0 &&
    !suggestedRules.some(needsExactRule) &&
    !readsOutside &&
    writes.every(({ place }) => place === "free")
  );
};

type UnscopedAlwaysAllow = AlwaysAllow extends infer Answer
  ? Answer extends AlwaysAllow
    ? Omit<Answer, "scopes">
    : never
  : never;

const listAlwaysAllow = (request: GateRequest, { command }: AnalyzedRequest): readonly UnscopedAlwaysAllow[] => {
  const { tool, server, identity, agent } = request;
  if (agent !== undefined) return [{ type: "agent", agent: agent.name, identity: agent.identity }];
  if (server !== undefined)
    return [
      { type: "tool", tool, ...withIdentity(identity?.tool) },
      { type: "server", server, ...withIdentity(identity?.server) },
    ];
  if (isEdit(request)) return [{ type: "edits" }];
  if (command === undefined) return [{ type: "tool", tool }];
  const commands = command.analysis.suggestedRules;
  return commands.length > 0 ? [{ type: "command", commands }] : [];
};

/** Adds the scopes of an answer. A rule whose text would mean something else is not stored. */
const withScopes = (always: UnscopedAlwaysAllow, canStore: boolean): AlwaysAllow => {
  const answer = { ...always, scopes: ["session"] } as AlwaysAllow;
  return canStore && rulesFromAnswer(answer).every(isStorable) ? { ...answer, scopes: ["session", "project"] } : answer;
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
