import { isDeepStrictEqual } from "node:util";
import { isObject, type JsonObject } from "../../conversation/json.ts";
import type { InboundApi } from "./answer.ts";

/*
 * The order of events in a stream, as each vendor documents it, independent of the encoders: a stream is parsed with a few
 * lines of its own, and one function for each API walks over its events. Each returns what is wrong; nothing if all holds.
 */

/** An event of a stream: its name, "" without one, and its data as text. */
export type StreamEvent = { readonly name: string; readonly data: string };

/** Splits a stream of server-sent events. Comments are left out. */
export const splitEvents = (text: string): readonly StreamEvent[] =>
  text
    .split(/\r?\n\r?\n/)
    .map((block) => block.split(/\r?\n/).filter((line) => line !== "" && !line.startsWith(":")))
    .filter((lines) => lines.length > 0)
    .map((lines) => ({ name: fieldOf(lines, "event"), data: fieldOf(lines, "data") }));

const fieldOf = (lines: readonly string[], field: string): string =>
  lines
    .filter((line) => line.startsWith(`${field}: `))
    .map((line) => line.slice(field.length + 2))
    .join("\n");

/** Checks the order of events in a stream. */
export const checkGrammar = (api: InboundApi, events: readonly StreamEvent[]): readonly string[] => {
  const check = new GrammarCheck();
  grammars[api](check, events);
  return check.faults;
};

/** Collects faults. */
class GrammarCheck {
  readonly faults: string[] = [];

  expect(holds: boolean, fault: string): void {
    if (!holds) this.faults.push(fault);
  }

  equal(value: unknown, expected: unknown, name: string): void {
    this.expect(
      isDeepStrictEqual(value, expected),
      `${name} is ${JSON.stringify(value)}, not ${JSON.stringify(expected)}`,
    );
  }

  /** The JSON object in the data of an event. Its type is the event's name, where the API has names. */
  parse({ name, data }: StreamEvent, hasNames: boolean): JsonObject {
    const value: unknown = isJson(data) ? JSON.parse(data) : undefined;
    this.expect(isObject(value), `"${data}" is not an object`);
    const fields = objectOf(value);
    this.equal(name, hasNames ? fields["type"] : "", "the name");
    return fields;
  }
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
const objectOf = (value: unknown): JsonObject => (isObject(value) ? (value as JsonObject) : {});
const listOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.map(objectOf) : []);
const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

/** message_start, blocks one after another, message_delta, message_stop; or an error as the last event. Pings after the start. */
const walkAnthropic = (check: GrammarCheck, events: readonly StreamEvent[]): void => {
  let block: { readonly type: string; json: string; isSigned: boolean } | undefined;
  let blocks = 0;
  let state: "new" | "open" | "stopping" | "over" = "new";
  const inputs: string[] = [];
  for (const event of events) {
    const fields = check.parse(event, true);
    const type = textIn(fields["type"]);
    check.expect(state !== "over", `${type} after the end`);
    if (type === "error") {
      state = "over";
      block = undefined;
      check.expect(textIn(objectOf(fields["error"])["type"]) !== "", "an error without a type");
      continue;
    }
    if (type === "message_start") {
      check.equal(state, "new", "the state at message_start");
      const { content, stop_reason } = objectOf(fields["message"]);
      check.equal([content, stop_reason], [[], null], "the message at its start");
      state = "open";
      continue;
    }
    check.expect(state !== "new", `${type} before message_start`);
    if (type === "ping") continue;
    check.equal(state, type === "message_stop" ? "stopping" : "open", `the state at ${type}`);
    if (type === "content_block_start") {
      const content = objectOf(fields["content_block"]);
      check.expect(block === undefined, "a block starts inside a block");
      check.equal(fields["index"], blocks, "the index of a new block");
      check.equal(content, emptyBlock(content), "a new block");
      block = { type: textIn(content["type"]), json: "", isSigned: false };
    } else if (type === "content_block_delta") {
      const delta = objectOf(fields["delta"]);
      check.equal(fields["index"], blocks, "the index of a delta");
      check.expect(
        (blockDeltas[block?.type ?? ""] ?? []).includes(textIn(delta["type"])),
        `${textIn(delta["type"])} in ${block?.type ?? "no block"}`,
      );
      check.expect(block?.isSigned !== true, "a delta after the signature");
      if (block !== undefined) {
        block.isSigned = delta["type"] === "signature_delta";
        block.json += textIn(delta["partial_json"]);
      }
    } else if (type === "content_block_stop") {
      check.expect(block !== undefined, "a stop without a block");
      check.equal(fields["index"], blocks, "the index of a stop");
      blocks += 1;
      if (block?.type === "tool_use") inputs.push(block.json || "{}");
      block = undefined;
    } else if (type === "message_delta") {
      check.expect(block === undefined, "message_delta inside a block");
      const stopReason = objectOf(fields["delta"])["stop_reason"];
      // The calls of a response that was cut may be incomplete.
      if (stopReason === "tool_use") check.expect(inputs.every(isJson), "incomplete arguments");
      check.expect(textIn(stopReason) !== "", "message_delta without a reason");
      check.expect(typeof objectOf(fields["usage"])["output_tokens"] === "number", "message_delta without usage");
      state = "stopping";
    } else if (type === "message_stop") state = "over";
    else check.expect(false, `unknown event ${type}`);
  }
  check.equal(state, "over", "the state at the end");
};

