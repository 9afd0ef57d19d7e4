import { clausesOf, plainClause } from "./clauses.ts";
import { hold } from "./held.ts";
import { firstFit, when, type Before, type Phrase } from "./phrase.ts";
import { changes } from "./phrases-change.ts";
import { finds, searches } from "./phrases-find.ts";
import { listing, reading, surveying } from "./phrases-look.ts";
import { commands, isCommand, usual } from "./phrases-run.ts";
import { talk } from "./phrases-talk.ts";
import type { Wanted, Wish } from "./wish.ts";

/** What a person wants, in the order it was said. What nobody understands is a wish too, of type `unknown`. */
export const wishesOf = (text: string, before: Before = {}): readonly Wanted[] => {
  const held = hold(text);
  const whole = plainClause(held.text.slice(0, mostRead).replaceAll(/[ \t]+/g, " "));
  let known = before;
  const wanted: Wanted[] = [];
  for (const { text: clause, later } of clausesOf(whole, isDoing)) {
    const wishes = firstFit(phrases, clause, held, known) ?? [{ type: "unknown" as const, text: held.raw(clause) }];
    wanted.push(...wishes.map((wish, index) => ({ wish, later: later && index === 0 })));
    known = lastNamed(wishes, known);
  }
  // Half of a request is no request: nothing is changed or sent before all of it is understood.
  const isHalf = wanted.some(({ wish }) => wish.type === "unknown") && wanted.some(({ wish }) => !isHarmless(wish));
  return isHalf ? [{ wish: { type: "unknown", text: held.raw(whole) }, later: false }] : wanted;
};

/** Whether fulfilling a wish only looks at files, or only talks. */
const isHarmless = ({ type }: Wish): boolean => !effective.has(type);

const effective: ReadonlySet<Wish["type"]> = new Set([
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
const mostRead = 4000;

/** What "it" is after these wishes. */
export const lastNamed = (wishes: readonly Wish[], before: Before): Before =>
  wishes.reduce(
    (known, wish) => ("path" in wish && wish.path !== undefined && wish.path !== "." ? { path: wish.path } : known),
    before,
  );

/** An address that is spoken of is to be read, whatever else is said of it. */
const fetches: readonly Phrase[] = [
  when(".*https?://\\S.*", ({ whole }) =>
    isCommand(whole) || /^(?:run|execute|remember|create|write|replace|search the web)\b/i.test(whole)
      ? undefined
      : { type: "fetch", prompt: whole },
  ),
];

const memories: readonly Phrase[] = [
  when(
    "(?:remember|memori[sz]e|don't forget|do not forget|save to memory)(?: that| this| the fact that)?[:,]? (?<fact>.+)",
    ({ held, words }) => ({
      type: "remember",
      fact: held.raw(words("fact")),
    }),
  ),
];

const uses: readonly Phrase[] = [
  when(
    "(?:call|use|invoke|run) (?:the )?(?:tool )?(?<tool>[\\w.-]+)(?: tool)?(?: with| on|:)? (?<input>\\{.*\\})",
    ({ held, words }) => {
      const input = parsed(held.raw(words("input")));
      return input === undefined ? undefined : { type: "use", tool: words("tool"), input };
    },
  ),
  when("(?:call|use|invoke) the (?:tool (?<tool>[\\w.-]+)|(?<other>[\\w.-]+) tool)", ({ words }) => ({
    type: "use",
    tool: words("tool") || words("other"),
    input: {},
  })),
];

const parsed = (json: string): Readonly<Record<string, unknown>> | undefined => {
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
  ...uses,
  ...memories,
  ...talk,
  ...fetches,
  ...usual,
  ...changes,
  ...finds,
  ...reading,
  ...surveying,
  ...listing,
  ...searches,
  ...commands,
];

/** Words that begin something else to do. */
const doing =
  /^(?:read|show|open|print|display|cat|view|list|ls|find|search|grep|look|locate|count|run|execute|write|create|make|append|add|put|save|replace|change|edit|update|fix|rename|move|copy|delete|remove|fetch|download|get|visit|summari[sz]e|explain|describe|review|analy[sz]e|tell|remember|check|use|call|invoke|install|give|touch|what|what's|how|which|where|who|why|when)\s+\S/i;

const isDoing = (words: string): boolean => doing.test(words) || isCommand(words);
