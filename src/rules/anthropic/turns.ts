import { type AnthropicBlock, type AnthropicTurn, blocksOf, lastTurn, textPointer, turnsOf } from "./body.ts";
import { claudeModel } from "./models.ts";
import { type BlockPairing, exchangesOf, findRepeated, findReusedCalls, findUnpaired } from "../exchanges.ts";
import { messagesOf, unknownRoles } from "../turns.ts";
import { type Check, asString, isBlank, isObject, join } from "../walk.ts";

const ofType = (turn: AnthropicTurn, type: string): readonly AnthropicBlock[] =>
  turn.blocks.filter((block) => block.type === type);

const callId = (block: AnthropicBlock): string =>
  asString(block.value[block.type === "tool_use" ? "id" : "tool_use_id"]) ?? "";

const pairing: BlockPairing<AnthropicBlock> = {
  turnsOf,
  callsIn: (turn) => ofType(turn, "tool_use"),
  resultsIn: (turn) => ofType(turn, "tool_result"),
  idOf: callId,
};

/** Every call has a result in the next message. */
export const checkCallWithoutResult: Check = (body, report) => {
  for (const { calls, results } of exchangesOf(body, pairing)) {
    const open = findUnpaired(calls, results, pairing);
    const [first] = open;
    if (first !== undefined) report(first.pointer, unanswered(first.message, open.map(callId)));
  }
};

const unanswered = (message: number, ids: readonly string[]): string =>
  `messages.${message}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.slice(0, 20).join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;

/**
 * No text follows the calls of an assistant message: calls before it count as unanswered even though their results
 * exist. Blocks of server tools are exempt.
 */
export const checkTextAfterCall: Check = (body, report) => {
  for (const turn of turnsOf(body)) {
    if (turn.role !== "assistant") continue;
    const last = turn.blocks.findLastIndex(({ type }) => spokenTypes.has(type));
    const cut = turn.blocks.slice(0, last + 1).filter(({ type }) => type === "tool_use");
    const [first] = cut;
    if (first !== undefined) report(first.pointer, unanswered(first.message, cut.map(callId)));
  }
};

const spokenTypes: ReadonlySet<string> = new Set(["text", "thinking", "redacted_thinking"]);

/** Every result belongs to a call of the previous message. */
export const checkResultWithoutCall: Check = (body, report) => {
  for (const { calls, results } of exchangesOf(body, pairing)) {
    for (const result of findUnpaired(results, calls, pairing)) {
      report(
        result.pointer,
        `${result.path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${callId(result)}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
  }
};

/** A call has one result. */
export const checkDuplicateResult: Check = (body, report) => {
  for (const { calls, results } of exchangesOf(body, pairing)) {
    const callIds = new Set(calls.map(callId));
    for (const result of findRepeated(results, pairing)) {
      const id = callId(result);
      if (callIds.has(id))
        report(
          result.pointer,
          `${result.path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
        );
    }
  }
};

/** Results come before anything else in their message. */
export const checkResultFirst: Check = (body, report) => {
  for (const { calls, answer } of exchangesOf(body, pairing)) {
    const callIds = new Set(calls.map(callId));
    const other = answer?.blocks.findIndex((block) => block.type !== "tool_result") ?? -1;
    const late =
      other < 0
        ? []
        : (answer?.blocks.slice(other).filter((block) => block.type === "tool_result" && callIds.has(callId(block))) ??
          []);
    const [first] = late;
    if (first !== undefined) report(first.pointer, unanswered(calls[0]?.message ?? 0, late.map(callId)));
  }
};

/** Call ids are unique within a turn. */
export const checkDuplicateCall: Check = (body, report) => {
  for (const turn of turnsOf(body)) {
    if (turn.role !== "assistant") continue;
    for (const call of findRepeated(pairing.callsIn(turn), pairing))
      report(call.pointer, `${call.path}: \`tool_use\` ids must be unique`);
  }
};

/** A call id reused in a later turn is accepted here but confuses other APIs and many clients. */
export const checkReusedCall: Check = (body, report) => {
  for (const call of findReusedCalls(body, pairing))
    report(call.pointer, `${call.path}: the id ${callId(call)} was used in an earlier turn`);
};

/** Ids are letters, digits, underscores and dashes. */
export const checkCallId: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    const field = idFields.get(block.type);
    const id = field === undefined ? undefined : asString(block.value[field]);
    if (field === undefined || id === undefined) continue;
    const pattern = block.type === "server_tool_use" ? serverId : plainId;
    if (!pattern.test(id))
      report(
        join(block.pointer, field),
        `${block.path}.${block.type}.${field}: String should match pattern '${pattern.source}'`,
      );
  }
};

const plainId = /^[a-zA-Z0-9_-]+$/;
const serverId = /^srvtoolu_[a-zA-Z0-9_]+$/;
const idFields: ReadonlyMap<string, string> = new Map([
  ["tool_use", "id"],
  ["tool_result", "tool_use_id"],
  ["server_tool_use", "id"],
]);

/** Every API accepts an id of at most 64 characters. */
export const checkLongId: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    const id = block.type === "tool_use" ? callId(block) : "";
    if (id.length > 64)
      report(
        join(block.pointer, "id"),
        `${block.path}.tool_use.id has ${id.length} characters: other APIs take at most 64.`,
      );
  }
};

