import { answerSideQuery } from "./reply/side-queries.ts";
import { describeIntent } from "./intent/describe-intent.ts";
import type { ToolExchange, ParsedRequest, DemoReply, DemoToolCall } from "./api/parsed-request.ts";
import { isStopped } from "./plan/outcome.ts";
import { planCalls, type CallPlan } from "./plan/plan.ts";
import { groupUserRequests, type UserRequest } from "./plan/user-requests.ts";
import { describeAbilities, notUnderstood, isSmallTalk, answerSmallTalk } from "./reply/small-talk.ts";
import { describeAnyExchange, describeRemaining, describeProgress } from "./reply/describe-results.ts";
import { lastMentioned, parseIntents } from "./intent/parse-intents.ts";
import type { IntentStep, Intent } from "./intent/intent.ts";
import { joinList } from "./reply/text.ts";

/** What the demo model says to a request: the next calls, or an answer from what the calls returned. */
export const answerRequest = (heard: ParsedRequest): DemoReply => {
  const aside = answerSideQuery(heard);
  if (aside !== undefined) return { text: aside };
  const requests = parseRequests(groupUserRequests(heard.turns));
  const task = currentTask(requests, heard);
  const plan = planCalls(task.steps, heard.tools, task.exchanges);
  const forced = forcedCall(heard, plan, task);
  const next = forced === undefined ? plan.nextCalls : [forced];
  // A conversation in which calls come back changed must end too.
  if (next.length > 0 && task.exchanges.length < maxCalls) return { thinking: describePlan(plan), calls: next };
  return { text: describeTask(task, plan, requests, heard) };
};

const maxCalls = 60;

/** A request with what it asks for. */
type ParsedUserRequest = UserRequest & { readonly steps: readonly IntentStep[] };

/** Reads each request in the light of those before it. */
const parseRequests = (requests: readonly UserRequest[]): readonly ParsedUserRequest[] => {
  let known = {};
  return requests.map((request) => {
    const wanted: IntentStep[] = [];
    for (const [index, text] of request.texts.entries()) {
      const said = parseIntents(text, known);
      known = lastMentioned(
        said.map(({ intent: wish }) => wish),
        known,
      );
      // What stands before a person's own words and asks for nothing is no question.
      const isLast = index === request.texts.length - 1;
      wanted.push(...(isLast ? said : said.filter(({ intent: wish }) => wish.type !== "unknown")));
    }
    return { ...request, steps: preferAttachments(request, wanted) };
  });
};

/** Questions about files that came with the message need no tool. */
const preferAttachments = ({ files }: UserRequest, wanted: readonly IntentStep[]): readonly IntentStep[] => {
  const isAbout = ({ type, ...wish }: Intent): boolean =>
    type === "unknown" || (type === "read" && "as" in wish && wish.as === "look");
  if (files.length === 0 || !wanted.every(({ intent: wish }) => isAbout(wish))) return wanted;
  return [{ intent: { type: "attached" }, isLater: false }];
};

/** What is to be done now, and which calls were made for it. */
type DemoTask = {
  readonly request: UserRequest;
  readonly steps: readonly IntentStep[];
  readonly exchanges: readonly ToolExchange[];
};

/** The last request; or an earlier one, where the last only says to go on with it or to do it again. */
const currentTask = (requests: readonly ParsedUserRequest[], { tools }: ParsedRequest): DemoTask => {
  const last = requests.at(-1) ?? { texts: [], files: [], exchanges: [], steps: [] };
  const { exchanges, steps } = last;
  const task = { request: last, steps, exchanges };
  const [only] = steps;
  const type = steps.length === 1 ? only?.intent.type : undefined;
  if (type !== "continue" && type !== "again") return task;
  const before = requests.slice(0, -1).findLast((request) => !request.steps.every(isReference));
  if (before === undefined) return task;
  if (type === "again") return { ...task, steps: before.steps };
  const kept = before.exchanges.filter((exchange) => !isStopped(exchange));
  if (before.answer === undefined) return { ...task, steps: before.steps, exchanges: [...kept, ...exchanges] };
  const { remaining: left } = planCalls(before.steps, tools, before.exchanges);
  return left.length === 0 ? task : { ...task, steps: left.map((intent) => ({ intent, isLater: false })) };
};

const isReference = ({ intent: wish }: IntentStep): boolean => wish.type === "continue" || wish.type === "again";

/** Where the caller demands a call and nothing has been called yet, there is one. */
const forcedCall = (
  { toolChoice: choice, tools }: ParsedRequest,
  { nextCalls: next }: CallPlan,
  { request, exchanges: made }: DemoTask,
): DemoToolCall | undefined => {
  if (choice === "auto" || choice === "none" || made.length > 0) return undefined;
  const wanted = typeof choice === "object" ? choice.tool : undefined;
  if (next.some(({ tool }) => wanted === undefined || tool === wanted)) return undefined;
  const tool = tools.find(({ name }) => (wanted === undefined || name === wanted) && !toolsWithSideEffects.has(name));
  const words = request.texts.at(-1) ?? "";
  return tool && { tool: tool.name, input: Object.fromEntries(tool.required.map((name) => [name, words])) };
};

/** Tools that are never called with words nobody meant for them, whoever demands it. */
const toolsWithSideEffects: ReadonlySet<string> = new Set([
  "write_file",
  "replace",
  "smart_edit",
  "run_shell_command",
  "save_memory",
]);

const describePlan = ({ nextCalls: next, remaining: left }: CallPlan): string => {
  const deeds = joinList([...new Set(left.map(describeIntent))]);
  const calls = joinList([...new Set(next.map(({ tool }) => tool))]);
  return deeds === "" ? `A tool is demanded.` : `I am to ${deeds}. For this I call ${calls} now.`;
};

const describeTask = (
  task: DemoTask,
  plan: CallPlan,
  requests: readonly UserRequest[],
  heard: ParsedRequest,
): string => {
  const { steps: wanted, exchanges: made, request } = task;
  const isOther = wanted.every(({ intent: wish }) => wish.type === "unknown" || wish.type === "continue");
  if (isOther && made.length > 0) return made.map(describeAnyExchange).join("\n\n");
  const isStrange = wanted.length > 0 && wanted.every(({ intent: wish }) => wish.type === "unknown");
  if (isStrange) return notUnderstood(heard.tools);
  const isAlone = wanted.length === 1;
  const parts = plan.progress.flatMap((work) =>
    isSmallTalk(work.intent)
      ? answerSmallTalk(work.intent, { isAlone, request, requests, parsed: heard })
      : describeProgress(work),
  );
  const all = [...parts, ...describeRemaining(plan)];
  return all.length === 0 ? `Tell me what to do. ${describeAbilities(heard.tools)}` : all.join("\n\n");
};
