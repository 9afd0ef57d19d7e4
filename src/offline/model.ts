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

/** Returns the demo model's reply to a request: the next tool calls, or an answer from what the calls returned. */
export const answerRequest = (parsed: ParsedRequest): DemoReply => {
  const sideAnswer = answerSideQuery(parsed);
  if (sideAnswer !== undefined) return { text: sideAnswer };
  const requests = parseRequests(groupUserRequests(parsed.turns));
  const task = currentTask(requests, parsed);
  const plan = planCalls(task.steps, parsed.tools, task.exchanges);
  const forced = forcedCall(parsed, plan, task);
  const next = forced === undefined ? plan.nextCalls : [forced];
  // A conversation whose calls come back changed must still end.
  if (next.length > 0 && task.exchanges.length < maxCalls) return { thinking: describePlan(plan), calls: next };
  return { text: describeTask(task, plan, requests, parsed) };
};

const maxCalls = 60;

/** A user request with its intents. */
type ParsedUserRequest = UserRequest & { readonly steps: readonly IntentStep[] };

/** Parses each request, resolving references to earlier ones. */
const parseRequests = (requests: readonly UserRequest[]): readonly ParsedUserRequest[] => {
  let mentioned = {};
  return requests.map((request) => {
    const steps: IntentStep[] = [];
    for (const [index, text] of request.texts.entries()) {
      const parsedSteps = parseIntents(text, mentioned);
      mentioned = lastMentioned(
        parsedSteps.map(({ intent }) => intent),
        mentioned,
      );
      // A text before the user's own that contains no intent is not a question.
      const isLast = index === request.texts.length - 1;
      steps.push(...(isLast ? parsedSteps : parsedSteps.filter(({ intent }) => intent.type !== "unknown")));
    }
    return { ...request, steps: preferAttachments(request, steps) };
  });
};

/** Questions about attached files need no tool. */
const preferAttachments = ({ files }: UserRequest, steps: readonly IntentStep[]): readonly IntentStep[] => {
  const isAbout = ({ type, ...intent }: Intent): boolean =>
    type === "unknown" || (type === "read" && "as" in intent && intent.as === "image");
  if (files.length === 0 || !steps.every(({ intent }) => isAbout(intent))) return steps;
  return [{ intent: { type: "attached" }, isLater: false }];
};

/** The steps to do now, and the calls already made for them. */
type DemoTask = {
  readonly request: UserRequest;
  readonly steps: readonly IntentStep[];
  readonly exchanges: readonly ToolExchange[];
};

/** Returns the last request, or the earlier one it refers to ("continue", "again"). */
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
  const finished = before.exchanges.filter((exchange) => !isStopped(exchange));
  if (before.answer === undefined) return { ...task, steps: before.steps, exchanges: [...finished, ...exchanges] };
  const { remaining } = planCalls(before.steps, tools, before.exchanges);
  return remaining.length === 0 ? task : { ...task, steps: remaining.map((intent) => ({ intent, isLater: false })) };
};

const isReference = ({ intent }: IntentStep): boolean => intent.type === "continue" || intent.type === "again";

/** Makes one call where the caller requires one and none has been made. */
const forcedCall = (
  { toolChoice, tools }: ParsedRequest,
  { nextCalls }: CallPlan,
  { request, exchanges }: DemoTask,
): DemoToolCall | undefined => {
  if (toolChoice === "auto" || toolChoice === "none" || exchanges.length > 0) return undefined;
  const required = typeof toolChoice === "object" ? toolChoice.tool : undefined;
  if (nextCalls.some(({ tool }) => required === undefined || tool === required)) return undefined;
  const tool = tools.find(
    ({ name }) => (required === undefined || name === required) && !toolsWithSideEffects.has(name),
  );
  const text = request.texts.at(-1) ?? "";
  return tool && { tool: tool.name, input: Object.fromEntries(tool.required.map((name) => [name, text])) };
};

/** Tools that are never called with made-up input, even if a call is required. */
const toolsWithSideEffects: ReadonlySet<string> = new Set([
  "write_file",
  "replace",
  "smart_edit",
  "run_shell_command",
  "save_memory",
]);

const describePlan = ({ nextCalls, remaining }: CallPlan): string => {
  const actions = joinList([...new Set(remaining.map(describeIntent))]);
  const calls = joinList([...new Set(nextCalls.map(({ tool }) => tool))]);
  return actions === "" ? `A tool call is required.` : `Steps: ${actions}. Calling ${calls} now.`;
};

const describeTask = (
  task: DemoTask,
  plan: CallPlan,
  requests: readonly UserRequest[],
  parsed: ParsedRequest,
): string => {
  const { steps, exchanges, request } = task;
  const isOther = steps.every(({ intent }) => intent.type === "unknown" || intent.type === "continue");
  if (isOther && exchanges.length > 0) return exchanges.map(describeAnyExchange).join("\n\n");
  const isNotUnderstood = steps.length > 0 && steps.every(({ intent }) => intent.type === "unknown");
  if (isNotUnderstood) return notUnderstood(parsed.tools);
  const isAlone = steps.length === 1;
  const parts = plan.progress.flatMap((work) =>
    isSmallTalk(work.intent)
      ? answerSmallTalk(work.intent, { isAlone, request, requests, parsed: parsed })
      : describeProgress(work),
  );
  const all = [...parts, ...describeRemaining(plan)];
  return all.length === 0 ? `Tell me what to do. ${describeAbilities(parsed.tools)}` : all.join("\n\n");
};
