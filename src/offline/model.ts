import { asideOf } from "./asides.ts";
import { describe } from "./describe.ts";
import type { Exchange, Heard, Said, ToolCall } from "./heard.ts";
import { isStopped } from "./outcome.ts";
import { planOf, type Plan } from "./plan.ts";
import { requestsOf, type Request } from "./requests.ts";
import { abilities, cannot, isTalk, talkAbout } from "./talk.ts";
import { tellAny, tellLeft, tellWork } from "./tell.ts";
import { lastNamed, wishesOf } from "./wishes.ts";
import type { Wanted, Wish } from "./wish.ts";
import { listed } from "./words.ts";

/** What the demo model says to a request: the next calls, or an answer from what the calls returned. */
export const answer = (heard: Heard): Said => {
  const aside = asideOf(heard);
  if (aside !== undefined) return { say: aside };
  const requests = understood(requestsOf(heard.turns));
  const task = taskOf(requests, heard);
  const plan = planOf(task.wanted, heard.tools, task.made);
  const forced = forcedCall(heard, plan, task);
  const next = forced === undefined ? plan.next : [forced];
  // A conversation in which calls come back changed must end too.
  if (next.length > 0 && task.made.length < mostCalls) return { think: thought(plan), calls: next };
  return { say: tellTask(task, plan, requests, heard) };
};

const mostCalls = 60;

/** A request with what it asks for. */
type Understood = Request & { readonly wanted: readonly Wanted[] };

/** Reads each request in the light of those before it. */
const understood = (requests: readonly Request[]): readonly Understood[] => {
  let known = {};
  return requests.map((request) => {
    const wanted: Wanted[] = [];
    for (const [index, text] of request.texts.entries()) {
      const said = wishesOf(text, known);
      known = lastNamed(
        said.map(({ wish }) => wish),
        known,
      );
      // What stands before a person's own words and asks for nothing is no question.
      const isLast = index === request.texts.length - 1;
      wanted.push(...(isLast ? said : said.filter(({ wish }) => wish.type !== "unknown")));
    }
    return { ...request, wanted: withAttached(request, wanted) };
  });
};

/** Questions about files that came with the message need no tool. */
const withAttached = ({ files }: Request, wanted: readonly Wanted[]): readonly Wanted[] => {
  const isAbout = ({ type, ...wish }: Wish): boolean =>
    type === "unknown" || (type === "read" && "as" in wish && wish.as === "look");
  if (files.length === 0 || !wanted.every(({ wish }) => isAbout(wish))) return wanted;
  return [{ wish: { type: "attached" }, later: false }];
};

/** What is to be done now, and which calls were made for it. */
type Task = { readonly request: Request; readonly wanted: readonly Wanted[]; readonly made: readonly Exchange[] };

/** The last request; or an earlier one, where the last only says to go on with it or to do it again. */
const taskOf = (requests: readonly Understood[], { tools }: Heard): Task => {
  const last = requests.at(-1) ?? { texts: [], files: [], exchanges: [], wanted: [] };
  const { exchanges: made, wanted } = last;
  const task = { request: last, wanted, made };
  const [only] = wanted;
  const type = wanted.length === 1 ? only?.wish.type : undefined;
  if (type !== "continue" && type !== "again") return task;
  const before = requests.slice(0, -1).findLast((request) => !request.wanted.every(isReference));
  if (before === undefined) return task;
  if (type === "again") return { ...task, wanted: before.wanted };
  const kept = before.exchanges.filter((exchange) => !isStopped(exchange));
  if (before.answer === undefined) return { ...task, wanted: before.wanted, made: [...kept, ...made] };
  const { left } = planOf(before.wanted, tools, before.exchanges);
  return left.length === 0 ? task : { ...task, wanted: left.map((wish) => ({ wish, later: false })) };
};

const isReference = ({ wish }: Wanted): boolean => wish.type === "continue" || wish.type === "again";

/** Where the caller demands a call and nothing has been called yet, there is one. */
const forcedCall = ({ choice, tools }: Heard, { next }: Plan, { request, made }: Task): ToolCall | undefined => {
  if (choice === "auto" || choice === "none" || made.length > 0) return undefined;
  const wanted = typeof choice === "object" ? choice.tool : undefined;
  if (next.some(({ tool }) => wanted === undefined || tool === wanted)) return undefined;
  const tool = tools.find(({ name }) => (wanted === undefined || name === wanted) && !changing.has(name));
  const words = request.texts.at(-1) ?? "";
  return tool && { tool: tool.name, input: Object.fromEntries(tool.required.map((name) => [name, words])) };
};

/** Tools that are never called with words nobody meant for them, whoever demands it. */
const changing: ReadonlySet<string> = new Set([
  "write_file",
  "replace",
  "smart_edit",
  "run_shell_command",
  "save_memory",
]);

const thought = ({ next, left }: Plan): string => {
  const deeds = listed([...new Set(left.map(describe))]);
  const calls = listed([...new Set(next.map(({ tool }) => tool))]);
  return deeds === "" ? `A tool is demanded.` : `I am to ${deeds}. For this I call ${calls} now.`;
};

const tellTask = (task: Task, plan: Plan, requests: readonly Request[], heard: Heard): string => {
  const { wanted, made, request } = task;
  const isOther = wanted.every(({ wish }) => wish.type === "unknown" || wish.type === "continue");
  if (isOther && made.length > 0) return made.map(tellAny).join("\n\n");
  const isStrange = wanted.length > 0 && wanted.every(({ wish }) => wish.type === "unknown");
  if (isStrange) return cannot(heard.tools);
  const isAlone = wanted.length === 1;
  const parts = plan.works.flatMap((work) =>
    isTalk(work.wish) ? talkAbout(work.wish, { isAlone, request, requests, heard }) : tellWork(work),
  );
  const all = [...parts, ...tellLeft(plan)];
  return all.length === 0 ? `Tell me what to do. ${abilities(heard.tools)}` : all.join("\n\n");
};
