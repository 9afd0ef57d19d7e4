import { callsOf, messagesOf, type ChatCall, type ChatMessage } from "./walk.ts";
import { isMistralModel } from "../openai/models.ts";
import { chatFacts, type ChatFacts } from "../openai/providers.ts";
import { tooLong } from "../openai/error-text.ts";
import type { ReportFinding, Rule } from "../rule.ts";
import { adviceRule, asString, isBlank, join, rejectedRule, type Check } from "../walk.ts";

/** How the calls and results of a body are paired. */
type ChatPairing = {
  /** Calls without a tool message. */
  readonly unanswered: readonly ChatCall[];
  /** Results separated from their call by another message. */
  readonly late: readonly { readonly result: ChatMessage; readonly call: ChatCall }[];
  /** Results without an earlier call. */
  readonly unasked: readonly ChatMessage[];
  /** Second and further results for one call, with the index of the earlier result's message. */
  readonly repeated: readonly { readonly result: ChatMessage; readonly before: number }[];
};

/** The calls that a block of tool messages answers, with how often each id was called and answered. */
type ChatCallBlock = {
  readonly calls: Map<string, ChatCall>;
  readonly open: Map<string, number>;
  readonly answered: Set<string>;
};

/**
 * Pairs calls and results by position: results directly follow the assistant message, as every strict vendor requires.
 */
const pair = (body: unknown): ChatPairing => {
  const late: { result: ChatMessage; call: ChatCall }[] = [];
  const unasked: ChatMessage[] = [];
  const repeated: { result: ChatMessage; before: number }[] = [];
  const forgotten: ChatCall[] = [];
  const pending = new Map<string, ChatCall>();
  const done = new Map<string, number>();
  let block: ChatCallBlock | undefined;

  const close = (): void => {
    for (const [id, call] of block?.calls ?? []) {
      if (block?.answered.has(id)) continue;
      const older = pending.get(id);
      if (older !== undefined) forgotten.push(older);
      pending.set(id, call);
    }
    block = undefined;
  };
  const answer = (result: ChatMessage, id: string): void => {
    const open = block?.open.get(id) ?? 0;
    const waiting = pending.get(id);
    const before = done.get(id);
    if (open > 0) {
      block?.open.set(id, open - 1);
      block?.answered.add(id);
      done.set(id, result.index);
    } else if (waiting !== undefined) {
      pending.delete(id);
      done.set(id, result.index);
      late.push({ result, call: waiting });
    } else if (before !== undefined) repeated.push({ result, before });
    else unasked.push(result);
  };

  for (const message of messagesOf(body)) {
    if (message.role === "tool") {
      const id = asString(message.value["tool_call_id"]) ?? firstOpen(block);
      if (id !== undefined) answer(message, id);
      continue;
    }
    close();
    const calls = callsOf(message);
    if (calls.length > 0) block = openBlock(calls);
  }
  close();
  return { unanswered: [...forgotten, ...pending.values()], late, unasked, repeated };
};

/** A result without an id is paired with the first unanswered call, where the vendor accepts that. */
const firstOpen = (block: ChatCallBlock | undefined): string | undefined =>
  [...(block?.open ?? [])].find(([, count]) => count > 0)?.[0];

const openBlock = (calls: readonly ChatCall[]): ChatCallBlock => {
  const block: ChatCallBlock = { calls: new Map(), open: new Map(), answered: new Set() };
  for (const call of calls) {
    if (call.id === undefined) continue;
    if (!block.calls.has(call.id)) block.calls.set(call.id, call);
    block.open.set(call.id, (block.open.get(call.id) ?? 0) + 1);
  }
  return block;
};

const callWithoutResult: Check = (body, report, target) => {
  const { errorStyle } = chatFacts(target);
  if (errorStyle === "local") return;
  for (const call of pair(body).unanswered) report(call.at, unansweredText(call, errorStyle));
};

/** Local servers accept a call without a result; the model may be confused by it. */
const openCall: Check = (body, report, target) => {
  const { errorStyle } = chatFacts(target);
  if (errorStyle !== "local") return;
  for (const call of pair(body).unanswered) report(call.at, unansweredText(call, errorStyle));
};

const unansweredText = (call: ChatCall, errorStyle: ChatFacts["errorStyle"]): string => {
  const sentence =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
  if (errorStyle === "mistral") return "Not the same number of function calls and responses";
  if (errorStyle === "minimax") return "invalid params, tool call and result not match (2013)";
  if (errorStyle === "deepseek") return `${sentence} (insufficient tool messages following tool_calls message)`;
  if (errorStyle === "qwen") return `<400> InternalError.Algo.InvalidParameter: ${sentence.replaceAll("'", '"')}`;
  return `${sentence} The following tool_call_ids did not have response messages: ${call.id}`;
};

const resultNotAdjacent: Check = (body, report, target) => {
  const { errorStyle } = chatFacts(target);
  for (const { result, call } of pair(body).late) report(result.at, unansweredText(call, errorStyle));
};

const resultWithoutCall: Check = (body, report, target) => {
  const { errorStyle } = chatFacts(target);
  for (const { at, value } of pair(body).unasked)
    report(at, unaskedText(asString(value["tool_call_id"]) ?? "", errorStyle));
};

