import { toolCallFor, type SingleCallIntent } from "./tool-calls.ts";
import type { ToolExchange, DemoTool, DemoToolCall } from "../api/parsed-request.ts";
import { parseOutcome } from "./outcome.ts";
import { parseFileText, parseListing } from "./tool-results.ts";
import type { IntentStep, Intent } from "../intent/intent.ts";

/** The calls made for an intent, and the calls to make next. */
export type IntentProgress = {
  readonly intent: Intent;
  readonly exchanges: readonly ToolExchange[];
  readonly nextCalls: readonly DemoToolCall[];
  /** Why it cannot be continued. */
  readonly blockedBy?: string;
};

/** The calls to make now; if there are none, what was done and what was not started. */
export type CallPlan = {
  readonly nextCalls: readonly DemoToolCall[];
  readonly progress: readonly IntentProgress[];
  readonly remaining: readonly Intent[];
};

/**
 * Matches intents with the calls already made and plans the next ones. Read-only intents run together; one with side
 * effects waits for those before it, and those after it wait for it.
 */
export const planCalls = (
  steps: readonly IntentStep[],
  tools: readonly DemoTool[],
  pastCalls: readonly ToolExchange[],
): CallPlan => {
  const all: IntentProgress[] = [];
  const stages = groupStages(steps);
  // Results from before a change may be outdated after it.
  let recent = pastCalls;
  for (const [index, stage] of stages.entries()) {
    const progress = stage.map((intent) => progressOf(intent, tools, recent));
    const next = uniqueCalls(progress.flatMap(({ nextCalls }) => nextCalls));
    if (next.length > 0) return { nextCalls: next, progress: all, remaining: stages.slice(index).flat() };
    all.push(...progress);
    const used = progress.flatMap(({ intent, exchanges }) =>
      intentsWithSideEffects.has(intent.type) ? exchanges : [],
    );
    recent = recent.slice(Math.max(-1, ...used.map((exchange) => recent.indexOf(exchange))) + 1);
    if (progress.some(isBlocking)) return { nextCalls: [], progress: all, remaining: stages.slice(index + 1).flat() };
  }
  return { nextCalls: [], progress: all, remaining: [] };
};

/** Identifies a call by tool and input. */
const keyOf = ({ tool, input }: DemoToolCall): string =>
  JSON.stringify([tool, Object.entries(input).toSorted(([one], [other]) => (one < other ? -1 : 1))]);

const uniqueCalls = (calls: readonly DemoToolCall[]): readonly DemoToolCall[] => [
  ...new Map(calls.map((call) => [keyOf(call), call])).values(),
];

const groupStages = (steps: readonly IntentStep[]): readonly (readonly Intent[])[] => {
  const stages: Intent[][] = [];
  for (const { intent, isLater } of steps) {
    const last = stages.at(-1);
    if (last === undefined || isLater || !canRunTogether(intent, last)) stages.push([intent]);
    else last.push(intent);
  }
  return stages;
};

const intentsWithSideEffects: ReadonlySet<Intent["type"]> = new Set(["run", "write", "append", "edit", "use"]);

/** Reads run with reads, and writes with writes to other files. */
const canRunTogether = (intent: Intent, others: readonly Intent[]): boolean => {
  if (!intentsWithSideEffects.has(intent.type)) return !others.some(({ type }) => intentsWithSideEffects.has(type));
  return intent.type === "write" && others.every((other) => other.type === "write" && other.path !== intent.path);
};

/** Whether later steps must not start: the user intervened, or a step they build on failed. */
const isBlocking = ({ intent, exchanges, blockedBy }: IntentProgress): boolean => {
  const states = exchanges.map((exchange) => parseOutcome(exchange).status);
  if (states.some((status) => status !== "done" && status !== "failed")) return true;
  return intentsWithSideEffects.has(intent.type) && (blockedBy !== undefined || states.includes("failed"));
};

const progressOf = (intent: Intent, tools: readonly DemoTool[], pastCalls: readonly ToolExchange[]): IntentProgress => {
  switch (intent.type) {
    case "survey":
      return progressOfOverview(intent, tools, pastCalls);
    case "append":
      return progressOfAppend(intent, tools, pastCalls);
    case "greet":
    case "thank":
    case "identity":
    case "abilities":
    case "continue":
    case "again":
    case "explain":
    case "attached":
    case "unknown":
      return { intent: intent, exchanges: [], nextCalls: [] };
    case "list":
    case "read":
    case "read-many":
    case "find":
    case "search":
    case "size":
    case "run":
    case "write":
    case "edit":
    case "fetch":
    case "web":
    case "remember":
    case "use":
      return progressOfCall(intent, intent, tools, pastCalls);
  }
};

/** The progress of an intent that takes one call. */
const progressOfCall = (
  intent: Intent,
  step: SingleCallIntent,
  tools: readonly DemoTool[],
  pastCalls: readonly ToolExchange[],
): IntentProgress => {
  const call = toolCallFor(step, tools);
  if (typeof call === "string")
    return { intent: intent, exchanges: [], nextCalls: [], blockedBy: missingToolText(call) };
  const found = pastCalls.find((exchange) => keyOf(exchange) === keyOf(call));
  return found === undefined
    ? { intent: intent, exchanges: [], nextCalls: [call] }
    : { intent: intent, exchanges: [found], nextCalls: [] };
};

const missingToolText = (tool: string): string => `there is no tool ${tool} in this session`;

/** Files that describe a project, most informative first. */
const overviewFiles = ["README.md", "README", "readme.md", "package.json", "pyproject.toml", "Cargo.toml", "go.mod"];

const progressOfOverview = (
  intent: Intent,
  tools: readonly DemoTool[],
  pastCalls: readonly ToolExchange[],
): IntentProgress => {
  const listed = progressOfCall(intent, { type: "list", path: "." }, tools, pastCalls);
  const [listing] = listed.exchanges;
  if (listing === undefined) return listed;
  const names = parseListing(parseOutcome(listing).text).map(({ name }) => name);
  const reads = overviewFiles
    .filter((name) => names.includes(name))
    .slice(0, 2)
    .map((path) => progressOfCall(intent, { type: "read", path }, tools, pastCalls));
  return {
    intent: intent,
    exchanges: [listing, ...reads.flatMap(({ exchanges }) => exchanges)],
    nextCalls: reads.flatMap(({ nextCalls }) => nextCalls),
  };
};

/** Reads the file, then writes it with the text appended. */
const progressOfAppend = (
  intent: Extract<Intent, { type: "append" }>,
  tools: readonly DemoTool[],
  pastCalls: readonly ToolExchange[],
): IntentProgress => {
  const read = progressOfCall(intent, { type: "read", path: intent.path }, tools, pastCalls);
  const [seen] = read.exchanges;
  if (seen === undefined || parseOutcome(seen).status !== "done") return read;
  const { text, part } = parseFileText(parseOutcome(seen).text);
  if (part !== undefined) return { ...read, blockedBy: `${intent.path} is too long for me to rewrite` };
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  const written = progressOfCall(
    intent,
    { type: "write", path: intent.path, content: `${text}${gap}${intent.content}\n` },
    tools,
    pastCalls,
  );
  return { ...written, exchanges: [...read.exchanges, ...written.exchanges] };
};
