import type { GateFacts, GateRequest, HeardCommand } from "./gate-request.ts";
import type { ApprovalMode } from "./mode.ts";
import type { UrlJudgement } from "./network.ts";
import { allowsUrl, deniesUrl, namesPath, ruleText, type Rule, type Rules } from "./rules.ts";

/**
 * Something that speaks against running a call at once.
 *
 * soft: asked about unless a rule or the mode covers it. firm: rules do not
 * help, the mode may. hard: asked about in every mode. deny: refused.
 * `option` is what a person could have said beforehand to allow it.
 */
export type Finding =
  | { readonly weight: "deny"; readonly reason: string }
  | { readonly weight: "soft" | "firm" | "hard"; readonly reason: string; readonly option?: string };

/** What the person or the project denies by rule. Commands are judged where they are read. */
export const deniedByRule = ({ tool, server, touches }: GateRequest, { deny }: Rules): readonly Finding[] => {
  const paths = [...touches.reads, ...touches.writes];
  return deny
    .filter(
      (rule) =>
        (rule.type === "tool" && rule.name === tool) ||
        (rule.type === "server" && rule.name === server) ||
        touches.urls.some((url) => deniesUrl(rule, url)) ||
        paths.some(({ shown }) => namesPath(rule, shown)),
    )
    .map((rule) => ({ weight: "deny", reason: `The rule ${ruleText(rule)} denies this.` }));
};

/** What is not on the list, where the person keeps one of all that may run. */
export const unlisted = async (
  request: GateRequest,
  { only }: Rules,
  { judgeCommand }: GateFacts,
): Promise<readonly Finding[]> => {
  if (only === undefined || only.some((rule) => coversTool(rule, request))) return [];
  const { command, urls } = request.touches;
  const ruling = { allow: commandWords(only), deny: [], mode: "default", only: true } as const;
  if (command !== undefined && (await judgeCommand(command, ruling)).decision === "allow") return [];
  if (urls.length > 0 && urls.every((url) => only.some((rule) => allowsUrl(rule, url)))) return [];
  return [{ weight: "deny", reason: "This is not among what the person's settings list as the only things to run." }];
};

/** The commands rules name by their first words. */
export const commandWords = (rules: readonly Rule[]): readonly (readonly string[])[] =>
  rules.flatMap((rule) => (rule.type === "command" && rule.exact !== true ? [rule.words] : []));

/** The commands rules name whole. */
export const exactCommands = (rules: readonly Rule[]): readonly (readonly string[])[] =>
  rules.flatMap((rule) => (rule.type === "command" && rule.exact === true ? [rule.words] : []));

/** Everything but reading, while a plan is made. Whether a command only reads is judged where it is read. */
export const outsidePlan = ({ tool, access, server, touches }: GateRequest, mode: ApprovalMode): readonly Finding[] =>
  mode === "plan" && (server !== undefined || (access !== "read" && touches.command === undefined))
    ? [
        {
          weight: "deny",
          reason: `Plan mode only reads: ${tool} does not run in it. Read what you need, then describe what you would do; the person decides when to leave plan mode.`,
        },
      ]
    : [];

/** Writes under names nobody could see for what they are. */
export const unseenNames = ({ touches }: GateRequest): readonly Finding[] =>
  touches.writes.flatMap(({ fault }) => (fault === undefined ? [] : [{ weight: "deny", reason: fault }]));

/** Writes to what governs the agent, or runs by itself later. */
export const protectedPaths = (
  { touches }: GateRequest,
  { allow }: Rules,
  { protection }: GateFacts,
): readonly Finding[] =>
  touches.writes.flatMap(({ path, shown }): readonly Finding[] => {
    const { level, reason } = protection(path);
    if (level === "deny") return [{ weight: "deny", reason }];
    if (level === "free" || allow.some((rule) => namesPath(rule, shown))) return [];
    return [{ weight: "hard", reason, option: allowing({ type: "path", path: shown }) }];
  });

/** Addresses nobody may ask, and odd ones. */
export const oddAddresses = (urls: readonly UrlJudgement[]): readonly Finding[] =>
  urls.flatMap(({ decision, reason }): readonly Finding[] => {
    if (decision === "allow") return [];
    return [decision === "deny" ? { weight: "deny", reason } : { weight: "firm", reason, option: yolo }];
  });