const unaskedText = (id: string, errorStyle: ChatFacts["errorStyle"]): string => {
  if (errorStyle === "mistral") return `Unexpected tool call id ${id} in tool results`;
  if (errorStyle === "kimi") return `Invalid request: tool_call_id ${id} is not found`;
  if (errorStyle === "minimax") return "invalid params, tool call and result not match (2013)";
  return "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
};

const duplicateResult: Check = (body, report, target) => {
  const { errorStyle } = chatFacts(target);
  for (const { result, before } of pair(body).repeated) {
    const id = asString(result.value["tool_call_id"]) ?? "";
    report(
      result.at,
      errorStyle === "mistral"
        ? `Duplicate tool call id ${id} in tool results`
        : `Invalid parameter: Duplicate value for 'tool_call_id' of '${id}', in messages[${before}] and messages[${result.index}].`,
    );
  }
};

const duplicateCallId: Check = (body, report, target) => {
  const { errorStyle } = chatFacts(target);
  for (const message of messagesOf(body)) {
    const seen = new Set<string>();
    for (const { id, at } of callsOf(message)) {
      if (id !== undefined && seen.has(id)) report(join(at, "id"), duplicateText(id, errorStyle));
      if (id !== undefined) seen.add(id);
    }
  }
};

const duplicateText = (id: string, errorStyle: ChatFacts["errorStyle"]): string =>
  errorStyle === "mistral"
    ? `Duplicate tool call id ${id} in assistant message`
    : `Invalid parameter: 'tool_calls' of an assistant message must have unique ids. Duplicate id: ${id}`;

/** Pairing is by position within a turn here, so an id reused later is read correctly; other APIs pair by id. */
const reusedCallId: Check = (body, report) => {
  const turns = new Map<string, number>();
  for (const message of messagesOf(body)) {
    for (const { id, at } of callsOf(message)) {
      if (id === undefined) continue;
      const turn = turns.get(id);
      if (turn !== undefined && turn !== message.index) {
        report(
          join(at, "id"),
          `Call id '${id}' was already used by messages[${turn}]; an API that pairs by id would mix the two.`,
        );
      }
      turns.set(id, message.index);
    }
  }
};

/** Calls back for every id of the body: first in calls, then in the results that repeat it. */
const eachId = (body: unknown, look: (id: string, at: string) => void): void => {
  for (const message of messagesOf(body)) {
    for (const { id, at } of callsOf(message)) if (id !== undefined) look(id, join(at, "id"));
    const answered = message.role === "tool" ? asString(message.value["tool_call_id"]) : undefined;
    if (answered !== undefined) look(answered, join(message.at, "tool_call_id"));
  }
};

const blankCallId: Check = (body, report) =>
  eachId(body, (id, at) => {
    if (isBlank(id)) report(at, `Invalid request: tool_call_id ${id} is not found`);
  });

const longCallId: Check = (body, report, target) => {
  const { callIdLimit } = chatFacts(target);
  if (callIdLimit === undefined) return;
  eachId(body, (id, at) => {
    if (id.length > callIdLimit) report(at, tooLong(at, callIdLimit, id.length));
  });
};

const mistralCallId: Check = (body, report, target) => {
  if (target.provider !== "mistral" || !isMistralModel(target)) return;
  eachId(body, (id, at) => {
    if (isBlank(id) || /^[a-zA-Z0-9]{9}$/.test(id)) return;
    report(at, `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`);
  });
};

/**
 * Kimi's models and local servers use their own id formats; elsewhere such an id works only until the conversation
 * switches provider.
 */
const strangeCallId: Check = (body, report, target) => {
  const { errorStyle, callIdLimit } = chatFacts(target);
  if (errorStyle === "kimi" || errorStyle === "local" || errorStyle === "mistral" || /kimi/i.test(target.model ?? ""))
    return;
  eachId(body, (id, at) => {
    if (isBlank(id) || (callIdLimit !== undefined && id.length > callIdLimit) || portable.test(id)) return;
    reportStrange(report, at, id);
  });
};

const portable = /^[A-Za-z0-9_-]{1,40}$/;

const reportStrange = (report: ReportFinding, at: string, id: string): void =>
  report(at, `Call id '${id.slice(0, 60)}' is not 1 to 40 letters, digits, '_' or '-', which other APIs ask for.`);

/** Rules about calls, results and their ids. */
export const chatPairingRules: readonly Rule<unknown>[] = [
  rejectedRule("openai-chat/call-without-result", callWithoutResult),
  adviceRule("openai-chat/open-call", openCall),
  rejectedRule("openai-chat/result-not-adjacent", resultNotAdjacent),
  rejectedRule("openai-chat/result-without-call", resultWithoutCall),
  rejectedRule("openai-chat/duplicate-result", duplicateResult),
  rejectedRule("openai-chat/duplicate-call-id", duplicateCallId),
  rejectedRule("openai-chat/blank-call-id", blankCallId),
  rejectedRule("openai-chat/long-call-id", longCallId),
  rejectedRule("openai-chat/mistral-call-id", mistralCallId),
  adviceRule("openai-chat/reused-call-id", reusedCallId),
  adviceRule("openai-chat/strange-call-id", strangeCallId),
];
