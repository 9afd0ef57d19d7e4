import type { GateDependencies, GateRequest, JudgedCommand } from "./request.ts";
import type { ApprovalMode } from "./approval-mode.ts";
import type { UrlJudgement } from "../network/judge-url.ts";
import {
  allowsUrl,
  deniesUrl,
  namesPath,
  formatPermissionRule,
  type PermissionRule,
  type PermissionRules,
} from "./permission-rules.ts";

/**
 * Something that speaks against running a call at once.
 *
 * soft: asked about unless a rule or the mode covers it. firm: rules do not
 * help, the mode may. hard: asked about in every mode. deny: refused.
 * `option` is what a person could have said beforehand to allow it.
 */
export type GateFinding =
  | { readonly weight: "deny"; readonly reason: string }
  | { readonly weight: "soft" | "firm" | "hard"; readonly reason: string; readonly option?: string };

/** What the person or the project denies by rule. Commands are judged where they are read. */
export const checkDenyRules = (
  { tool, server, touches }: GateRequest,
  { deny }: PermissionRules,
): readonly GateFinding[] => {
  const paths = [...touches.reads, ...touches.writes];
  return deny
    .filter(
      (rule) =>
        (rule.type === "tool" && rule.name === tool) ||
        (rule.type === "server" && rule.name === server) ||
        touches.urls.some((url) => deniesUrl(rule, url)) ||
        paths.some(({ shown }) => namesPath(rule, shown)),
    )
    .map((rule) => ({ weight: "deny", reason: `The rule ${formatPermissionRule(rule)} denies this.` }));
};

/** What is not on the list, where the person keeps one of all that may run. */
export const checkAllowList = async (
  request: GateRequest,
  { only }: PermissionRules,
  { judgeCommand }: GateDependencies,
): Promise<readonly GateFinding[]> => {
  if (only === undefined || only.some((rule) => coversTool(rule, request))) return [];
  const { command, urls } = request.touches;
  const ruling = { allow: listCommandPrefixes(only), deny: [], mode: "default", only: true } as const;
  if (command !== undefined && (await judgeCommand(command, ruling)).decision === "allow") return [];
  if (urls.length > 0 && urls.every((url) => only.some((rule) => allowsUrl(rule, url)))) return [];
  return [{ weight: "deny", reason: "This is not among what the person's settings list as the only things to run." }];
};

/** The commands rules name by their first words. */
export const listCommandPrefixes = (rules: readonly PermissionRule[]): readonly (readonly string[])[] =>
  rules.flatMap((rule) => (rule.type === "command" && rule.exact !== true ? [rule.words] : []));

/** The commands rules name whole. */
export const listExactCommands = (rules: readonly PermissionRule[]): readonly (readonly string[])[] =>
  rules.flatMap((rule) => (rule.type === "command" && rule.exact === true ? [rule.words] : []));

/** Everything but reading, while a plan is made. Whether a command only reads is judged where it is read. */
export const checkPlanMode = (
  { tool, access, server, touches }: GateRequest,
  mode: ApprovalMode,
): readonly GateFinding[] =>
  mode === "plan" && (server !== undefined || (access !== "read" && touches.command === undefined))
    ? [
        {
          weight: "deny",
          reason: `Plan mode only reads: ${tool} does not run in it. Read what you need, then describe what you would do; the person decides when to leave plan mode.`,
        },
      ]
    : [];

/** Writes under names nobody could see for what they are. */
export const checkNewNames = ({ touches }: GateRequest): readonly GateFinding[] =>
  touches.writes.flatMap(({ invalidReason: fault }) =>
    fault === undefined ? [] : [{ weight: "deny", reason: fault }],
  );

/** Writes to what governs the agent, or runs by itself later. */
export const checkProtectedPaths = (
  { touches }: GateRequest,
  { allow }: PermissionRules,
  { protection }: GateDependencies,
): readonly GateFinding[] =>
  touches.writes.flatMap(({ path, shown }): readonly GateFinding[] => {
    const { level, reason } = protection(path);
    if (level === "deny") return [{ weight: "deny", reason }];
    if (level === "free" || allow.some((rule) => namesPath(rule, shown))) return [];
    return [{ weight: "hard", reason, option: allowOption({ type: "path", path: shown }) }];
  });

/** Addresses nobody may ask, and odd ones. */
export const checkUrls = (urls: readonly UrlJudgement[]): readonly GateFinding[] =>
  urls.flatMap(({ decision, reason }): readonly GateFinding[] => {
    if (decision === "allow") return [];
    return [decision === "deny" ? { weight: "deny", reason } : { weight: "firm", reason, option: yoloOption }];
  });

