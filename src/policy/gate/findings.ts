import type { GateDependencies, GateRequest, JudgedCommand } from "./request.ts";
import type { ApprovalMode } from "./approval-mode.ts";
import type { UrlJudgement } from "../network/judge-url.ts";
import { isPrintableAscii } from "../workspace/paths.ts";
import {
  allowsEdit,
  allowsUrl,
  deniesFile,
  deniesUrl,
  namesPath,
  formatPermissionRule,
  type PermissionRule,
  type PermissionRules,
} from "./permission-rules.ts";

/**
 * A reason not to run a call without approval.
 *
 * soft: needs approval unless a permission rule or the mode covers it. firm: rules do not cover it, yolo mode does.
 * hard: needs approval in every mode. deny: refused. `option` is the command-line option that would have allowed it.
 */
export type GateFinding =
  | { readonly severity: "deny"; readonly reason: string }
  | { readonly severity: "soft" | "firm" | "hard"; readonly reason: string; readonly option?: string };

/** Checks deny rules of the user and the project. Commands are checked by the command judge too. */
export const checkDenyRules = (
  request: GateRequest,
  { deny, owners }: PermissionRules,
  context: RuleContext,
): readonly GateFinding[] =>
  deny
    .filter((rule) => isRestrictedBy(rule, request, context))
    .map((rule) => ({ severity: "deny", reason: `Denied by the rule ${nameRule(rule, owners)}.` }));

/** Checks rules that ask in every mode. */
export const checkAskRules = (
  request: GateRequest,
  { ask, owners }: PermissionRules,
  context: RuleContext,
): readonly GateFinding[] =>
  ask
    .filter((rule) => isRestrictedBy(rule, request, context))
    .map((rule) => ({ severity: "hard", reason: `The rule ${nameRule(rule, owners)} asks every time.` }));

const nameRule = (rule: PermissionRule, owners: PermissionRules["owners"]): string => {
  const plugin = owners?.get(rule);
  return `${formatPermissionRule(rule)}${plugin === undefined ? "" : ` of the plugin ${plugin}`}`;
};

/** The files of the request's command, and the user's home folder, for rules about files. */
type RuleContext = { readonly command: JudgedCommand | undefined; readonly home: string | undefined };

/** Whether a rule on the deny or ask list names a request. A tool of a server is also named by the server's own name for it. */
const isRestrictedBy = (rule: PermissionRule, request: GateRequest, { command, home }: RuleContext): boolean => {
  const { tool, server, agent, touches } = request;
  switch (rule.type) {
    case "edits":
      return isEdit(request);
    case "tool":
      return namesTool(rule, tool, server);
    case "server":
      return rule.name === server;
    case "agent":
      return rule.name === agent?.name;
    case "host":
      return [...touches.urls, ...(agent === undefined ? [] : [agent.url])].some((url) => deniesUrl(rule, url));
    case "command":
      return false;
    case "path":
    case "files":
      return (
        touches.reads.some((file) => deniesFile(rule, file, { access: "read", home })) ||
        touches.writes.some((file) => deniesFile(rule, file, { access: "edit", home })) ||
        (command?.files ?? []).some((file) => deniesFile(rule, file, { access: file.access, home }))
      );
  }
};

const namesTool = (
  rule: Extract<PermissionRule, { readonly type: "tool" }>,
  tool: string,
  server: string | undefined,
): boolean =>
  rule.server === undefined
    ? rule.name === tool
    : rule.server === server && (tool === rule.name || tool === `${rule.server}__${rule.name}`);

/** Checks the exclusive allow list (`permissions.only`), if there is one. */
export const checkAllowList = async (
  request: GateRequest,
  { only: exclusiveList }: PermissionRules,
  { judgeCommand, home }: GateDependencies,
): Promise<readonly GateFinding[]> => {
  if (exclusiveList === undefined || exclusiveList.some((rule) => coversTool(rule, request))) return [];
  const { command, urls } = request.touches;
  const commandRules = {
    allow: listCommandPrefixes(exclusiveList),
    exact: listExactCommands(exclusiveList),
    patterns: listCommandPatterns(exclusiveList),
    deny: [],
    mode: "default",
    isAllowListOnly: true,
  } as const;
  if (command !== undefined && (await judgeCommand(command, commandRules)).decision === "allow") return [];
  if (urls.length > 0 && urls.every((url) => exclusiveList.some((rule) => allowsUrl(rule, url)))) return [];
  const { writes } = request.touches;
  if (isEdit(request) && writes.every((file) => exclusiveList.some((rule) => allowsEdit(rule, file, home)))) return [];
  return [{ severity: "deny", reason: "Not on your exclusive allow list (permissions.only)." }];
};

