import { callFor, type OneCall } from "./calls.ts";
import type { Exchange, Offered, ToolCall } from "./heard.ts";
import { outcomeOf } from "./outcome.ts";
import { fileTextOf, namesIn } from "./results.ts";
import type { Wanted, Wish } from "./wish.ts";

/** What has been done about a wish, and what has to be called next. */
export type Work = {
  readonly wish: Wish;
  readonly done: readonly Exchange[];
  readonly needs: readonly ToolCall[];
  /** Why it cannot be gone on with. */
  readonly lacks?: string;
};

/** Where a request stands: the calls to make now; or, when there are none, what was done and what was not begun. */
export type Plan = {
  readonly next: readonly ToolCall[];
  readonly works: readonly Work[];
  readonly left: readonly Wish[];
};

/**
 * Looks which wishes are fulfilled by calls already made, and plans the next
 * ones. What only looks is done together; what changes something waits for
 * what was said before it, and the rest waits for that.
 */
export const planOf = (wanted: readonly Wanted[], tools: readonly Offered[], made: readonly Exchange[]): Plan => {
  const works: Work[] = [];
  const stages = stagesOf(wanted);
  // What was seen before a change is not what is there after it.
  let since = made;
  for (const [index, stage] of stages.entries()) {
    const begun = stage.map((wish) => workOn(wish, tools, since));
    const next = distinct(begun.flatMap(({ needs }) => needs));
    if (next.length > 0) return { next, works, left: stages.slice(index).flat() };
    works.push(...begun);
    const used = begun.flatMap(({ wish, done }) => (changing.has(wish.type) ? done : []));
    since = since.slice(Math.max(-1, ...used.map((exchange) => since.indexOf(exchange))) + 1);
    if (begun.some(isInTheWay)) return { next: [], works, left: stages.slice(index + 1).flat() };
  }
  return { next: [], works, left: [] };
};

/** Whether two calls are the same. */
const keyOf = ({ tool, input }: ToolCall): string =>
  JSON.stringify([tool, Object.entries(input).toSorted(([one], [other]) => (one < other ? -1 : 1))]);

const distinct = (calls: readonly ToolCall[]): readonly ToolCall[] => [
  ...new Map(calls.map((call) => [keyOf(call), call])).values(),
];

const stagesOf = (wanted: readonly Wanted[]): readonly (readonly Wish[])[] => {
  const stages: Wish[][] = [];
  for (const { wish, later } of wanted) {
    const last = stages.at(-1);
    if (last === undefined || later || !mayJoin(wish, last)) stages.push([wish]);
    else last.push(wish);
  }
  return stages;
};

const changing: ReadonlySet<Wish["type"]> = new Set(["run", "write", "append", "edit", "use"]);

/** Looking goes with looking, and writing with writing to other files. */
const mayJoin = (wish: Wish, others: readonly Wish[]): boolean => {
  if (!changing.has(wish.type)) return !others.some(({ type }) => changing.has(type));
  return wish.type === "write" && others.every((other) => other.type === "write" && other.path !== wish.path);
};

/** Whether what comes later should not be begun: the person stepped in, or what it builds on is not there. */
const isInTheWay = ({ wish, done, lacks }: Work): boolean => {
  const states = done.map((exchange) => outcomeOf(exchange).status);
  if (states.some((status) => status !== "done" && status !== "failed")) return true;
  return changing.has(wish.type) && (lacks !== undefined || states.includes("failed"));
};

const workOn = (wish: Wish, tools: readonly Offered[], made: readonly Exchange[]): Work => {
  switch (wish.type) {
    case "survey":
      return survey(wish, tools, made);
    case "append":
      return append(wish, tools, made);
    case "greet":
    case "thank":
    case "identity":
    case "abilities":
    case "continue":
    case "again":
    case "explain":
    case "attached":
    case "unknown":
      return { wish, done: [], needs: [] };
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
      return one(wish, wish, tools, made);
  }
};

/** One call, made or to be made. */
const one = (wish: Wish, step: OneCall, tools: readonly Offered[], made: readonly Exchange[]): Work => {
  const call = callFor(step, tools);
  if (typeof call === "string") return { wish, done: [], needs: [], lacks: missing(call) };
  const found = made.find((exchange) => keyOf(exchange) === keyOf(call));
  return found === undefined ? { wish, done: [], needs: [call] } : { wish, done: [found], needs: [] };
};

const missing = (tool: string): string => `there is no tool ${tool} in this session`;

/** Files that say what a project is, the most telling first. */
const telling = ["README.md", "README", "readme.md", "package.json", "pyproject.toml", "Cargo.toml", "go.mod"];

const survey = (wish: Wish, tools: readonly Offered[], made: readonly Exchange[]): Work => {
  const listed = one(wish, { type: "list", path: "." }, tools, made);
  const [listing] = listed.done;
  if (listing === undefined) return listed;
  const names = namesIn(outcomeOf(listing).text).map(({ name }) => name);
  const reads = telling
    .filter((name) => names.includes(name))
    .slice(0, 2)
    .map((path) => one(wish, { type: "read", path }, tools, made));
  return {
    wish,
    done: [listing, ...reads.flatMap(({ done }) => done)],
    needs: reads.flatMap(({ needs }) => needs),
  };
};

/** Reads the file, and then writes it with the text at its end. */
const append = (
  wish: Extract<Wish, { type: "append" }>,
  tools: readonly Offered[],
  made: readonly Exchange[],
): Work => {
  const read = one(wish, { type: "read", path: wish.path }, tools, made);
  const [seen] = read.done;
  if (seen === undefined || outcomeOf(seen).status !== "done") return read;
  const { text, part } = fileTextOf(outcomeOf(seen).text);
  if (part !== undefined) return { ...read, lacks: `${wish.path} is too long for me to write it anew` };
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  const written = one(wish, { type: "write", path: wish.path, content: `${text}${gap}${wish.content}\n` }, tools, made);
  return { ...written, done: [...read.done, ...written.done] };
};
