import { isCall, isContinued, isOutput, itemsOf, type ResponsesItem } from "./walk.ts";
import { responsesFacts } from "../openai/providers.ts";
import { tooLong } from "../openai/error-text.ts";
import type { ReportFinding, Rule } from "../rule.ts";
import { adviceRule, asObject, asString, isBlank, join, rejectedRule, type Check } from "../walk.ts";

const callId = ({ value }: ResponsesItem): string | undefined => asString(value["call_id"]);

/** True when the body refers to stored items, so that missing items cannot be judged. */
const isOpenEnded = (body: unknown): boolean => itemsOf(body).some(({ type }) => type === "item_reference");

const callWithoutOutput: Check = (body, report, target) => {
  if (isOpenEnded(body)) return;
  const answered = new Set(itemsOf(body).filter(isOutput).map(callId));
  for (const item of itemsOf(body)) {
    const id = callId(item);
    if (isCall(item) && id !== undefined && !answered.has(id))
      report(item.at, unansweredText(item, id, target.provider));
  }
};

const unansweredText = ({ type }: ResponsesItem, id: string, provider: string | undefined): string => {
  if (provider === "deepseek") return `No tool output found for tool call ${id}.`;
  return `No tool output found for ${type === "custom_tool_call" ? "custom tool call" : "function call"} ${id}.`;
};

/** The pointer to the call of each call id; a client-side tool search may be answered like a function. */
const callIndexes = (body: unknown): ReadonlyMap<string, number> => {
  const calledAt = new Map<string, number>();
  for (const item of itemsOf(body)) {
    const id = callId(item);
    if (id !== undefined && item.type?.endsWith("_call") === true && !calledAt.has(id)) calledAt.set(id, item.index);
  }
  return calledAt;
};

const outputWithoutCall: Check = (body, report) => {
  if (isContinued(body) || isOpenEnded(body)) return;
  const calledAt = callIndexes(body);
  for (const item of itemsOf(body)) {
    const id = callId(item);
    if (!isOutput(item) || id === undefined || calledAt.has(id)) continue;
    report(item.at, `No tool call found for ${outputName(item)} with call_id ${id}.`);
  }
};

const outputName = ({ type }: ResponsesItem): string =>
  type === "custom_tool_call_output" ? "custom tool call output" : "function call output";

const outputBeforeCall: Check = (body, report) => {
  const calledAt = callIndexes(body);
  for (const item of itemsOf(body)) {
    const id = callId(item);
    if (!isOutput(item) || id === undefined || (calledAt.get(id) ?? -1) < item.index) continue;
    report(item.at, `No tool call found for ${outputName(item)} with call_id ${id}.`);
  }
};

/** Pairing is by id over the whole input, so an id has one call and one output. */
const repeats = (
  body: unknown,
  isOne: (item: ResponsesItem) => boolean,
  look: (item: ResponsesItem, id: string) => void,
): void => {
  const seen = new Set<string>();
  for (const item of itemsOf(body)) {
    const id = callId(item);
    if (!isOne(item) || id === undefined) continue;
    if (seen.has(id)) look(item, id);
    seen.add(id);
  }
};

const duplicateOutput: Check = (body, report) =>
  repeats(body, isOutput, (item, id) => report(item.at, `Duplicate function_call_output for call_id ${id}.`));

const duplicateCallId: Check = (body, report) =>
  repeats(body, isCall, (item, id) => report(join(item.at, "call_id"), `Duplicate 'call_id': ${id}`));

const longest = 64;

/** Calls back for every call id, with its pointer. */
const eachCallId = (body: unknown, look: (id: string, at: string) => void): void => {
  for (const item of itemsOf(body)) {
    const id = callId(item);
    if (id !== undefined && (isCall(item) || isOutput(item))) look(id, join(item.at, "call_id"));
  }
};

const longCallId: Check = (body, report, target) => {
  if (!responsesFacts(target).checksItems) return;
  eachCallId(body, (id, at) => {
    if (id.length > longest) report(at, tooLong(at, longest, id.length));
  });
};