/** Lists the commands that rules name by their first words. */
export const listCommandPrefixes = (rules: readonly PermissionRule[]): readonly (readonly string[])[] =>
  rules.flatMap((rule) => (rule.type === "command" && !rule.exact && !rule.isPattern ? [rule.words] : []));

/** Lists the commands that rules on the deny or ask list name: those named word for word count by their first words too. */
export const listRestrictedCommands = (rules: readonly PermissionRule[]): readonly (readonly string[])[] =>
  rules.flatMap((rule) => (rule.type === "command" ? [rule.words] : []));

/** Lists the commands that rules name by a pattern. */
export const listCommandPatterns = (rules: readonly PermissionRule[]): readonly (readonly string[])[] =>
  rules.flatMap((rule) => (rule.type === "command" && rule.isPattern === true ? [rule.words] : []));

/** Lists the commands that rules name word for word. */
export const listExactCommands = (rules: readonly PermissionRule[]): readonly (readonly string[])[] =>
  rules.flatMap((rule) => (rule.type === "command" && rule.exact === true ? [rule.words] : []));

/** Checks plan mode, which is read-only. Whether a command is read-only is decided by the command judge. */
export const checkPlanMode = (
  { tool, access, server, agent, touches }: GateRequest,
  mode: ApprovalMode,
): readonly GateFinding[] =>
  mode === "plan" &&
  (server !== undefined || agent !== undefined || (access !== "read" && touches.command === undefined))
    ? [
        {
          severity: "deny",
          reason: `Plan mode is read-only: ${tool} was not run. Read what you need, then present your plan (present_plan); the user decides when to leave plan mode.`,
        },
      ]
    : [];

/** Checks the names of new files, e.g. for invisible characters. */
export const checkNewNames = ({ touches }: GateRequest): readonly GateFinding[] =>
  touches.writes.flatMap(({ invalidReason }) =>
    invalidReason === undefined ? [] : [{ severity: "deny", reason: invalidReason }],
  );

/** Checks writes to protected paths: files that control the agent, or are run automatically. */
export const checkProtectedPaths = (
  { touches }: GateRequest,
  { allow }: PermissionRules,
  { protection }: GateDependencies,
): readonly GateFinding[] =>
  touches.writes.flatMap(({ path, shown }): readonly GateFinding[] => {
    const { level, reason } = protection(path);
    if (level === "deny") return [{ severity: "deny", reason }];
    if (level === "free" || allow.some((rule) => namesPath(rule, shown))) return [];
    return [{ severity: "hard", reason, option: allowOption({ type: "path", path: shown }) }];
  });

/** Checks URLs: denied and suspicious ones. */
export const checkUrls = (urls: readonly UrlJudgement[]): readonly GateFinding[] =>
  urls.flatMap(({ decision, reason }): readonly GateFinding[] => {
    if (decision === "allow") return [];
    return [decision === "deny" ? { severity: "deny", reason } : { severity: "firm", reason, option: yoloOption }];
  });

