import {
  type BedrockBlock,
  type BedrockTurn,
  blocksOf,
  callId,
  fieldOf,
  isServerCall,
  lastTurn,
  resultBlocks,
  turnsOf,
} from "./body.ts";
import { bedrockFamily, findBedrockClaude } from "./models.ts";
import { type BlockPairing, exchangesOf, findRepeated, findReusedCalls, findUnpaired } from "../exchanges.ts";
import { messagesOf } from "../turns.ts";
import { type Check, asString, isBlank, join } from "../walk.ts";

/** The blocks of a kind, without those of tools the service runs itself. */
const ofKind = (turn: BedrockTurn, kind: string): readonly BedrockBlock[] =>
  turn.blocks.filter((block) => block.kind === kind && !isServerCall(block));

const pairing: BlockPairing<BedrockBlock> = {
  turnsOf,
  callsIn: (turn) => ofKind(turn, "toolUse"),
  resultsIn: (turn) => ofKind(turn, "toolResult"),
  idOf: callId,
};

/** Every call has a result in the next message. */
export const checkCallWithoutResult: Check = (body, report) => {
  for (const { calls, results } of exchangesOf(body, pairing)) {
    const open = findUnpaired(calls, results, pairing);
    const [first] = open;
    if (first === undefined) continue;
    report(
      first.pointer,
      `Expected toolResult blocks at messages.${first.message + 1}.content for the following Ids: ${open.slice(0, 20).map(callId).join(", ")}`,
    );
  }
};

/** On Claude, no text follows the calls of an assistant message: calls before it count as unanswered. */
export const checkTextAfterCall: Check = (body, report, target) => {
  if (bedrockFamily(target).id !== "claude") return;
  for (const turn of turnsOf(body)) {
    if (turn.role !== "assistant") continue;
    const last = turn.blocks.findLastIndex(({ kind }) => kind === "text" || kind === "reasoningContent");
    const cut = turn.blocks.slice(0, last + 1).filter((block) => block.kind === "toolUse" && !isServerCall(block));
    const [first] = cut;
    if (first !== undefined)
      report(
        first.pointer,
        `messages.${first.message}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${cut.slice(0, 20).map(callId).join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
  }
};

/** Every result belongs to a call of the previous message. */
export const checkResultWithoutCall: Check = (body, report) => {
  for (const { calls, results } of exchangesOf(body, pairing)) {
    const [extra] = findUnpaired(results, calls, pairing);
    if (extra !== undefined)
      report(
        extra.pointer,
        `The number of toolResult blocks at messages.${extra.message}.content exceeds the number of toolUse blocks of previous turn.`,
      );
  }
};

/** A call has one result. */
export const checkDuplicateResult: Check = (body, report) => {
  for (const { calls, results } of exchangesOf(body, pairing)) {
    const callIds = new Set(calls.map(callId));
    const [twice] = findRepeated(results, pairing);
    if (twice !== undefined && callIds.has(callId(twice)))
      report(
        twice.pointer,
        `The toolResult blocks at messages.${twice.message}.content contain duplicate Ids: ${callId(twice)}`,
      );
  }
};

/** Call ids are unique within a turn. */
export const checkDuplicateCall: Check = (body, report) => {
  for (const turn of turnsOf(body)) {
    const [twice] = turn.role === "assistant" ? findRepeated(pairing.callsIn(turn), pairing) : [];
    if (twice !== undefined)
      report(
        twice.pointer,
        `The toolUse blocks at messages.${twice.message}.content contain duplicate Ids: ${callId(twice)}`,
      );
  }
};

/** A call id reused in a later turn is accepted here but confuses other APIs and many clients. */
export const checkReusedCall: Check = (body, report) => {
  for (const call of findReusedCalls(body, pairing))
    report(call.pointer, `${call.path}: the id ${callId(call)} was used in an earlier turn`);
};

/** On Claude, results come before anything else in their message. */
export const checkResultFirst: Check = (body, report, target) => {
  if (bedrockFamily(target).id !== "claude") return;
  for (const { calls, answer } of exchangesOf(body, pairing)) {
    const other = answer?.blocks.findIndex(({ kind }) => kind !== "toolResult" && kind !== "cachePoint") ?? -1;
    const late = other < 0 ? undefined : answer?.blocks.slice(other).find((block) => block.kind === "toolResult");
    if (calls.length === 0 || late === undefined) continue;
    report(
      late.pointer,
      `messages.${late.message}: Did not find ${calls.length} \`tool_result\` block(s) at the beginning of this message. Messages following \`tool_use\` blocks must begin with a matching number of \`tool_result\` blocks.`,
    );
  }
};

