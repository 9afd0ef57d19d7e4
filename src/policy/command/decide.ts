import type { CommandAnalysis, SimpleCommand } from "./analysis.ts";
import type { CommandWords } from "./effects/nested.ts";
import { couldMatchName, literalText, sourceText } from "./parse/word.ts";
import type { ApprovalMode } from "../gate/approval-mode.ts";
import { matchesGlob } from "../gate/pattern.ts";

/** The permission rules and mode a command is decided by. Commands are named by their first words. */
export type CommandRules = {
  readonly allow: readonly (readonly string[])[];
  /** Commands that are allowed only word for word. */
  readonly exact?: readonly (readonly string[])[];
  /** Commands that are allowed as a pattern, in which `*` stands for any text. */
  readonly patterns?: readonly (readonly string[])[];
  /** Commands that every mode asks about. `*` in words of these and of denied ones stands for any text. */
  readonly ask?: readonly (readonly string[])[];
  readonly deny: readonly (readonly string[])[];
  /** Whether the files it names are needed, to check rules about files. */
  readonly findsFiles?: boolean;
  readonly mode: ApprovalMode;
  /** Whether every command needs a rule, read-only ones included. */
  readonly isAllowListOnly?: boolean;
};

/** The decision about a command line, and why. Parts are its commands, each decided separately. */
export type CommandDecision = {
  readonly decision: AllowAskDeny;
  readonly reason: string;
  readonly parts: readonly DecidedPart[];
  /** Whether every mode asks, yolo included. */
  readonly asksInEveryMode?: true;
};

type DecidedPart = { readonly command: string; readonly decision: AllowAskDeny; readonly reason: string };

type AllowAskDeny = "allow" | "ask" | "deny";

/**
 * Decides whether a command line is allowed, denied or asked about. Deny rules look at everything that might run,
 * however it is wrapped; allowing requires that a rule or a known read-only profile covers every single command.
 */
export const decideCommand = (analysis: CommandAnalysis, rules: CommandRules): CommandDecision => {
  const parts = analysis.commands.map((command) => decidePart(command, rules));
  const decide = (decision: AllowAskDeny, reason: string): CommandDecision => ({ decision, reason, parts });
  const denyReason = findDenyReason(analysis, rules);
  if (denyReason !== undefined) return decide("deny", denyReason);
  const reads = analysis.commands.every(({ requiredWords }) => requiredWords === 0);
  if (rules.mode === "plan" && (analysis.shape === "opaque" || !reads))
    return decide("deny", "Plan mode is read-only, and this command is not known to be.");
  const askRule = rules.ask?.find((words) => isNamedBy(words, analysis));
  if (askRule !== undefined)
    return { ...decide("ask", `A rule for ${askRule.join(" ")} asks every time.`), asksInEveryMode: true };
  if (rules.mode === "yolo" && rules.isAllowListOnly !== true) {
    const question = analysis.writes.find(({ place }) => place === "protected");
    if (question !== undefined) return decide("ask", question.reason);
    const [restricted] = [...rules.deny, ...(rules.ask ?? [])];
    if (analysis.unclearReason === undefined || restricted === undefined)
      return decide("allow", "Allowed by yolo mode.");
    return {
      ...decide("ask", `A rule denies ${restricted.join(" ")}, and this may run it: ${analysis.unclearReason}.`),
      asksInEveryMode: true,
    };
  }
  const question = findWorstQuestion(analysis, parts);
  if (analysis.shape === "opaque") return decide("ask", `${capitalize(analysis.reason)}, so rules cannot cover it.`);
  return question === undefined ? decide("allow", "Every command is allowed.") : decide("ask", question.reason);
};

/** The part to ask about: one that runs a download, else one that rules cannot cover, else the first that no rule allows. */
const findWorstQuestion = ({ commands }: CommandAnalysis, parts: readonly DecidedPart[]): DecidedPart | undefined => {
  const questions = parts.flatMap((part, at) =>
    part.decision === "ask" ? [{ part, danger: dangerOf(commands[at]) }] : [],
  );
  return questions.toSorted((one, other) => other.danger - one.danger)[0]?.part;
};

const dangerOf = (command: SimpleCommand | undefined): number =>
  command?.runsDownload === true ? 2 : command?.requiredWords === undefined ? 1 : 0;

const decidePart = (
  { words, requiredWords, reason }: SimpleCommand,
  { allow, exact = [], patterns = [], isAllowListOnly }: CommandRules,
): DecidedPart => {
  const command = words.join(" ");
  if (requiredWords === undefined)
    return { command, decision: "ask", reason: `Rules cannot cover \`${command}\`: ${reason}.` };
  const minWords = isAllowListOnly === true ? Math.max(1, requiredWords) : requiredWords;
  if (minWords === 0) return { command, decision: "allow", reason };
  const isPrefix = (rule: readonly string[]): boolean => rule.every((word, at) => word === words[at]);
  const isAllowed =
    allow.some((rule) => rule.length >= minWords && isPrefix(rule)) ||
    exact.some((rule) => rule.length === words.length && isPrefix(rule)) ||
    patterns.some((rule) => matchesWholeLine(rule, words, minWords));
  return isAllowed
    ? { command, decision: "allow", reason: "Allowed by a rule." }
    : { command, decision: "ask", reason: notAllowed(command, reason) };
};

