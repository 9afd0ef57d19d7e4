import { isRememberedWhole } from "./command-always.ts";
import type { RootCommand } from "./command-analysis.ts";
import {
  changedCommand,
  committedKeys,
  commandWords,
  coversTool,
  deniedByRule,
  exactCommands,
  oddAddresses,
  outsidePlan,
  protectedPaths,
  unapprovedEffect,
  uncoveredCommand,
  unlisted,
  unseenNames,
  lookalikes,
  type Finding,
} from "./gate-findings.ts";
import type { GateFacts, GateRequest, HeardCommand } from "./gate-request.ts";
import { approvalModes, isApprovalMode, type ApprovalMode } from "./mode.ts";
import type { UrlJudgement } from "./network.ts";
import { rulesInForce, type Rule, type Rules, type RuleSources } from "./rules.ts";

export type GateOptions = GateFacts & {
  readonly mode: ApprovalMode;
  readonly rules: RuleSources;
  /** Whether the person trusts the folder. */
  readonly trusted: boolean;
  /** Whether somebody is there to answer. Where nobody is, what would be asked is refused. */
  readonly interactive: boolean;
};

/** The one gate every effect passes. */
export type Gate = {
  readonly mode: () => ApprovalMode;
  readonly setMode: (mode: ApprovalMode) => void;
  readonly judge: (request: GateRequest) => Promise<Verdict>;
  /** Keeps an answer for as long as the gate lives. */
  readonly remember: (always: Always) => void;
  /** Notes that the person approved a call: the files that its command runs count as seen. */
  readonly approved: (request: GateRequest) => Promise<void>;
};

/** What may happen, and why: a sentence for the model and the person. */
export type Verdict = {
  readonly decision: "allow" | "ask" | "deny";
  readonly reason: string;
  readonly details: VerdictDetails;
  /** The command-line options that would allow what is denied because nobody is there to be asked; each is enough for its part. */
  readonly allowedBy?: readonly string[];
};

/** What a person should see before answering. */
type VerdictDetails = {
  readonly commands: readonly RootCommand[];
  readonly urls: readonly UrlJudgement[];
  /** The answers for always that would spare this question next time. */
  readonly always: readonly Always[];
};

/** An answer that holds for the session. */
export type Always =
  | { readonly type: "tool"; readonly tool: string; readonly identity?: string }
  | { readonly type: "server"; readonly server: string; readonly identity?: string }
  /** Commands that begin with these words, or that are these words where fewer would allow something worse. */
  | { readonly type: "command"; readonly commands: readonly (readonly string[])[] };

/** A gate for one session. */
export const createGate = (options: GateOptions): Gate => {
  const given = rulesInForce(options.rules, options.trusted);
  const remembered: Rule[] = [];
  let mode = knownMode(options.mode);
  return {
    mode: () => mode,
    setMode: (next) => void (mode = knownMode(next)),
    remember: (always) => void remembered.push(...rulesOf(always)),
    approved: async ({ touches }) => {
      if (touches.command !== undefined) await options.acceptCommand?.(touches.command);
    },
    judge: async (request) => {
      const rules = { ...given, allow: [...given.allow, ...remembered] };
      const heard = await hear(request, { rules, mode, facts: options });
      const findings = await findingsOf(request, heard, { rules, mode, facts: options });
      const verdict = settle(request, heard, findings);
      return options.interactive || verdict.decision !== "ask" ? verdict : unattended(verdict, findings);
    },
  };
};

/** Callers without types can pass anything; a mode that does not exist must not loosen the one in force. */
const knownMode = (mode: unknown): ApprovalMode => {
  if (isApprovalMode(mode)) return mode;
  throw new TypeError(`Unknown approval mode ${JSON.stringify(mode)}. Available: ${approvalModes.join(", ")}.`);
};

const rulesOf = (always: Always): readonly Rule[] => {
  switch (always.type) {
    case "tool":
      return [{ type: "tool", name: always.tool, ...identified(always.identity) }];
    case "server":
      return [{ type: "server", name: always.server, ...identified(always.identity) }];
    case "command":
      return always.commands.map((words) => ({
        type: "command",
        words,
        ...(isRememberedWhole(words) && { exact: true }),
      }));
  }
};

const identified = (identity: string | undefined): { readonly identity?: string } =>
  identity === undefined ? {} : { identity };

/** What those who read commands and addresses say. */
type Heard = { readonly command: HeardCommand | undefined; readonly urls: readonly UrlJudgement[] };

type Bearings = { readonly rules: Rules; readonly mode: ApprovalMode; readonly facts: GateFacts };

/** A rule that names the tool allows any command, as far as any mode does. */
const hear = async (request: GateRequest, { rules, mode, facts }: Bearings): Promise<Heard> => {
  const { command, urls } = request.touches;
  const isCovered = mode !== "plan" && rules.allow.some((rule) => coversTool(rule, request));
  const ruling = {
    allow: commandWords(rules.allow),
    exact: exactCommands(rules.allow),
    deny: commandWords(rules.deny),
    mode: isCovered ? "yolo" : mode,
  } as const;
  return {
    command: command && (await facts.judgeCommand(command, ruling)),
    urls: urls.map((url) => facts.judgeUrl(url)),
  };
};

/** All that speaks against running at once. In yolo mode the person has said beforehand that only the worst counts. */
const findingsOf = async (
  request: GateRequest,
  { command, urls }: Heard,
  { rules, mode, facts }: Bearings,
): Promise<readonly Finding[]> => {
  const findings = [
    ...deniedByRule(request, rules),
    ...(await unlisted(request, rules, facts)),
    ...outsidePlan(request, mode),
    ...unseenNames(request),
    ...protectedPaths(request, rules, facts),
    ...oddAddresses(urls),
    ...lookalikes(request),
    ...uncoveredCommand(command),
    ...changedCommand(command),
    ...committedKeys(command),
    ...unapprovedEffect(request, rules, mode),
  ];
  return mode === "yolo" ? findings.filter(({ weight }) => weight === "deny" || weight === "hard") : findings;
};

/** The strictest finding decides; all of its kind are told. */
const settle = (request: GateRequest, heard: Heard, findings: readonly Finding[]): Verdict => {
  const denied = findings.filter(({ weight }) => weight === "deny");
  const decision = denied.length > 0 ? "deny" : findings.length > 0 ? "ask" : "allow";
  const told = decision === "deny" ? denied : findings;
  return {
    decision,
    reason: [...new Set(told.map(({ reason }) => reason))].join(" "),
    details: {
      commands: heard.command?.analysis.roots ?? [],
      urls: heard.urls,
      always: decision === "ask" && findings.every(({ weight }) => weight === "soft") ? scopes(request, heard) : [],
    },
  };
};

const scopes = ({ tool, server, identity }: GateRequest, { command }: Heard): readonly Always[] => {
  if (server !== undefined)
    return [
      { type: "tool", tool, ...identified(identity?.tool) },
      { type: "server", server, ...identified(identity?.server) },
    ];
  if (command === undefined) return [{ type: "tool", tool }];
  const commands = command.analysis.always;
  return commands.length > 0 ? [{ type: "command", commands }] : [];
};

/** Nobody can be asked: a refusal that says what would have allowed it. What covers a protected path covers the edit too. */
const unattended = (verdict: Verdict, findings: readonly Finding[]): Verdict => {
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