/** Checks for words that mix alphabets: their letters may look like others (homoglyphs). */
export const checkLookalikeLetters = ({ touches }: GateRequest): readonly GateFinding[] => {
  const text = touches.command?.text ?? "";
  if (isPrintableAscii(text)) return [];
  const words = text.split(/[\s"'`;|&()<>=/]+/).filter(mixesAlphabets);
  if (words.length === 0) return [];
  const named = words.slice(0, 3).map((word) => `${word} (${describeLookalikes(word)})`);
  return [
    { severity: "firm", reason: `Contains letters that look like others: ${named.join(", ")}.`, option: yoloOption },
  ];
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

/** Checks a command: denied, writing to a protected path, or covered by neither rules nor the mode. */
export const checkCommand = (command: JudgedCommand | undefined): readonly GateFinding[] => {
  if (command === undefined) return [];
  const { decision, reason, analysis } = command;
  if (decision === "deny") return [{ severity: "deny", reason }];
  const protectedWrite = analysis.writes.find(({ place }) => place === "protected");
  if (protectedWrite !== undefined) return [{ severity: "hard", reason: protectedWrite.reason }];
  if (decision === "allow" || command.changedReason !== undefined) return [];
  if (command.asksInEveryMode === true) return [{ severity: "hard", reason }];
  const options = analysis.suggestedRules.map((words) => allowOption({ type: "command", words }));
  return [
    {
      severity: "soft",
      reason,
      option: [options.join(" "), yoloOption].filter((option) => option !== "").join(" or "),
    },
  ];
};

/** Checks a command that a rule allows, but whose executed files the agent has changed since. */
export const checkChangedFiles = (command: JudgedCommand | undefined): readonly GateFinding[] =>
  command?.changedReason === undefined ? [] : [{ severity: "firm", reason: command.changedReason, option: yoloOption }];

/** Checks a command that would commit what looks like a key (every mode asks), or more than can be scanned. */
export const checkCommitKeys = (command: JudgedCommand | undefined): readonly GateFinding[] => {
  if (command?.commitFinding === undefined) return [];
  const { hasKey, reason } = command.commitFinding;
  return [hasKey ? { severity: "hard", reason } : { severity: "firm", reason, option: yoloOption }];
};

/** Checks whether a hook wants the person to be asked, whatever rules and mode say. */
export const checkHook = ({ hook }: GateRequest): readonly GateFinding[] =>
  hook?.decision === "ask" ? [{ severity: "hard", reason: `A hook asks for approval: ${hook.reason}` }] : [];

/** Checks a side effect that neither the mode nor a rule allows. */
export const checkSideEffect = (
  request: GateRequest,
  { allow }: PermissionRules,
  { mode, home }: { readonly mode: ApprovalMode; readonly home: string | undefined },
): readonly GateFinding[] => {
  const { tool, access, server: name, agent, touches } = request;
  if (allow.some((rule) => coversTool(rule, request))) return [];
  if (name !== undefined)
    return askUnlessAllowed(`${tool} is a tool of the MCP server ${name}.`, { type: "server", name });
  if (agent !== undefined) return askAboutAgent(agent);
  switch (access) {
    case "read":
      return [];
    case "write":
      if (touches.writes.length === 0) return askUnlessAllowed(`${tool} changes files.`, { type: "tool", name: tool });
      if (mode === "auto_edit" || touches.writes.every((file) => allow.some((rule) => allowsEdit(rule, file, home))))
        return [];
      return [
        { severity: "soft", reason: `${tool} changes files.`, option: `--approval-mode auto_edit or ${yoloOption}` },
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

/** A task leaves this machine. A value of the environment that a project's file names never does so unasked. */
const askAboutAgent = ({ name, url, variables }: NonNullable<GateRequest["agent"]>): readonly GateFinding[] => {
  const option = allowOption({ type: "agent", name });
  if (variables.length === 0)
    return [
      {
        severity: "soft",
        reason: `Sends this task to the remote agent ${name} at ${url}.`,
        option: `${option} or ${yoloOption}`,
      },
    ];
  const reason = `Sends this task and ${variables.join(", ")} of your environment to the remote agent ${name} at ${url}, as a file of the project or of a plugin says.`;
  return [{ severity: "hard", reason, option }];
};

const askUnlessAllowed = (reason: string, rule: PermissionRule): readonly GateFinding[] => [
  { severity: "soft", reason, option: `${allowOption(rule)} or ${yoloOption}` },
];

/** Whether a request edits files of the workspace with a built-in tool. */
export const isEdit = ({ access, server, touches }: GateRequest): boolean =>
  access === "write" && server === undefined && touches.writes.length > 0;

/** Whether a rule names the tool itself, its server or what it does. */
export const coversTool = (rule: PermissionRule, request: GateRequest): boolean => {
  const { tool, server, identity, agent } = request;
  switch (rule.type) {
    case "edits":
      return isEdit(request);
    case "tool":
      // The tool that starts subagents says nothing about where a remote one is.
      return (
        agent === undefined &&
        namesTool(rule, tool, server) &&
        (rule.identity === undefined || rule.identity === identity?.tool)
      );
    case "server":
      return rule.name === server && (rule.identity === undefined || rule.identity === identity?.server);
    case "agent":
      return rule.name === agent?.name && (rule.identity === undefined || rule.identity === agent.identity);
    case "command":
    case "host":
    case "path":
    case "files":
      return false;
  }
};

const yoloOption = "--approval-mode yolo";

const allowOption = (rule: PermissionRule): string => `--allowed-tools '${formatPermissionRule(rule)}'`;