/**
 * Some families accept nothing beside the results, not even in a separate message: consecutive messages of one role are
 * merged.
 */
export const checkBesideResult: Check = (body, report, target) => {
  if (!bedrockFamily(target).loneResults) return;
  for (const { calls, results, answer } of exchangesOf(body, pairing)) {
    const beside =
      calls.length > 0 && results.length > 0
        ? answer?.blocks.find((block) => block.kind !== "toolResult" && block.kind !== "cachePoint")
        : undefined;
    if (beside !== undefined)
      report(
        beside.pointer,
        `messages.${beside.message}.content: Conversation blocks and tool result blocks cannot be provided in the same turn.`,
      );
  }
};

/** Claude accepts a PDF beside results, but not a text document. */
export const checkTextDocumentBeside: Check = (body, report, target) => {
  if (bedrockFamily(target).id !== "claude") return;
  for (const { results, answer } of exchangesOf(body, pairing)) {
    const beside =
      results.length === 0
        ? undefined
        : answer?.blocks.find((block) => block.kind === "document" && fieldOf(block, "format") !== "pdf");
    if (beside !== undefined)
      report(
        beside.pointer,
        `messages.${beside.message}.content: a text document cannot stand in the same turn as tool results.`,
      );
  }
};

/** Ids have at most 64 characters of the allowed kinds. */
export const checkCallId: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    const id =
      block.kind === "toolUse" || block.kind === "toolResult" ? asString(fieldOf(block, "toolUseId")) : undefined;
    if (id === undefined || /^[a-zA-Z0-9_.:-]{1,64}$/.test(id)) continue;
    const rule =
      id.length > 64
        ? "Member must have length less than or equal to 64"
        : "Member must satisfy regular expression pattern: [a-zA-Z0-9_.:-]+";
    report(
      join(block.pointer, block.kind, "toolUseId"),
      `1 validation error detected: Value '${id.slice(0, 80)}' at '${block.path}.${block.kind}.toolUseId' failed to satisfy constraint: ${rule}`,
    );
  }
};

/** Dots and colons in ids are newly allowed by the service, not known to pass every model behind it. */
export const checkPortableId: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    const id = block.kind === "toolUse" ? callId(block) : "";
    if (/^[a-zA-Z0-9_.:-]{1,64}$/.test(id) && /[.:]/.test(id))
      report(
        join(block.pointer, "toolUse", "toolUseId"),
        `The id ${id} has dots or colons: the Claude backend wants [a-zA-Z0-9_-]+.`,
      );
  }
};

/** Calls and reasoning belong in assistant messages; results and media in user messages. */
export const checkMisplacedBlock: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    const owner = isServerCall(block) ? undefined : owners.get(block.kind);
    if (owner === undefined || block.role === owner || (block.role !== "user" && block.role !== "assistant")) continue;
    report(
      block.pointer,
      `The ${block.kind} block at ${block.path} can only be included in a message of the role ${owner}.`,
    );
  }
};

const owners: ReadonlyMap<string, string> = new Map([
  ["toolUse", "assistant"],
  ["reasoningContent", "assistant"],
  ["toolResult", "user"],
  ["image", "user"],
  ["document", "user"],
  ["video", "user"],
  ["audio", "user"],
]);

/** The conversation starts with a user message, except on families that allow otherwise. */
export const checkAssistantFirst: Check = (body, report, target) => {
  const [first] = messagesOf(body);
  if (first?.value["role"] !== "assistant" || bedrockFamily(target).assistantFirst) return;
  report(
    join(first.pointer, "role"),
    "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
  );
};

/** A conversation that starts with the assistant is refused by other families. */
export const checkPortableStart: Check = (body, report, target) => {
  const [first] = messagesOf(body);
  if (first?.value["role"] === "assistant" && bedrockFamily(target).assistantFirst)
    report(
      join(first.pointer, "role"),
      "A conversation that starts with the assistant is refused by Nova, Llama and Mistral.",
    );
};

