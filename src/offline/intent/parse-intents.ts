import { splitClauses, trimClause } from "./clauses.ts";
import { maskQuotations } from "./quotations.ts";
import { matchPhrases, definePhrase, type LastMentioned, type Phrase } from "./phrase.ts";
import { changePhrases } from "./phrases/change.ts";
import { findPhrases, searchPhrases } from "./phrases/find.ts";
import { listPhrases, readPhrases, overviewPhrases } from "./phrases/look.ts";
import { commandPhrases, isCommandLine, shortcutPhrases } from "./phrases/run.ts";
import { smallTalkPhrases } from "./phrases/small-talk.ts";
import type { IntentStep, Intent } from "./intent.ts";

/** Parses the intents of a request, in order. A clause that is not understood becomes an intent of type `unknown`. */
export const parseIntents = (text: string, before: LastMentioned = {}): readonly IntentStep[] => {
  const quotations = maskQuotations(text);
  const request = trimClause(quotations.text.slice(0, maxParsedLength).replaceAll(/[ \t]+/g, " "));
  let mentioned = before;
  const steps: IntentStep[] = [];
  for (const { text: clause, isLater } of splitClauses(request, startsAction)) {
    const intents = matchPhrases(phrases, clause, quotations, mentioned) ?? [
      { type: "unknown" as const, text: quotations.restore(clause) },
    ];
    steps.push(...intents.map((intent, index) => ({ intent, isLater: isLater && index === 0 })));
    mentioned = lastMentioned(intents, mentioned);
  }
  // A request is executed entirely or not at all: nothing is changed or sent unless all of it is understood.
  const isPartial =
    steps.some(({ intent }) => intent.type === "unknown") && steps.some(({ intent }) => !isReadOnlyIntent(intent));
  return isPartial ? [{ intent: { type: "unknown", text: quotations.restore(request) }, isLater: false }] : steps;
};

/** Whether an intent has no side effects. */
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

/** Requests are parsed up to this length, quotations aside; the rest is material. */
const maxParsedLength = 4000;

/** Returns the path that "it" refers to after these intents. */
export const lastMentioned = (intents: readonly Intent[], before: LastMentioned): LastMentioned =>
  intents.reduce(
    (known, intent) =>
      "path" in intent && intent.path !== undefined && intent.path !== "." ? { path: intent.path } : known,
    before,
  );

/** A URL in a request is fetched, whatever else the sentence says. */
const fetchPhrases: readonly Phrase[] = [
  definePhrase(".*https?://\\S.*", ({ clause }) =>
    isCommandLine(clause) || /^(?:run|execute|remember|create|write|replace|search the web)\b/i.test(clause)
      ? undefined
      : { type: "fetch", prompt: clause },
  ),
];

const memoryPhrases: readonly Phrase[] = [
  definePhrase(
    "(?:remember|memori[sz]e|don't forget|do not forget|save to memory)(?: that| this| the fact that)?[:,]? (?<fact>.+)",
    ({ quotations, masked }) => ({
      type: "remember",
      fact: quotations.restore(masked("fact")),
    }),
  ),
];

const toolPhrases: readonly Phrase[] = [
  definePhrase(
    "(?:call|use|invoke|run) (?:the )?(?:tool )?(?<tool>[\\w.-]+)(?: tool)?(?: with| on|:)? (?<input>\\{.*\\})",
    ({ quotations, masked }) => {
      const input = parseInput(quotations.restore(masked("input")));
      return input === undefined ? undefined : { type: "use", tool: masked("tool"), input };
    },
  ),
  definePhrase("(?:call|use|invoke) the (?:tool (?<tool>[\\w.-]+)|(?<other>[\\w.-]+) tool)", ({ masked }) => ({
    type: "use",
    tool: masked("tool") || masked("other"),
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

/** All phrases. The first match wins, so narrow patterns come before wide ones. */
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

/** Verbs that start another action. */
const actionVerbs =
  /^(?:read|show|open|print|display|cat|view|list|ls|find|search|grep|look|locate|count|run|execute|write|create|make|append|add|put|save|replace|change|edit|update|fix|rename|move|copy|delete|remove|fetch|download|get|visit|summari[sz]e|explain|describe|review|analy[sz]e|tell|remember|check|use|call|invoke|install|give|touch|what|what's|how|which|where|who|why|when)\s+\S/i;

const startsAction = (words: string): boolean => actionVerbs.test(words) || isCommandLine(words);
