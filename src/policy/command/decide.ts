import type { CommandAnalysis, SimpleCommand } from "./analysis.ts";
import type { CommandWords } from "./effects/nested.ts";
import { couldMatchName, literalText, sourceText } from "./parse/word.ts";
import type { ApprovalMode } from "../gate/approval-mode.ts";

/** The rules a command is judged by: commands by their first words. */
export type CommandRules = {
  readonly allow: readonly (readonly string[])[];
  /** Commands allowed only word for word. */
  readonly exact?: readonly (readonly string[])[];
  readonly deny: readonly (readonly string[])[];
  readonly mode: ApprovalMode;
  /** Whether everything must be named by a rule: then not even reading goes without one. */
  readonly isAllowListOnly?: boolean;
};

/** What may become of a command line, and why. Parts are its commands, each judged alone. */
export type CommandDecision = {
  readonly decision: AllowAskDeny;
  readonly reason: string;
  readonly parts: readonly DecidedPart[];
  /** Whether it is asked about in every mode. */
  readonly asksInEveryMode?: true;
};

type DecidedPart = { readonly command: string; readonly decision: AllowAskDeny; readonly reason: string };

type AllowAskDeny = "allow" | "ask" | "deny";

/**
 * Judges a command line. Denying looks at everything that might run, however it
 * is wrapped; allowing only at plain words that a rule or knowledge of the
 * program covers, each and every one.
 */
export const decideCommand = (analysis: CommandAnalysis, ruling: CommandRules): CommandDecision => {
  const parts = analysis.commands.map((command) => decidePart(command, ruling));
  const judged = (decision: AllowAskDeny, reason: string): CommandDecision => ({ decision, reason, parts });
  const forbidden = findDenyReason(analysis, ruling);
  if (forbidden !== undefined) return judged("deny", forbidden);
  if (ruling.mode === "yolo" && ruling.isAllowListOnly !== true) {
    const asked = analysis.writes.find(({ place }) => place === "guarded");
    if (asked !== undefined) return judged("ask", asked.reason);
    if (analysis.unclearReason === undefined || ruling.deny.length === 0)
      return judged("allow", "Everything runs in this mode.");
    return {
      ...judged("ask", `A rule denies ${ruling.deny[0]?.join(" ")}, and this may run it: ${analysis.unclearReason}.`),
      asksInEveryMode: true,
    };
  }
  const asked = parts.find(({ decision }) => decision === "ask");
  const reads = analysis.commands.every(({ requiredWords: needs }) => needs === 0);
  if (ruling.mode === "plan" && (analysis.shape === "opaque" || !reads))
    return judged("deny", "Plan mode only reads, and this is not known to do nothing else.");
  if (analysis.shape === "opaque")
    return judged(
      "ask",
      `This is more than plain commands (${analysis.reason}), so nothing but a person can allow it.`,
    );
  return asked === undefined ? judged("allow", "Every command in it is allowed.") : judged("ask", asked.reason);
};

const decidePart = (
  { words, requiredWords: needs, reason: why }: SimpleCommand,
  { allow, exact = [], isAllowListOnly: only }: CommandRules,
): DecidedPart => {
  const command = words.join(" ");
  if (needs === undefined) return { command, decision: "ask", reason: `${command}: ${why}.` };
  const least = only === true ? Math.max(1, needs) : needs;
  if (least === 0) return { command, decision: "allow", reason: why };
  const begins = (rule: readonly string[]): boolean => rule.every((word, at) => word === words[at]);
  const isAllowed =
    allow.some((rule) => rule.length >= least && begins(rule)) ||
    exact.some((rule) => rule.length === words.length && begins(rule));
  return isAllowed
    ? { command, decision: "allow", reason: "A rule allows it." }
    : { command, decision: "ask", reason: `${command}: ${why}, and no rule allows it.` };
};

/** Why this never runs, or not by the rules there are. */
const findDenyReason = (analysis: CommandAnalysis, { deny, mode }: CommandRules): string | undefined => {
  if (analysis.alwaysDeniedReason !== undefined) return `This never runs: ${analysis.alwaysDeniedReason}.`;
  const rule = deny.find((words) => isDeniedBy(words, analysis));
  if (rule !== undefined) return `A rule denies ${rule.join(" ")}.`;
  const kept = analysis.writes.find(({ place }) => place === "kept");
  if (kept !== undefined) return kept.reason;
  const outside = mode === "yolo" ? analysis.writes.find(({ place }) => place === "outside") : undefined;
  return outside && `${outside.path} lies outside the workspace, and nobody is asked in this mode.`;
};

const isDeniedBy = (rule: readonly string[], { runs, unparsedTexts: unread }: CommandAnalysis): boolean =>
  rule.length > 0 &&
  (runs.some((words) => matchesRule(rule, words)) || unread.some((text) => mentionsName(rule[0] ?? "", text)));

/** Options may stand between the words of a rule, each with a value. An option in a rule may stand anywhere. */
const matchesRule = ([name = "", ...rest]: readonly string[], words: CommandWords): boolean => {
  const [first, ...others] = words;
  if (first === undefined || !couldMatchName(first, basename(name))) return false;
  let from = 0;
  return rest.every((wanted) => {
    if (wanted.startsWith("-")) return others.some((word) => sourceText(word) === wanted);
    const at = others.findIndex(
      (word, index) => index >= from && (literalText(word) === undefined || literalText(word) === wanted),
    );
    if (at < 0 || !others.slice(from, at).every((_, index) => isOptionOrValue(others, from + index, from)))
      return false;
    from = at + 1;
    return true;
  });
};

/** Whether a word could be an option, or the value of one. */
const isOptionOrValue = (words: CommandWords, at: number, from: number): boolean => {
  const isOption = (word: CommandWords[number] | undefined): boolean =>
    word !== undefined && /^-|=/.test(sourceText(word));
  return isOption(words[at]) || (at > from && isOption(words[at - 1]));
};

/** A text nothing could read is searched for the name wherever a command could stand. */
const mentionsName = (name: string, text: string): boolean => {
  const bare = text.replace(/\\\r?\n/g, "").replace(/['"\\]/g, "");
  const quoted = basename(name).replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(String.raw`(?:^|[\s;&|()\x60{}!$/=])${quoted}(?:$|[\s;&|()<>\x60{}])`, "i").test(bare);
};

const basename = (name: string): string => name.slice(name.lastIndexOf("/") + 1);