const blockDeltas: Readonly<Record<string, readonly string[]>> = {
  text: ["text_delta"],
  thinking: ["thinking_delta", "signature_delta"],
  tool_use: ["input_json_delta"],
};

const emptyBlock = ({ type, id, name, caller }: JsonObject): JsonObject => {
  if (type === "text") return { type, text: "" };
  if (type === "thinking") return { type, thinking: "", signature: "" };
  return {
    type: "tool_use",
    id: textIn(id) || "no id",
    name: textIn(name) || "no name",
    input: {},
    caller: caller ?? "no caller",
  };
};

/** Chunks of one id: a role, deltas, a reason, the usage if asked for, [DONE]; or an error as the last event. */
const walkChat = (check: GrammarCheck, events: readonly StreamEvent[]): void => {
  let state: "new" | "open" | "finished" | "counted" | "over" = "new";
  let first: JsonObject | undefined;
  const calls: { json: string }[] = [];
  for (const event of events) {
    check.expect(state !== "over", `${event.data} after the end`);
    if (event.data === "[DONE]") {
      check.expect(state === "finished" || state === "counted", `[DONE] while ${state}`);
      state = "over";
      continue;
    }
    const fields = check.parse(event, false);
    if ("error" in fields) {
      check.expect(textIn(objectOf(fields["error"])["message"]) !== "", "an error without a message");
      state = "over";
      continue;
    }
    const { id, object, created, model } = fields;
    first ??= { id: id ?? null, object: object ?? null, created: created ?? null, model: model ?? null };
    check.equal({ id, object, created, model }, { ...first, object: "chat.completion.chunk" }, "the head of a chunk");
    const [choice, ...more] = listOf(fields["choices"]);
    check.equal(more, [], "further choices");
    if (choice === undefined) {
      check.equal(state, "finished", "the state at the usage");
      check.expect(typeof objectOf(fields["usage"])["total_tokens"] === "number", "a chunk without choice and usage");
      state = "counted";
      continue;
    }
    check.expect((fields["usage"] ?? null) === null, "usage in a chunk with a choice");
    check.equal(choice["index"], 0, "the index of the choice");
    const delta = objectOf(choice["delta"]);
    check.equal(delta["role"], state === "new" ? "assistant" : undefined, "the role");
    check.expect(state === "new" || state === "open", `a delta while ${state}`);
    state = choice["finish_reason"] === null ? "open" : "finished";
    if (state === "finished") check.equal(delta, {}, "the delta of the last choice");
    if (choice["finish_reason"] === "tool_calls")
      check.expect(
        calls.every((call) => isJson(call.json)),
        "incomplete arguments",
      );
    for (const call of listOf(delta["tool_calls"])) {
      const { name, arguments: json } = objectOf(call["function"]);
      if ("id" in call) {
        check.equal(call["index"], calls.length, "the index of a new call");
        check.expect(textIn(call["id"]) !== "" && textIn(name) !== "", "a call without id or name");
        check.equal([call["type"], json], ["function", ""], "a new call");
        calls.push({ json: "" });
      } else {
        check.equal(call["index"], calls.length - 1, "the index of arguments");
        check.equal([call["type"], name], [undefined, undefined], "the head of a call that was started");
        const last = calls.at(-1);
        if (last !== undefined) last.json += textIn(json);
      }
    }
  }
  check.equal(state, "over", "the state at the end");
};

