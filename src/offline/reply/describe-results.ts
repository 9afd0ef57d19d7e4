import { describeIntent } from "../intent/describe-intent.ts";
import { summarizeFile } from "./summarize-file.ts";
import type { ToolExchange } from "../api/parsed-request.ts";
import { errorHint } from "./error-hints.ts";
import { textOf } from "../json.ts";
import { parseOutcome, type ExchangeOutcome } from "../plan/outcome.ts";
import type { CallPlan, IntentProgress } from "../plan/plan.ts";
import { parseFileText } from "../plan/tool-results.ts";
import {
  describeAppend,
  describeEdit,
  describeFetch,
  describeRemember,
  describeRun,
  describeWrite,
} from "./describe-actions.ts";
import {
  describeFile,
  describeFind,
  describeListing,
  describeManyFiles,
  describeRead,
  describeSearch,
  describeSize,
} from "./describe-files.ts";
import type { Intent } from "../intent/intent.ts";
import { codeBlock, joinList, endSentence, excerpt } from "./text.ts";

/** Describes the steps that were not started because an earlier one failed. */
export const describeRemaining = ({ remaining }: CallPlan): readonly string[] =>
  remaining.length === 0 ? [] : [`I stopped there and did not ${joinList(remaining.map(describeIntent))}.`];

/** Describes the outcome of an intent from the results of its calls; empty if it took none. */
export const describeProgress = (work: IntentProgress): readonly string[] => {
  const { intent, exchanges, blockedBy } = work;
  if (blockedBy !== undefined) return [`I could not ${describeIntent(intent)}: ${blockedBy}.`];
  if (exchanges.length === 0) return [];
  if (intent.type === "survey") return [describeOverview(exchanges)];
  const [last] = exchanges.slice(-1);
  return last === undefined ? [] : [describeExchange(intent, last)];
};

const describeExchange = (intent: Intent, exchange: ToolExchange): string => {
  const outcome = parseOutcome(exchange);
  return outcome.status === "done"
    ? describeSuccess(intent, exchange, outcome.text)
    : describeFailure(describeIntent(intent), outcome);
};

/** Describes an unsuccessful call and why. */
const describeFailure = (action: string, { status, text }: ExchangeOutcome): string => {
  const hint = errorHint(text);
  switch (status) {
    case "refused": {
      const [, reason] = /^The user refused this call: ([\s\S]+)$/.exec(text) ?? [];
      return `You denied my request to ${action}${reason === undefined ? "" : ` (${reason.trim()})`}, so I did not do it.`;
    }
    case "cancelled":
      return `I wanted to ${action}, but the call was cancelled. ${endSentence(firstLines(text))}`;
    case "interrupted":
      return `I wanted to ${action}, but the run was interrupted and no result was recorded; it may or may not have had an effect.`;
    case "failed":
    case "done":
      return [`I could not ${action}: ${endSentence(firstLines(text))}`, ...(hint === undefined ? [] : [hint])].join(
        " ",
      );
  }
};

const firstLines = (text: string): string => excerpt(text, { most: 12 }).text;

const describeSuccess = (intent: Intent, exchange: ToolExchange, text: string): string => {
  switch (intent.type) {
    case "list":
      return describeListing(intent, text);
    case "read":
      return describeRead(intent, exchange);
    case "read-many":
      return describeManyFiles(text);
    case "find":
      return describeFind(intent, text);
    case "search":
      return describeSearch(intent, text);
    case "size":
      return describeSize(intent, text);
    case "run":
      return describeRun(intent, text);
    case "write":
      return describeWrite(intent, text);
    case "append":
      return describeAppend(intent, text);
    case "edit":
      return describeEdit(intent, text);
    case "fetch":
      return describeFetch(text);
    case "web":
      return text.trim();
    case "remember":
      return describeRemember(intent, text);
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
      return describeAnyExchange(exchange);
  }
};

/** Describes the result of any tool, for calls that were not planned here. */
export const describeAnyExchange = (exchange: ToolExchange): string => {
  const outcome = parseOutcome(exchange);
  if (outcome.status !== "done") return describeFailure(`use ${exchange.tool}`, outcome);
  const files = exchange.result?.files ?? [];
  const shown = excerpt(outcome.text, { most: 30 });
  const seen = files.length === 0 ? "" : ` It gave ${joinList(files.map(describeFile))}.`;
  const words = outcome.text.trim() === "" || (files.length > 0 && /^See file \S+$/.test(outcome.text.trim()));
  return words
    ? `${exchange.tool} returned no text.${seen}`
    : `${exchange.tool} returned:\n\n${codeBlock(shown.text)}${seen}`;
};

/** Describes a project: its folder and its most informative files. */
const describeOverview = ([listing, ...reads]: readonly ToolExchange[]): string => {
  if (listing === undefined) return "";
  const gists = reads.map((exchange) => {
    const path = textOf(Object.values(exchange.input)[0]);
    const outcome = parseOutcome(exchange);
    return outcome.status === "done"
      ? `${path}: ${summarizeFile(path, parseFileText(outcome.text).text)}`
      : describeFailure(`read ${path}`, outcome);
  });
  return [describeExchange({ type: "list", path: "." }, listing), ...gists].join("\n\n");
};
