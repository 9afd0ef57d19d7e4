import { toolCallFor, type SingleCallIntent } from "./tool-calls.ts";
import type { ToolExchange, DemoTool, DemoToolCall } from "../api/parsed-request.ts";
import { parseOutcome } from "./outcome.ts";
import { parseFileText, parseListing } from "./tool-results.ts";
import type { IntentStep, Intent } from "../intent/intent.ts";

/** What has been done about a wish, and what has to be called next. */
export type IntentProgress = {
  readonly intent: Intent;
  readonly exchanges: readonly ToolExchange[];
  readonly nextCalls: readonly DemoToolCall[];
  /** Why it cannot be gone on with. */
  readonly blockedBy?: string;
};

/** Where a request stands: the calls to make now; or, when there are none, what was done and what was not begun. */
export type CallPlan = {
  readonly nextCalls: readonly DemoToolCall[];
  readonly progress: readonly IntentProgress[];
  readonly remaining: readonly Intent[];
};

/**
 * Looks which wishes are fulfilled by calls already made, and plans the next
 * ones. What only looks is done together; what changes something waits for
 * what was said before it, and the rest waits for that.
 */
export const planCalls = (
  wanted: readonly IntentStep[],
  tools: readonly DemoTool[],
  made: readonly ToolExchange[],
): CallPlan => {
  const works: IntentProgress[] = [];
  const stages = groupStages(wanted);
  // What was seen before a change is not what is there after it.
  let since = made;
  for (const [index, stage] of stages.entries()) {
    const begun = stage.map((wish) => progressOf(wish, tools, since));
    const next = uniqueCalls(begun.flatMap(({ nextCalls: needs }) => needs));
    if (next.length > 0) return { nextCalls: next, progress: works, remaining: stages.slice(index).flat() };
    works.push(...begun);
    const used = begun.flatMap(({ intent: wish, exchanges: done }) =>
      intentsWithSideEffects.has(wish.type) ? done : [],
    );
    since = since.slice(Math.max(-1, ...used.map((exchange) => since.indexOf(exchange))) + 1);
    if (begun.some(isBlocking)) return { nextCalls: [], progress: works, remaining: stages.slice(index + 1).flat() };
  }
  return { nextCalls: [], progress: works, remaining: [] };
};

/** Whether two calls are the same. */
const keyOf = ({ tool, input }: DemoToolCall): string =>
  JSON.stringify([tool, Object.entries(input).toSorted(([one], [other]) => (one < other ? -1 : 1))]);

const uniqueCalls = (calls: readonly DemoToolCall[]): readonly DemoToolCall[] => [
  ...new Map(calls.map((call) => [keyOf(call), call])).values(),
];

const groupStages = (wanted: readonly IntentStep[]): readonly (readonly Intent[])[] => {
  const stages: Intent[][] = [];
  for (const { intent: wish, isLater: later } of wanted) {
    const last = stages.at(-1);
    if (last === undefined || later || !canRunTogether(wish, last)) stages.push([wish]);
    else last.push(wish);
  }
  return stages;
};

const intentsWithSideEffects: ReadonlySet<Intent["type"]> = new Set(["run", "write", "append", "edit", "use"]);

/** Looking goes with looking, and writing with writing to other files. */
const canRunTogether = (wish: Intent, others: readonly Intent[]): boolean => {
  if (!intentsWithSideEffects.has(wish.type)) return !others.some(({ type }) => intentsWithSideEffects.has(type));
  return wish.type === "write" && others.every((other) => other.type === "write" && other.path !== wish.path);
};

/** Whether what comes later should not be begun: the person stepped in, or what it builds on is not there. */
const isBlocking = ({ intent: wish, exchanges: done, blockedBy: lacks }: IntentProgress): boolean => {
  const states = done.map((exchange) => parseOutcome(exchange).status);
  if (states.some((status) => status !== "done" && status !== "failed")) return true;
  return intentsWithSideEffects.has(wish.type) && (lacks !== undefined || states.includes("failed"));
};

const progressOf = (wish: Intent, tools: readonly DemoTool[], made: readonly ToolExchange[]): IntentProgress => {
  switch (wish.type) {
    case "survey":
      return progressOfOverview(wish, tools, made);
    case "append":
      return progressOfAppend(wish, tools, made);
    case "greet":
    case "thank":
    case "identity":
    case "abilities":
    case "continue":
    case "again":
    case "explain":
    case "attached":
    case "unknown":
      return { intent: wish, exchanges: [], nextCalls: [] };
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
      return progressOfCall(wish, wish, tools, made);
  }
};

/** One call, made or to be made. */
const progressOfCall = (
  wish: Intent,
  step: SingleCallIntent,
  tools: readonly DemoTool[],
  made: readonly ToolExchange[],
): IntentProgress => {
  const call = toolCallFor(step, tools);
  if (typeof call === "string") return { intent: wish, exchanges: [], nextCalls: [], blockedBy: missingToolText(call) };
  const found = made.find((exchange) => keyOf(exchange) === keyOf(call));
  return found === undefined
    ? { intent: wish, exchanges: [], nextCalls: [call] }
    : { intent: wish, exchanges: [found], nextCalls: [] };
};

const missingToolText = (tool: string): string => `there is no tool ${tool} in this session`;

/** Files that say what a project is, the most telling first. */
const overviewFiles = ["README.md", "README", "readme.md", "package.json", "pyproject.toml", "Cargo.toml", "go.mod"];

const progressOfOverview = (
  wish: Intent,
  tools: readonly DemoTool[],
  made: readonly ToolExchange[],
): IntentProgress => {
  const listed = progressOfCall(wish, { type: "list", path: "." }, tools, made);
  const [listing] = listed.exchanges;
  if (listing === undefined) return listed;
  const names = parseListing(parseOutcome(listing).text).map(({ name }) => name);
  const reads = overviewFiles
    .filter((name) => names.includes(name))
    .slice(0, 2)
    .map((path) => progressOfCall(wish, { type: "read", path }, tools, made));
  return {
    intent: wish,
    exchanges: [listing, ...reads.flatMap(({ exchanges: done }) => done)],
    nextCalls: reads.flatMap(({ nextCalls: needs }) => needs),
  };
};

/** Reads the file, and then writes it with the text at its end. */
const progressOfAppend = (
  wish: Extract<Intent, { type: "append" }>,
  tools: readonly DemoTool[],
  made: readonly ToolExchange[],
): IntentProgress => {
  const read = progressOfCall(wish, { type: "read", path: wish.path }, tools, made);
  const [seen] = read.exchanges;
  if (seen === undefined || parseOutcome(seen).status !== "done") return read;
  const { text, part } = parseFileText(parseOutcome(seen).text);
  if (part !== undefined) return { ...read, blockedBy: `${wish.path} is too long for me to write it anew` };
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  const written = progressOfCall(
    wish,
    { type: "write", path: wish.path, content: `${text}${gap}${wish.content}\n` },
    tools,
    made,
  );
  return { ...written, exchanges: [...read.exchanges, ...written.exchanges] };
};
