import { splitClauses, trimClause } from "./clauses.ts";
import { maskQuotations } from "./quotations.ts";
import { matchPhrases, definePhrase, type LastMentioned, type Phrase } from "./phrase.ts";
import { changePhrases } from "./phrases/change.ts";
import { findPhrases, searchPhrases } from "./phrases/find.ts";
import { listPhrases, readPhrases, overviewPhrases } from "./phrases/look.ts";
import { commandPhrases, isCommandLine, shortcutPhrases } from "./phrases/run.ts";
import { smallTalkPhrases } from "./phrases/small-talk.ts";
import type { IntentStep, Intent } from "./intent.ts";

/** What a person wants, in the order it was said. What nobody understands is a wish too, of type `unknown`. */
export const parseIntents = (text: string, before: LastMentioned = {}): readonly IntentStep[] => {
  const held = maskQuotations(text);
  const whole = trimClause(held.text.slice(0, maxParsedLength).replaceAll(/[ \t]+/g, " "));
  let known = before;
  const wanted: IntentStep[] = [];
  for (const { text: clause, isLater } of splitClauses(whole, startsAction)) {
    const intents = matchPhrases(phrases, clause, held, known) ?? [
      { type: "unknown" as const, text: held.restore(clause) },
    ];
    wanted.push(...intents.map((intent, index) => ({ intent, isLater: isLater && index === 0 })));
    known = lastMentioned(intents, known);
  }
  // Half of a request is no request: nothing is changed or sent before all of it is understood.
  const isHalf =
    wanted.some(({ intent: wish }) => wish.type === "unknown") &&
    wanted.some(({ intent: wish }) => !isReadOnlyIntent(wish));
  return isHalf ? [{ intent: { type: "unknown", text: held.restore(whole) }, isLater: false }] : wanted;
};

/** Whether fulfilling a wish only looks at files, or only talks. */
const isReadOnlyIntent = ({ type }: Intent): boolean => !intentsWithSideEffects.has(type);

const intentsWithSideEffects: ReadonlySet<Intent["type"]> = new Set([
  "run",
  "write",
  "append",
  "edit",
  "fetch",
  "web",
  "remember",
  "use",
]);

/** Nobody asks in more words than these, quotations aside; what follows is material. */
const maxParsedLength = 4000;

/** What "it" is after these wishes. */
export const lastMentioned = (wishes: readonly Intent[], before: LastMentioned): LastMentioned =>
  wishes.reduce(
    (known, wish) => ("path" in wish && wish.path !== undefined && wish.path !== "." ? { path: wish.path } : known),
    before,
  );

/** An address that is spoken of is to be read, whatever else is said of it. */
const fetchPhrases: readonly Phrase[] = [
  definePhrase(".*https?://\\S.*", ({ clause: whole }) =>
    isCommandLine(whole) || /^(?:run|execute|remember|create|write|replace|search the web)\b/i.test(whole)
      ? undefined
      : { type: "fetch", prompt: whole },
  ),
];

const memoryPhrases: readonly Phrase[] = [
  definePhrase(
    "(?:remember|memori[sz]e|don't forget|do not forget|save to memory)(?: that| this| the fact that)?[:,]? (?<fact>.+)",
    ({ quotations: held, masked: words }) => ({
      type: "remember",
      fact: held.restore(words("fact")),
    }),
  ),
];

const toolPhrases: readonly Phrase[] = [
  definePhrase(
    "(?:call|use|invoke|run) (?:the )?(?:tool )?(?<tool>[\\w.-]+)(?: tool)?(?: with| on|:)? (?<input>\\{.*\\})",
    ({ quotations: held, masked: words }) => {
      const input = parseInput(held.restore(words("input")));
      return input === undefined ? undefined : { type: "use", tool: words("tool"), input };
    },
  ),
  definePhrase("(?:call|use|invoke) the (?:tool (?<tool>[\\w.-]+)|(?<other>[\\w.-]+) tool)", ({ masked: words }) => ({
    type: "use",
    tool: words("tool") || words("other"),
    input: {},
  })),
];

const parseInput = (json: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
};

/** All phrases. The first that fits counts, so the narrow stand before the wide. */
const phrases: readonly Phrase[] = [
  ...toolPhrases,
  ...memoryPhrases,
  ...smallTalkPhrases,
  ...fetchPhrases,
  ...shortcutPhrases,
  ...changePhrases,
  ...findPhrases,
  ...readPhrases,
  ...overviewPhrases,
  ...listPhrases,
  ...searchPhrases,
  ...commandPhrases,
];

/** Words that begin something else to do. */
const actionVerbs =
  /^(?:read|show|open|print|display|cat|view|list|ls|find|search|grep|look|locate|count|run|execute|write|create|make|append|add|put|save|replace|change|edit|update|fix|rename|move|copy|delete|remove|fetch|download|get|visit|summari[sz]e|explain|describe|review|analy[sz]e|tell|remember|check|use|call|invoke|install|give|touch|what|what's|how|which|where|who|why|when)\s+\S/i;

const startsAction = (words: string): boolean => actionVerbs.test(words) || isCommandLine(words);
