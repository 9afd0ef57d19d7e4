import { type BedrockBlock, blockKinds, blocksIn, blocksOf, fieldOf, resultBlocks, resultKinds } from "./body.ts";
import type { ReportFinding } from "../rule.ts";
import { messagesOf, unknownRoles } from "../turns.ts";
import { type Check, asArray, asObject, asString, isBlank, isObject, join, objectsIn } from "../walk.ts";

/** The body, its messages and their blocks are of the types the API parses. */
export const checkShape: Check = (body, report) => {
  if (!isObject(body)) {
    report("", "The request body must be a JSON object.");
    return;
  }
  const messages = body["messages"];
  // A stored prompt brings its own messages.
  if (messages === undefined && isObject(body["promptVariables"])) return;
  if (!Array.isArray(messages))
    report(
      messages === undefined ? "" : "/messages",
      "1 validation error detected: Value at 'messages' failed to satisfy constraint: Member must be a list",
    );
  else if (messages.length === 0) report("/messages", startText);
  asArray(messages).forEach((message, index) => checkMessage(message, index, report));
  const system = body["system"];
  if (system !== undefined && system !== null && !Array.isArray(system))
    report("/system", constraint("system", "Member must be a list"));
};

const startText =
  "A conversation must start with a user message. Try again with a conversation that starts with a user message.";

const constraint = (path: string, rule: string): string =>
  `1 validation error detected: Value at '${path}' failed to satisfy constraint: ${rule}`;

const checkMessage = (message: unknown, index: number, report: ReportFinding): void => {
  const pointer = join("/messages", index);
  const path = `messages.${index}`;
  if (!isObject(message)) {
    report(pointer, constraint(path, "Member must be a structure"));
    return;
  }
  if (asString(message["role"]) === undefined) report(pointer, constraint(`${path}.role`, "Member must not be null"));
  const content = message["content"];
  if (!Array.isArray(content))
    report(
      content === undefined ? pointer : join(pointer, "content"),
      constraint(`${path}.content`, "Member must be a list"),
    );
  asArray(content).forEach((block, at) => {
    if (!isObject(block))
      report(join(pointer, "content", at), constraint(`${path}.content.${at}`, "Member must be a structure"));
  });
  for (const block of blocksIn({ index, value: message, pointer })) checkFields(block, report);
};

/** The required fields of a block, by kind. */
const needed: ReadonlyMap<string, readonly string[]> = new Map([
  ["image", ["format", "source"]],
  ["document", ["name", "source"]],
  ["video", ["format", "source"]],
  ["audio", ["format", "source"]],
  ["toolUse", ["toolUseId", "name", "input"]],
  ["toolResult", ["toolUseId", "content"]],
]);

const checkFields = (block: BedrockBlock, report: ReportFinding): void => {
  const where = join(block.pointer, block.kind);
  const fields = needed.get(block.kind);
  if (block.kind === "text" && typeof block.data !== "string")
    report(where, constraint(`${block.path}.text`, "Member must be a string"));
  if (fields !== undefined && !isObject(block.data))
    report(where, constraint(`${block.path}.${block.kind}`, "Member must be a structure"));
  for (const field of isObject(block.data) ? (fields ?? []) : []) {
    if (fieldOf(block, field) === undefined || fieldOf(block, field) === null)
      report(where, constraint(`${block.path}.${block.kind}.${field}`, "Member must not be null"));
  }
  if (block.kind !== "toolResult" || !isObject(block.data)) return;
  const content = block.data["content"];
  if (content !== undefined && content !== null && !Array.isArray(content))
    report(join(where, "content"), constraint(`${block.path}.toolResult.content`, "Member must be a list"));
  asArray(content).forEach((inner, index) => {
    if (!isObject(inner))
      report(
        join(where, "content", index),
        constraint(`${block.path}.toolResult.content.${index}`, "Member must be a structure"),
      );
  });
  for (const inner of resultBlocks(block)) checkFields(inner, report);
};

/** A block has exactly one known member; inside a toolResult the list is shorter and has no audio. */
export const checkBlockKind: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    checkUnion(block, blockKinds, "ContentBlock", report);
    for (const inner of resultBlocks(block)) checkUnion(inner, resultKinds, "ToolResultContentBlock", report);
  }
};

const checkUnion = (block: BedrockBlock, kinds: ReadonlySet<string>, type: string, report: ReportFinding): void => {
  const members = Object.keys(block.value).filter(
    (name) => block.value[name] !== null && block.value[name] !== undefined,
  );
  const strange = members.find((name) => !kinds.has(name));
  if (members.length === 0)
    report(
      block.pointer,
      `The ${type} object at ${block.path} must set one of the following keys: ${[...kinds].join(", ")}.`,
    );
  else if (strange !== undefined)
    report(
      block.pointer,
      `The ${type} object at ${block.path} has the unknown key ${strange}. It must set one of the following keys: ${[...kinds].join(", ")}.`,
    );
  else if (members.length > 1)
    report(block.pointer, `The ${type} object at ${block.path} sets more than one key: ${members.join(", ")}.`);
};