/** The arguments of a call are an object. */
export const checkCallInput: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    if (block.type !== "tool_use" || isObject(block.value["input"])) continue;
    const missing = block.value["input"] === undefined;
    report(
      missing ? block.pointer : join(block.pointer, "input"),
      `${block.path}.tool_use.input: ${missing ? "Field required" : "Input should be a valid dictionary"}`,
    );
  }
};

/** `caller` is absent rather than null. */
export const checkCaller: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    const caller = block.value["caller"];
    if (block.type !== "tool_use" || caller === undefined || isObject(caller)) continue;
    report(
      join(block.pointer, "caller"),
      `${block.path}.tool_use.caller: Input should be a valid dictionary or object to extract fields from`,
    );
  }
};

/** Roles are `user` and `assistant`, and `system` where the model has it. */
export const checkRole: Check = (body, report) => {
  for (const { index, role, pointer } of unknownRoles(body)) {
    report(
      join(pointer, "role"),
      `messages.${index}.role: Unexpected role "${role}". Allowed roles are "user" or "assistant".`,
    );
  }
};

/** Only some models take a system message inside the conversation. */
export const checkSystemRole: Check = (body, report, target) => {
  if (claudeModel(body, target).systemRole) return;
  for (const { value, pointer } of messagesOf(body)) {
    if (value["role"] === "system") report(join(pointer, "role"), "role 'system' is not supported on this model");
  }
};

/** A system message follows a user message and precedes an assistant message. */
export const checkSystemPlace: Check = (body, report, target) => {
  if (!claudeModel(body, target).systemRole) return;
  let before: AnthropicTurn | undefined;
  let system: AnthropicTurn | undefined;
  for (const turn of turnsOf(body)) {
    if (system !== undefined && turn.role !== "assistant")
      report(join("/messages", system.first), misplaced(system.first));
    system = undefined;
    if (turn.role === "system") {
      if (mayPrecedeSystem(before)) system = turn;
      else report(join("/messages", turn.first), misplaced(turn.first));
    }
    before = turn;
  }
};

/**
 * True after a user turn, or after an assistant turn that a server tool ended. Another rule covers unanswered calls.
 */
const mayPrecedeSystem = (before: AnthropicTurn | undefined): boolean =>
  before !== undefined &&
  (before.role === "user" ||
    before.blocks.some((block) => block.type === "server_tool_use" || block.type === "tool_use"));

const misplaced = (index: number): string =>
  `messages.${index}: a \`system\` message must immediately follow a \`user\` message and be the last message or be followed by an \`assistant\` message`;

/** Calls and thinking belong in assistant messages, results in user messages. */
export const checkMisplacedBlock: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    const owner = owners.get(block.type);
    if (owner === undefined || block.role === owner || (block.role !== "user" && block.role !== "assistant")) continue;
    report(block.pointer, `messages.${block.message}: \`${block.type}\` blocks can only be in \`${owner}\` messages`);
  }
};

const owners: ReadonlyMap<string, string> = new Map([
  ["tool_use", "assistant"],
  ["server_tool_use", "assistant"],
  ["thinking", "assistant"],
  ["redacted_thinking", "assistant"],
  ["tool_result", "user"],
]);

/** A conversation that starts with the assistant was refused by earlier versions and still is by other APIs. */
export const checkAssistantFirst: Check = (body, report) => {
  const [first] = messagesOf(body);
  if (first?.value["role"] === "assistant")
    report(join(first.pointer, "role"), 'messages: first message must use the "user" role');
};

/** The conversation ends with a user message. Unanswered calls, paused server tools and compactions are exempt. */
export const checkPrefill: Check = (body, report, target) => {
  if (claudeModel(body, target).prefill) return;
  const last = lastTurn(body);
  if (last?.role !== "assistant" || last.blocks.some((block) => resumable.has(block.type))) return;
  report(
    join("/messages", last.first),
    "This model does not support assistant message prefill. The conversation must end with a user message.",
  );
};

const resumable: ReadonlySet<string> = new Set(["tool_use", "server_tool_use", "mcp_tool_use", "compaction"]);

/** Prefilled text does not end in white space. */
export const checkTrailingSpace: Check = (body, report, target) => {
  if (!claudeModel(body, target).prefill) return;
  const last = lastTurn(body);
  const block = last?.role === "assistant" ? last.blocks.at(-1) : undefined;
  const text = block?.type === "text" ? asString(block.value["text"]) : undefined;
  if (block === undefined || text === undefined || isBlank(text) || text === text.trimEnd()) return;
  report(textPointer(block), "messages: final assistant content cannot end with trailing whitespace");
};

/** A result marked as an error has content. */
export const checkEmptyError: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    if (block.type !== "tool_result" || block.value["is_error"] !== true) continue;
    const content = block.value["content"];
    const empty =
      content === undefined || content === null || content === "" || (Array.isArray(content) && content.length === 0);
    if (empty) report(block.pointer, `${block.path}.tool_result: content cannot be empty if \`is_error\` is true`);
  }
};

/** A result marked as an error contains text only. */
export const checkErrorMedia: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    const content = block.value["content"];
    if (block.type !== "tool_result" || block.value["is_error"] !== true || !Array.isArray(content)) continue;
    const other = content.findIndex((inner) => isObject(inner) && inner["type"] !== "text");
    if (other >= 0)
      report(
        join(block.pointer, "content", other),
        `${block.path}.tool_result: all content must be type \`text\` if \`is_error\` is true`,
      );
  }
};