/** A command with a word that mixes alphabets: its letters may pass for others. */
export const lookalikes = ({ touches }: GateRequest): readonly Finding[] => {
  const words = (touches.command?.text ?? "").split(/[\s"'`;|&()<>=/]+/).filter(mixesAlphabets);
  if (words.length === 0) return [];
  const named = words.slice(0, 3).map((word) => `${word} (${foreignLetters(word)})`);
  return [{ weight: "firm", reason: `Letters that may pass for others: ${named.join(", ")}.`, option: yolo }];
};

/** A letter of an alphabet with letters that look like Latin ones. */
const foreign =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\uff21-\uff5a\u{1d400}-\u{1d7ff}]/u;

const mixesAlphabets = (word: string): boolean => foreign.test(word) && /[A-Za-z]/.test(word);

const foreignLetters = (word: string): string =>
  [...new Set(word)]
    .filter((letter) => foreign.test(letter))
    .slice(0, 4)
    .map((letter) => `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`)
    .join(" ");

/** A command that is refused, that writes what is protected, or that neither rules nor the mode cover. */
export const uncoveredCommand = (heard: HeardCommand | undefined): readonly Finding[] => {
  if (heard === undefined) return [];
  const { decision, reason, analysis } = heard;
  if (decision === "deny") return [{ weight: "deny", reason }];
  const guarded = analysis.writes.find(({ place }) => place === "guarded");
  if (guarded !== undefined) return [{ weight: "hard", reason: guarded.reason }];
  if (decision === "allow" || heard.changed !== undefined) return [];
  if (heard.isHard === true) return [{ weight: "hard", reason }];
  const options = analysis.always.map((words) => allowing({ type: "command", words }));
  return [{ weight: "soft", reason, option: [options.join(" "), yolo].filter((option) => option !== "").join(" or ") }];
};

/** A command that a rule allows, but whose files the agent has changed since. */
export const changedCommand = (heard: HeardCommand | undefined): readonly Finding[] =>
  heard?.changed === undefined ? [] : [{ weight: "firm", reason: heard.changed, option: yolo }];

/** A command that would commit what looks like a key, in every mode; or more than can be searched for one. */
export const committedKeys = (heard: HeardCommand | undefined): readonly Finding[] => {
  if (heard?.commit === undefined) return [];
  const { isFound, reason } = heard.commit;
  return [isFound ? { weight: "hard", reason } : { weight: "firm", reason, option: yolo }];
};

/** An effect the mode and the rules leave to the person. */
export const unapprovedEffect = (request: GateRequest, { allow }: Rules, mode: ApprovalMode): readonly Finding[] => {
  const { tool, access, server, touches } = request;
  if (allow.some((rule) => coversTool(rule, request))) return [];
  if (server !== undefined)
    return ask(`${tool} belongs to the MCP server ${server}.`, { type: "server", name: server });
  switch (access) {
    case "read":
      return [];
    case "write":
      if (touches.writes.length === 0) return ask(`${tool} changes files.`, { type: "tool", name: tool });
      if (mode === "auto_edit" || touches.writes.every(({ shown }) => allow.some((rule) => namesPath(rule, shown))))
        return [];
      return [{ weight: "soft", reason: `${tool} changes files.`, option: `--approval-mode auto_edit or ${yolo}` }];
    case "execute":
      return touches.command === undefined ? ask(`${tool} runs programs.`, { type: "tool", name: tool }) : [];
    case "network":
      if (touches.urls.length > 0 && touches.urls.every((url) => allow.some((rule) => allowsUrl(rule, url)))) return [];
      return ask(`${tool} uses the network.`, { type: "tool", name: tool });
  }
};

const ask = (reason: string, rule: Rule): readonly Finding[] => [
  { weight: "soft", reason, option: `${allowing(rule)} or ${yolo}` },
];

/** Whether a rule names the tool itself, or its server. */
export const coversTool = (rule: Rule, { tool, server, identity }: GateRequest): boolean => {
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

const yolo = "--approval-mode yolo";

const allowing = (rule: Rule): string => `--allowed-tools '${ruleText(rule)}'`;