const blankCallId: Check = (body, report) =>
  eachCallId(body, (id, at) => {
    if (isBlank(id))
      report(
        at,
        `Invalid 'call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.`,
      );
  });

/** OpenAI accepts an output without a call; compatible APIs do not. */
const nullCallId: Check = (body, report) => {
  for (const item of itemsOf(body)) {
    if (isOutput(item) && item.value["call_id"] === null)
      report(join(item.at, "call_id"), "Other Responses servers refuse an output without a call_id.");
  }
};

const prefixes: ReadonlyMap<string | undefined, string> = new Map([
  ["function_call", "fc"],
  ["custom_tool_call", "ctc"],
  ["reasoning", "rs"],
  ["message", "msg"],
]);

const itemIdPrefix: Check = (body, report, target) => {
  if (!responsesFacts(target).checksItems) return;
  for (const { type, id, at, index } of itemsOf(body)) {
    const prefix = prefixes.get(type);
    if (id === undefined || prefix === undefined || !idLetters.test(id) || id.startsWith(prefix)) continue;
    report(join(at, "id"), `Invalid 'input[${index}].id': '${id}'. Expected an ID that begins with '${prefix}'.`);
  }
};

const idLetters = /^[A-Za-z0-9_-]+$/;

/** An empty id is ignored. */
const itemIdLetters: Check = (body, report, target) => {
  if (!responsesFacts(target).checksItems) return;
  for (const { id, at, index } of itemsOf(body)) {
    if (id === undefined || id === "" || idLetters.test(id)) continue;
    report(
      join(at, "id"),
      `Invalid 'input[${index}].id': '${id}'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.`,
    );
  }
};

const longItemId: Check = (body, report, target) => {
  if (!responsesFacts(target).checksItems) return;
  for (const { id, at } of itemsOf(body)) {
    if (id !== undefined && id.length > longest) report(join(at, "id"), tooLong(join(at, "id"), longest, id.length));
  }
};

const duplicateItemId: Check = (body, report, target) => {
  if (responsesFacts(target).checksItems) reportRepeatedItems(body, report);
};

/** xAI gives several items of one turn the same id, and accepts them back. */
const repeatedItemId: Check = (body, report, target) => {
  if (!responsesFacts(target).checksItems) reportRepeatedItems(body, report);
};

const reportRepeatedItems = (body: unknown, report: ReportFinding): void => {
  const seen = new Set<string>();
  for (const { id, at, type } of itemsOf(body)) {
    if (id === undefined || id === "" || type === "item_reference") continue;
    if (seen.has(id))
      report(
        join(at, "id"),
        `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
      );
    seen.add(id);
  }
};

/** Items the model did not write: reasoning must be followed by an item of the model. */
const isModels = ({ type, value }: ResponsesItem): boolean =>
  type === "message"
    ? value["role"] === "assistant"
    : type !== undefined && !/_output$|^mcp_approval_response$/.test(type);

const reasoningFollower: Check = (body, report, target) => {
  if (!responsesFacts(target).checksItems) return;
  const items = itemsOf(body).filter(({ type }) => type !== "additional_tools");
  items.forEach((item, place) => {
    const next = items[place + 1];
    if (item.type !== "reasoning" || (next !== undefined && isModels(next))) return;
    report(item.at, withoutFollower(item.id));
  });
};

/** Where items are stored, reasoning with an id must be followed by an item with an id. */
const namelessFollower: Check = (body, report, target) => {
  if (responsesFacts(target).checksItems && asObject(body)["store"] !== false)
    for (const { at, id } of namelessAnswers(body)) report(at, withoutFollower(id));
};

/** Without storage this is untested; reasoning without an id is accepted. */
const looseFollower: Check = (body, report, target) => {
  if (responsesFacts(target).checksItems && asObject(body)["store"] === false)
    for (const { at, id } of namelessAnswers(body)) report(at, withoutFollower(id));
};

/** Reports reasoning with an id whose following item has none. */
const namelessAnswers = (body: unknown): readonly ResponsesItem[] => {
  const items = itemsOf(body);
  return items.filter(({ type, id }, place) => {
    const next = items[place + 1];
    const isAnswer = next?.type === "message" && next.value["role"] === "assistant";
    return type === "reasoning" && id !== undefined && isAnswer && next.id === undefined;
  });
};

const withoutFollower = (id: string | undefined): string =>
  `Item '${id ?? ""}' of type 'reasoning' was provided without its required following item.`;

const reasoningNotStored: Check = (body, report, target) => {
  if (!responsesFacts(target).checksItems || asObject(body)["store"] !== false) return;
  for (const { type, id, at, value } of itemsOf(body)) {
    if (type !== "reasoning" || id === undefined || typeof value["encrypted_content"] === "string") continue;
    report(
      at,
      `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    );
  }
};