const hasStar = (word: string): boolean => word.includes("*");

/**
 * Whether a rule with `*` allows a command. The words before the first `*` must be as many as the command requires, and
 * words with other than plain characters are compared in quotes, as they were typed.
 */
const matchesWholeLine = (rule: readonly string[], words: readonly string[], minWords: number): boolean =>
  rule.findIndex(hasStar) >= minWords &&
  matchesGlob(rule.join(" "), words.map((word) => (/^[\w./:@%+=,-]+$/.test(word) ? word : `'${word}'`)).join(" "));

/** The reason of a question: the command, and what is known about it, if anything is. */
const notAllowed = (command: string, reason: string): string =>
  `\`${command}\` is not on your allow list${reason === "" ? "" : ` (${reason})`}.`;

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Finds the reason to deny the command: a destructive effect, a deny rule, or a write that is never allowed. */
const findDenyReason = (analysis: CommandAnalysis, { deny, mode }: CommandRules): string | undefined => {
  if (analysis.alwaysDeniedReason !== undefined) return `Never allowed: ${analysis.alwaysDeniedReason}.`;
  const rule = deny.find((words) => isNamedBy(words, analysis));
  if (rule !== undefined) return `A rule denies ${rule.join(" ")}.`;
  const denied = analysis.writes.find(({ place }) => place === "denied");
  if (denied !== undefined) return denied.reason;
  const outside = mode === "yolo" ? analysis.writes.find(({ place }) => place === "outside") : undefined;
  return outside && `${outside.path} is outside the workspace, and yolo mode does not ask.`;
};

/** Whether a command line might run what a rule on the deny or ask list names. */
const isNamedBy = (rule: readonly string[], { runs, unparsedTexts }: CommandAnalysis): boolean =>
  rule.some(hasStar)
    ? runs.some((words) => matchesStars(rule, words)) || unparsedTexts.some((text) => mentionsWords(rule, text))
    : rule.length > 0 &&
      (runs.some((words) => matchesRule(rule, words)) ||
        unparsedTexts.some((text) => mentionsName(rule[0] ?? "", text)));

/** Whether a command begins as a rule with `*` says, its program named with or without a path. */
const matchesStars = (rule: readonly string[], words: CommandWords): boolean => {
  const line = words.map(sourceText).join(" ");
  const pattern = `${rule.join(" ")}*`.toLowerCase();
  return [line, line.replace(/^\S*\//, "")].some((text) => matchesGlob(pattern, text.toLowerCase()));
};

/** Whether a text that could not be parsed contains the pieces of a rule between its `*`. */
const mentionsWords = (rule: readonly string[], text: string): boolean =>
  rule
    .join(" ")
    .split("*")
    .every((piece) => text.toLowerCase().includes(piece.trim().toLowerCase()));

/** Whether a rule matches. Options with values may come between the words of a rule; an option in a rule may come anywhere. */
const matchesRule = ([name = "", ...rest]: readonly string[], words: CommandWords): boolean => {
  const [first, ...others] = words;
  if (first === undefined || !couldMatchName(first, basename(name))) return false;
  let from = 0;
  return rest.every((expected) => {
    if (expected.startsWith("-")) return others.some((word) => sourceText(word) === expected);
    const at = others.findIndex(
      (word, index) => index >= from && (literalText(word) === undefined || literalText(word) === expected),
    );
    if (at < 0 || !others.slice(from, at).every((_, index) => isOptionOrValue(others, from + index, from)))
      return false;
    from = at + 1;
    return true;
  });
};

/** Whether a word could be an option or the value of one. */
const isOptionOrValue = (words: CommandWords, at: number, from: number): boolean => {
  const isOption = (word: CommandWords[number] | undefined): boolean =>
    word !== undefined && /^-|=/.test(sourceText(word));
  return isOption(words[at]) || (at > from && isOption(words[at - 1]));
};

/** Searches a text that could not be parsed for a program name wherever a command could start. */
const mentionsName = (name: string, text: string): boolean => {
  const unquoted = text.replace(/\\\r?\n/g, "").replace(/['"\\]/g, "");
  const escaped = basename(name).replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(String.raw`(?:^|[\s;&|()\x60{}!$/=])${escaped}(?:$|[\s;&|()<>\x60{}])`, "i").test(unquoted);
};

const basename = (name: string): string => name.slice(name.lastIndexOf("/") + 1);