/** created, in_progress, items one after another with their events, and one of completed, incomplete, failed as the last. */
const walkResponses = (check: GrammarCheck, events: readonly StreamEvent[]): void => {
  const done: JsonObject[] = [];
  let item: { readonly id: unknown; readonly type: string; readonly seen: string[]; text: string } | undefined;
  let state: "new" | "created" | "open" | "over" = "new";
  for (const [number, event] of events.entries()) {
    const fields = check.parse(event, true);
    const type = textIn(fields["type"]);
    check.equal(fields["sequence_number"], number, "the sequence number");
    check.expect(state !== "over", `${type} after the end`);
    if (state === "new" || state === "created") {
      check.equal(type, state === "new" ? "response.created" : "response.in_progress", "an event at the start");
      const { status, output } = objectOf(fields["response"]);
      check.equal([status, output], ["in_progress", []], "the response at its start");
      state = state === "new" ? "created" : "open";
      continue;
    }
    if (type === "keepalive") continue;
    if (["response.completed", "response.incomplete", "response.failed"].includes(type)) {
      const { status, output } = objectOf(fields["response"]);
      check.equal(`response.${textIn(status)}`, type, "the status");
      check.equal(output, done, "the output");
      check.expect(item === undefined || type === "response.failed", "the end inside an item");
      state = "over";
      continue;
    }
    if (type === "response.output_item.added") {
      const added = objectOf(fields["item"]);
      check.expect(item === undefined, "an item starts inside an item");
      check.equal(fields["output_index"], done.length, "the index of a new item");
      check.expect(textIn(added["id"]) !== "" && done.every(({ id }) => id !== added["id"]), "the id of a new item");
      item = { id: added["id"], type: textIn(added["type"]), seen: [], text: "" };
      continue;
    }
    check.equal(fields["output_index"], done.length, `the index of ${type}`);
    if (type === "response.output_item.done") {
      const whole = objectOf(fields["item"]);
      check.equal([whole["id"], whole["type"]], [item?.id, item?.type], "the item that is done");
      const steps = (item?.seen ?? []).join(" ");
      check.expect(itemSteps[item?.type ?? ""]?.test(steps) === true, `${item?.type ?? "no item"}: ${steps}`);
      if (steps !== "") check.equal(contentOf(whole), item?.text, "the content of the item");
      done.push(whole);
      item = undefined;
      continue;
    }
    check.equal(fields["item_id"], item?.id, `the item of ${type}`);
    const step = type.replace("response.", "");
    if (item === undefined) continue;
    if (step.endsWith(".delta")) item.text += textIn(fields["delta"]);
    else if (/(text|arguments|input)\.done$/.test(step))
      check.equal(fields["text"] ?? fields["arguments"] ?? fields["input"], item.text, `the content of ${type}`);
    if (item.seen.at(-1) !== step || !step.endsWith(".delta")) item.seen.push(step);
  }
  check.equal(state, "over", "the state at the end");
};

/** The events of an item, repeated deltas once. An item that carries a seal has none; a call that was cut has no end. */
const itemSteps: Readonly<Record<string, RegExp>> = {
  message: /^(content_part\.added( output_text\.delta)? output_text\.done content_part\.done)?$/,
  reasoning:
    /^(reasoning_summary_part\.added( reasoning_summary_text\.delta)? reasoning_summary_text\.done reasoning_summary_part\.done)?$/,
  function_call: /^(function_call_arguments\.delta)?( ?function_call_arguments\.done)?$/,
  custom_tool_call: /^(custom_tool_call_input\.delta custom_tool_call_input\.done)?$/,
  compaction: /^$/,
  image_generation_call: /^$/,
};

const contentOf = ({ content, summary, arguments: json, input }: JsonObject): string =>
  [...listOf(content), ...listOf(summary)].map(({ text }) => textIn(text)).join("") + textIn(json) + textIn(input);

/** Chunks of one response, each with one candidate that has parts; the reason in the last. Or an error as the last event. */
const walkGemini = (check: GrammarCheck, events: readonly StreamEvent[]): void => {
  let head: JsonObject | undefined;
  let isOver = false;
  for (const event of events) {
    const fields = check.parse(event, false);
    check.expect(!isOver, `${event.data} after the end`);
    if ("error" in fields) {
      isOver = true;
      check.expect(textIn(objectOf(fields["error"])["status"]) !== "", "an error without a status");
      continue;
    }
    const { responseId, modelVersion } = fields;
    head ??= { responseId: responseId ?? null, modelVersion: modelVersion ?? null };
    check.equal({ responseId, modelVersion }, head, "the head of a chunk");
    const [candidate = {}, ...more] = listOf(fields["candidates"]);
    check.equal([candidate["index"], more], [0, []], "the candidate");
    const { role, parts } = objectOf(candidate["content"]);
    check.equal(role, "model", "the role");
    check.expect(listOf(parts).length > 0, "a candidate without parts");
    for (const part of listOf(parts)) {
      const kinds = Object.keys(part).filter((name) => name !== "thought" && name !== "thoughtSignature");
      check.equal(kinds.length, 1, `the contents of ${JSON.stringify(part)}`);
      if ("functionCall" in part)
        check.expect(isObject(objectOf(part["functionCall"])["args"]), "a call without arguments");
    }
    isOver = "finishReason" in candidate;
  }
  check.expect(isOver, "no end");
};

const grammars: Readonly<Record<InboundApi, (check: GrammarCheck, events: readonly StreamEvent[]) => void>> = {
  anthropic: walkAnthropic,
  "openai-chat": walkChat,
  "openai-responses": walkResponses,
  gemini: walkGemini,
};