/** Roles are `user`, `assistant` and, newly, `system`. */
export const checkRole: Check = (body, report) => {
  for (const { index, role, pointer } of unknownRoles(body)) {
    report(
      join(pointer, "role"),
      `1 validation error detected: Value '${role}' at 'messages.${index + 1}.member.role' failed to satisfy constraint: Member must satisfy enum value set: [user, assistant]`,
    );
  }
};

/** No text in messages or results is blank. */
export const checkBlankText: Check = (body, report) => {
  for (const { text, excused } of blankTexts(body)) if (!excused) report(join(text.pointer, "text"), blankText(text));
};

/** A blank text after a document was recorded as accepted, because a document needs a text beside it. */
export const checkBlankAfterDocument: Check = (body, report) => {
  for (const { text, excused } of blankTexts(body)) if (excused) report(join(text.pointer, "text"), blankText(text));
};

const blankText = (text: BedrockBlock): string =>
  `The text field in the ContentBlock object at ${text.path} is blank. Add text to the text field, and try again.`;

/** Every blank text, and whether a document precedes it in its message. */
function* blankTexts(body: unknown): Generator<{ readonly text: BedrockBlock; readonly excused: boolean }> {
  const withDocument = new Set<number>();
  for (const block of blocksOf(body)) {
    if (block.kind === "document") withDocument.add(block.message);
    for (const text of [block, ...resultBlocks(block)]) {
      if (text.kind === "text" && typeof text.data === "string" && isBlank(text.data))
        yield { text, excused: text === block && withDocument.has(block.message) };
    }
  }
}

/** No text of the system prompt is blank. */
export const checkBlankSystem: Check = (body, report) => {
  asArray(asObject(body)["system"]).forEach((block, index) => {
    const text = asObject(block)["text"];
    if (typeof text === "string" && isBlank(text))
      report(
        join("/system", index, "text"),
        `The text field in the SystemContentBlock object at system.${index} is blank. Add text to the text field, and try again.`,
      );
  });
};

/** A system block is text, a cache point or guarded content. */
export const checkSystemKind: Check = (body, report) => {
  asArray(asObject(body)["system"]).forEach((block, index) => {
    const known = isObject(block) && ["text", "cachePoint", "guardContent"].some((name) => Object.hasOwn(block, name));
    if (!known)
      report(
        join("/system", index),
        `The SystemContentBlock object at system.${index} must set one of the following keys: text, guardContent, cachePoint.`,
      );
  });
};

/** No message is empty. */
export const checkEmptyMessage: Check = (body, report) => {
  for (const { index, value, pointer } of messagesOf(body)) {
    const content = value["content"];
    if (Array.isArray(content) && content.length === 0) {
      report(
        join(pointer, "content"),
        `The content field in the Message object at messages.${index} is empty. Add a ContentBlock object to the content field and try again.`,
      );
    }
  }
};

/** An empty result should say so in text. */
export const checkEmptyResult: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    const content = block.kind === "toolResult" ? fieldOf(block, "content") : undefined;
    if (Array.isArray(content) && content.length === 0)
      report(
        join(block.pointer, "toolResult", "content"),
        `${block.path}.toolResult.content is empty: some families refuse that.`,
      );
  }
};

/** The arguments of a call are an object. */
export const checkCallInput: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    const input = block.kind === "toolUse" ? fieldOf(block, "input") : undefined;
    if (input === undefined || input === null || isObject(input)) continue;
    report(join(block.pointer, "toolUse", "input"), notJson(`${block.path}.toolUse.input`));
  }
};

/** A json result is an object. */
export const checkJsonResult: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    for (const inner of resultBlocks(block)) {
      if (inner.kind === "json" && !isObject(inner.data))
        report(join(inner.pointer, "json"), notJson(`${inner.path}.json`));
    }
  }
};

const notJson = (path: string): string =>
  `The format of the value at ${path} is invalid. Provide a json object for the field and try again.`;

/** No key in the arguments of a call is empty. */
export const checkEmptyKey: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    if (block.kind !== "toolUse") continue;
    for (const { value, pointer } of objectsIn(fieldOf(block, "input"), join(block.pointer, "toolUse", "input"))) {
      if (Object.hasOwn(value, "")) report(join(pointer, ""), `${block.path}.toolUse.input: keys must not be empty.`);
    }
  }
};
