import { describe } from "./describe.ts";
import { gistOf } from "./gist.ts";
import type { Exchange } from "./heard.ts";
import { hintOf } from "./hints.ts";
import { textOf } from "./json.ts";
import { outcomeOf, type Outcome } from "./outcome.ts";
import type { Plan, Work } from "./plan.ts";
import { fileTextOf } from "./results.ts";
import { tellAppend, tellEdit, tellFetch, tellRemember, tellRun, tellWrite } from "./tell-deeds.ts";
import { describeFile, tellFind, tellList, tellMany, tellRead, tellSearch, tellSize } from "./tell-files.ts";
import type { Wish } from "./wish.ts";
import { block, listed, sentence, some } from "./words.ts";

/** What was not begun because of what came before it. */
export const tellLeft = ({ left }: Plan): readonly string[] =>
  left.length === 0 ? [] : [`I stopped there and did not ${listed(left.map(describe))}.`];

/** What was done about a wish, in sentences from what its calls returned; nothing where it took none. */
export const tellWork = (work: Work): readonly string[] => {
  const { wish, done, lacks } = work;
  if (lacks !== undefined) return [`I could not ${describe(wish)}: ${lacks}.`];
  if (done.length === 0) return [];
  if (wish.type === "survey") return [tellSurvey(done)];
  const [last] = done.slice(-1);
  return last === undefined ? [] : [tellOne(wish, last)];
};

const tellOne = (wish: Wish, exchange: Exchange): string => {
  const outcome = outcomeOf(exchange);
  return outcome.status === "done" ? tellDone(wish, exchange, outcome.text) : tellUndone(describe(wish), outcome);
};

/** What did not come about, and why. */
const tellUndone = (deed: string, { status, text }: Outcome): string => {
  const hint = hintOf(text);
  switch (status) {
    case "refused": {
      const [, reason] = /^The user refused this call: ([\s\S]+)$/.exec(text) ?? [];
      return `You refused to let me ${deed}${reason === undefined ? "" : ` (${reason.trim()})`}, so I did not.`;
    }
    case "cancelled":
      return `I was to ${deed}, but the call was cancelled. ${sentence(firstLines(text))}`;
    case "interrupted":
      return `I was to ${deed}, but the run was interrupted and no result was recorded; whether it had any effect is unknown.`;
    case "failed":
    case "done":
      return [`I could not ${deed}: ${sentence(firstLines(text))}`, ...(hint === undefined ? [] : [hint])].join(" ");
  }
};

const firstLines = (text: string): string => some(text, { most: 12 }).text;

const tellDone = (wish: Wish, exchange: Exchange, text: string): string => {
  switch (wish.type) {
    case "list":
      return tellList(wish, text);
    case "read":
      return tellRead(wish, exchange);
    case "read-many":
      return tellMany(text);
    case "find":
      return tellFind(wish, text);
    case "search":
      return tellSearch(wish, text);
    case "size":
      return tellSize(wish, text);
    case "run":
      return tellRun(wish, text);
    case "write":
      return tellWrite(wish, text);
    case "append":
      return tellAppend(wish, text);
    case "edit":
      return tellEdit(wish, text);
    case "fetch":
      return tellFetch(text);
    case "web":
      return text.trim();
    case "remember":
      return tellRemember(wish, text);
    case "use":
    case "survey":
    case "greet":
    case "thank":
    case "identity":
    case "abilities":
    case "continue":
    case "again":
    case "explain":
    case "attached":
    case "unknown":
      return tellAny(exchange);
  }
};

/** What any tool returned, for calls that were not planned here. */
export const tellAny = (exchange: Exchange): string => {
  const outcome = outcomeOf(exchange);
  if (outcome.status !== "done") return tellUndone(`use ${exchange.tool}`, outcome);
  const files = exchange.result?.files ?? [];
  const shown = some(outcome.text, { most: 30 });
  const seen = files.length === 0 ? "" : ` It gave ${listed(files.map(describeFile))}.`;
  const words = outcome.text.trim() === "" || (files.length > 0 && /^See file \S+$/.test(outcome.text.trim()));
  return words
    ? `${exchange.tool} returned no words.${seen}`
    : `${exchange.tool} returned:\n\n${block(shown.text)}${seen}`;
};

/** What a project is: what its folder holds, and what the files say that tell most. */
const tellSurvey = ([listing, ...reads]: readonly Exchange[]): string => {
  if (listing === undefined) return "";
  const gists = reads.map((exchange) => {
    const path = textOf(Object.values(exchange.input)[0]);
    const outcome = outcomeOf(exchange);
    return outcome.status === "done"
      ? `${path}: ${gistOf(path, fileTextOf(outcome.text).text)}`
      : tellUndone(`read ${path}`, outcome);
  });
  return [tellOne({ type: "list", path: "." }, listing), ...gists].join("\n\n");
};