/** Roles alternate, except on families known to merge consecutive messages of one role. */
export const checkAlternation: Check = (body, report, target) => {
  const second = bedrockFamily(target).mergesRoles ? undefined : secondOfRole(body);
  if (second !== undefined)
    report(
      second,
      "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
    );
};

/** Consecutive messages of one role are refused by some families. */
export const checkPortableAlternation: Check = (body, report, target) => {
  const second = bedrockFamily(target).mergesRoles ? secondOfRole(body) : undefined;
  if (second !== undefined) report(second, "Two messages of one role in a row are merged here and refused by Claude.");
};

/** The pointer to the first message with the same role as the one before it. */
const secondOfRole = (body: unknown): string | undefined => {
  const messages = messagesOf(body);
  const second = messages.find(({ value }, index) => index > 0 && value["role"] === messages[index - 1]?.value["role"]);
  return second === undefined ? undefined : join(second.pointer, "role");
};

/** From Claude 4.6 on the conversation ends with a user message. Another rule covers unanswered calls. */
export const checkPrefill: Check = (body, report, target) => {
  const last = lastTurn(body);
  if (findBedrockClaude(target)?.prefill !== false || last?.role !== "assistant" || ofKind(last, "toolUse").length > 0)
    return;
  report(
    join("/messages", last.first),
    "This model does not support assistant message prefill. The conversation must end with a user message.",
  );
};

/** On Claude, prefilled text does not end in white space. */
export const checkTrailingSpace: Check = (body, report, target) => {
  const last = lastTurn(body);
  const block =
    findBedrockClaude(target)?.prefill === true && last?.role === "assistant" ? last.blocks.at(-1) : undefined;
  const text = block?.kind === "text" ? asString(block.data) : undefined;
  if (block === undefined || text === undefined || isBlank(text) || text === text.trimEnd()) return;
  report(join(block.pointer, "text"), "messages: final assistant content cannot end with trailing whitespace");
};

/** The status of a result is `success` or `error`, on families that support it. */
export const checkStatus: Check = (body, report, target) => {
  const { status: known } = bedrockFamily(target);
  for (const block of blocksOf(body)) {
    const status = block.kind === "toolResult" ? fieldOf(block, "status") : undefined;
    if (status === undefined || status === null) continue;
    const where = join(block.pointer, "toolResult", "status");
    if (!known) report(where, "This model doesn't support the status field. Remove status and try again.");
    else if (status !== "success" && status !== "error")
      report(
        where,
        `1 validation error detected: Value at '${block.path}.toolResult.status' failed to satisfy constraint: Member must satisfy enum value set: [success, error]`,
      );
  }
};

/** On Claude, a result marked as an error contains non-empty text. */
export const checkErrorResult: Check = (body, report, target) => {
  if (bedrockFamily(target).id !== "claude") return;
  for (const block of blocksOf(body)) {
    if (block.kind !== "toolResult" || fieldOf(block, "status") !== "error") continue;
    const content = resultBlocks(block);
    const other = content.find((inner) => inner.kind !== "text" && inner.kind !== "json");
    if (content.length === 0)
      report(block.pointer, `${block.path}.tool_result: content cannot be empty if \`is_error\` is true`);
    else if (other !== undefined)
      report(other.pointer, `${block.path}.tool_result: all content must be type \`text\` if \`is_error\` is true`);
  }
};

/** Reasoning is sent back in the form the family expects: signed on Claude, unsigned elsewhere. */
export const checkReasoning: Check = (body, report, target) => {
  const { signature: rule } = bedrockFamily(target);
  for (const block of blocksOf(body)) {
    if (block.kind !== "reasoningContent" || rule === "free") continue;
    const text = fieldOf(block, "reasoningText");
    const signature = typeof text === "object" && text !== null && "signature" in text ? text.signature : undefined;
    const where = join(block.pointer, "reasoningContent", "reasoningText");
    if (rule === "needed" && text !== undefined && (typeof signature !== "string" || signature === ""))
      report(where, `${block.path}.thinking.signature: Field required`);
    if (rule === "refused" && signature !== undefined && signature !== null) {
      report(
        join(where, "signature"),
        "This model doesn't support the reasoningContent.reasoningText.signature field. Remove reasoningContent.reasoningText.signature and try again.",
      );
    }
  }
};