/** An id links a call to its reasoning; without that reasoning the server may refuse the call. */
const idWithoutReasoning: Check = (body, report, target) => {
  if (!responsesFacts(target).checksItems || isContinued(body)) return;
  let hasReasoned = false;
  for (const { type, id, at, value } of itemsOf(body)) {
    if (type === "reasoning") hasReasoned = true;
    if (type === "message" && value["role"] === "user") hasReasoned = false;
    if (type !== "function_call" || id === undefined || hasReasoned) continue;
    report(
      join(at, "id"),
      `Item '${id}' of type 'function_call' may need its 'reasoning' item; without the id it stands alone.`,
    );
  }
};

/** DeepSeek merges calls into the assistant item beside them, so an item between two calls cuts off the first. */
const interleavedCall: Check = (body, report, target) => {
  if (target.provider !== "deepseek") return;
  const open = new Map<string, ResponsesItem>();
  let cut: ResponsesItem | undefined;
  for (const item of itemsOf(body)) {
    const id = callId(item) ?? "";
    if (isOutput(item)) open.delete(id);
    else if (isCall(item)) {
      if (cut !== undefined && open.size > 0) {
        const [stranded] = open.keys();
        report(cut.at, `No tool output found for tool call ${stranded}.`);
      }
      open.set(id, item);
      cut = undefined;
    } else if (open.size > 0 && isModels(item)) cut = item;
    if (open.size === 0) cut = undefined;
  }
};

/** Rules about calls, outputs, reasoning and the ids of items. */
export const responsesItemRules: readonly Rule<unknown>[] = [
  rejectedRule("openai-responses/call-without-output", callWithoutOutput),
  rejectedRule("openai-responses/output-without-call", outputWithoutCall),
  rejectedRule("openai-responses/output-before-call", outputBeforeCall),
  rejectedRule("openai-responses/duplicate-output", duplicateOutput),
  rejectedRule("openai-responses/duplicate-call-id", duplicateCallId),
  rejectedRule("openai-responses/long-call-id", longCallId),
  rejectedRule("openai-responses/blank-call-id", blankCallId),
  adviceRule("openai-responses/null-call-id", nullCallId),
  rejectedRule("openai-responses/item-id-prefix", itemIdPrefix),
  rejectedRule("openai-responses/item-id-letters", itemIdLetters),
  rejectedRule("openai-responses/long-item-id", longItemId),
  rejectedRule("openai-responses/duplicate-item-id", duplicateItemId),
  adviceRule("openai-responses/repeated-item-id", repeatedItemId),
  rejectedRule("openai-responses/reasoning-follower", reasoningFollower),
  rejectedRule("openai-responses/nameless-follower", namelessFollower),
  adviceRule("openai-responses/loose-follower", looseFollower),
  rejectedRule("openai-responses/reasoning-not-stored", reasoningNotStored),
  adviceRule("openai-responses/id-without-reasoning", idWithoutReasoning),
  rejectedRule("openai-responses/interleaved-call", interleavedCall),
];