/** A command with a word that mixes alphabets: its letters may pass for others. */
export const checkLookalikeLetters = ({ touches }: GateRequest): readonly GateFinding[] => {
  const words = (touches.command?.text ?? "").split(/[\s"'`;|&()<>=/]+/).filter(mixesAlphabets);
  if (words.length === 0) return [];
  const named = words.slice(0, 3).map((word) => `${word} (${describeLookalikes(word)})`);
  return [{ weight: "firm", reason: `Letters that may pass for others: ${named.join(", ")}.`, option: yoloOption }];
};

/** A letter of an alphabet with letters that look like Latin ones. */
const lookalikeLetter =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\uff21-\uff5a\u{1d400}-\u{1d7ff}]/u;

const mixesAlphabets = (word: string): boolean => lookalikeLetter.test(word) && /[A-Za-z]/.test(word);

const describeLookalikes = (word: string): string =>
  [...new Set(word)]
    .filter((letter) => lookalikeLetter.test(letter))
    .slice(0, 4)
    .map((letter) => `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`)
    .join(" ");

/** A command that is refused, that writes what is protected, or that neither rules nor the mode cover. */
export const checkCommand = (heard: JudgedCommand | undefined): readonly GateFinding[] => {
  if (heard === undefined) return [];
  const { decision, reason, analysis } = heard;
  if (decision === "deny") return [{ weight: "deny", reason }];
  const guarded = analysis.writes.find(({ place }) => place === "guarded");
  if (guarded !== undefined) return [{ weight: "hard", reason: guarded.reason }];
  if (decision === "allow" || heard.changedReason !== undefined) return [];
  if (heard.asksInEveryMode === true) return [{ weight: "hard", reason }];
  const options = analysis.suggestedRules.map((words) => allowOption({ type: "command", words }));
  return [
    { weight: "soft", reason, option: [options.join(" "), yoloOption].filter((option) => option !== "").join(" or ") },
  ];
};

/** A command that a rule allows, but whose files the agent has changed since. */
export const checkChangedFiles = (heard: JudgedCommand | undefined): readonly GateFinding[] =>
  heard?.changedReason === undefined ? [] : [{ weight: "firm", reason: heard.changedReason, option: yoloOption }];

/** A command that would commit what looks like a key, in every mode; or more than can be searched for one. */
export const checkCommitKeys = (heard: JudgedCommand | undefined): readonly GateFinding[] => {
  if (heard?.commitFinding === undefined) return [];
  const { hasKey: isFound, reason } = heard.commitFinding;
  return [isFound ? { weight: "hard", reason } : { weight: "firm", reason, option: yoloOption }];
};

/** An effect the mode and the rules leave to the person. */
export const checkSideEffect = (
  request: GateRequest,
  { allow }: PermissionRules,
  mode: ApprovalMode,
): readonly GateFinding[] => {
  const { tool, access, server, touches } = request;
  if (allow.some((rule) => coversTool(rule, request))) return [];
  if (server !== undefined)
    return askUnlessAllowed(`${tool} belongs to the MCP server ${server}.`, { type: "server", name: server });
  switch (access) {
    case "read":
      return [];
    case "write":
      if (touches.writes.length === 0) return askUnlessAllowed(`${tool} changes files.`, { type: "tool", name: tool });
      if (mode === "auto_edit" || touches.writes.every(({ shown }) => allow.some((rule) => namesPath(rule, shown))))
        return [];
      return [
        { weight: "soft", reason: `${tool} changes files.`, option: `--approval-mode auto_edit or ${yoloOption}` },
      ];
    case "execute":
      return touches.command === undefined
        ? askUnlessAllowed(`${tool} runs programs.`, { type: "tool", name: tool })
        : [];
    case "network":
      if (touches.urls.length > 0 && touches.urls.every((url) => allow.some((rule) => allowsUrl(rule, url)))) return [];
      return askUnlessAllowed(`${tool} uses the network.`, { type: "tool", name: tool });
  }
};

const askUnlessAllowed = (reason: string, rule: PermissionRule): readonly GateFinding[] => [
  { weight: "soft", reason, option: `${allowOption(rule)} or ${yoloOption}` },
];

/** Whether a rule names the tool itself, or its server. */
export const coversTool = (rule: PermissionRule, { tool, server, identity }: GateRequest): boolean => {
  switch (rule.type) {
    case "tool":
      return rule.name === tool && (rule.identity === undefined || rule.identity === identity?.tool);
    case "server":
      return rule.name === server && (rule.identity === undefined || rule.identity === identity?.server);
    case "command":
    case "host":
    case "path":
      return false;
  }
};

const yoloOption = "--approval-mode yolo";

const allowOption = (rule: PermissionRule): string => `--allowed-tools '${formatPermissionRule(rule)}'`;
