import { parseCallInput } from "../../conversation/call-input.ts";
import type { JsonObject } from "../../conversation/json.ts";
import type { NewCall } from "../../conversation/ledger.ts";
import type { Code, Seal, Thinking } from "../../conversation/parts.ts";
import type { GeneratedFile } from "../../wire/decode/events.ts";
import type { AnswerContext, ClientTool, SealCargo } from "./answer.ts";
import { argumentText, type SequenceEvent } from "./sequence.ts";
import { createCallIds, createSealCarrier, textOfWhole, wrapCargo } from "./shared.ts";

/** An event about an item of a response. `done` is the item, once it is complete. */
export type ItemEvent = { readonly type: string; readonly fields: JsonObject; readonly done?: JsonObject };

type ItemSequenceEvent = Exclude<SequenceEvent, { type: "usage" | "finish" | "mismatch" }>;

type OpenItem =
  | { readonly kind: "text"; readonly id: string; readonly text: string; readonly phase: string | undefined }
  | { readonly kind: "thinking"; readonly id: string; readonly text: string }
  | {
      readonly kind: "call";
      readonly id: string;
      readonly text: string;
      readonly callId: string;
      readonly tool: ClientTool;
    };

/** Turns the parts of a response into items of the Responses API. */
export const createItems = (context: AnswerContext): ((event: ItemSequenceEvent) => readonly ItemEvent[]) => {
  const { thinking, tools } = context.options;
  const carrier = createSealCarrier(context);
  let place = -1;
  const nextCallId = createCallIds(context, "call_");
  let open: OpenItem | undefined;

  const itemId = (prefix: string): string => `${prefix}_${context.id}${place}`;
  const added = (item: JsonObject): ItemEvent => ({
    type: "response.output_item.added",
    fields: { output_index: place, item },
  });
  const finished = (item: JsonObject): ItemEvent => ({
    type: "response.output_item.done",
    fields: { output_index: place, item },
    done: item,
  });
  const about = (item: OpenItem, more: JsonObject): JsonObject => ({ item_id: item.id, output_index: place, ...more });
  const wholeItem = (
    prefix: string,
    item: (id: string) => JsonObject,
    start: JsonObject = {},
  ): readonly ItemEvent[] => {
    place += 1;
    const complete = item(itemId(prefix));
    return [added({ ...complete, ...start }), finished(complete)];
  };
  const carrierItem = (seal: Seal | undefined): readonly ItemEvent[] => {
    const carried = carrier.before(seal);
    return carried === undefined ? [] : wholeItem("rs", (id) => reasoningItem(id, "", carried));
  };

  const openItem = (event: Extract<ItemSequenceEvent, { type: "open" }>): readonly ItemEvent[] => {
    if (event.kind === "thinking" && thinking === "none") return [];
    const carried = event.kind === "thinking" ? [] : carrierItem(event.seal);
    place += 1;
    if (event.kind === "call") {
      const tool = tools?.get(event.tool) ?? { type: "function", name: event.tool };
      const callId = nextCallId(event.id);
      const item = { kind: "call", id: itemId(tool.type === "custom" ? "ctc" : "fc"), text: "", callId, tool } as const;
      open = item;
      return [...carried, added(callItem(item, "", "in_progress"))];
    }
    if (event.kind === "thinking") {
      open = { kind: "thinking", id: itemId("rs"), text: "" };
      const part = { type: "response.reasoning_summary_part.added", fields: about(open, summaryPart("")) };
      return [added(reasoningItem(open.id, "", undefined)), ...(thinking === "shown" ? [part] : [])];
    }
    open = { kind: "text", id: itemId("msg"), text: "", phase: event.seal?.phase };
    return [
      ...carried,
      added(messageItem(open, "in_progress", [])),
      { type: "response.content_part.added", fields: about(open, contentPart("")) },
    ];
  };

  const appendText = (item: OpenItem, delta: string): readonly ItemEvent[] => {
    open = { ...item, text: item.text + delta };
    switch (item.kind) {
      case "text":
        return [{ type: "response.output_text.delta", fields: about(item, { content_index: 0, delta, logprobs: [] }) }];
      case "thinking":
        return thinking === "shown"
          ? [{ type: "response.reasoning_summary_text.delta", fields: about(item, { summary_index: 0, delta }) }]
          : [];
      // The text of a custom tool is inside the JSON and known once that is complete.
      case "call":
        return item.tool.type === "custom"
          ? []
          : [{ type: "response.function_call_arguments.delta", fields: about(item, { delta }) }];
    }
  };

  const closeThinking = (item: OpenItem, part: Thinking): readonly ItemEvent[] => {
    const cargo: SealCargo = {
      ...(part.seal === undefined ? {} : { seal: part.seal }),
      ...(thinking === "sealed" ? { text: part.text } : {}),
    };
    const text = thinking === "shown" ? part.text : "";
    const ends =
      thinking === "shown"
        ? [
            { type: "response.reasoning_summary_text.done", fields: about(item, { summary_index: 0, text }) },
            { type: "response.reasoning_summary_part.done", fields: about(item, summaryPart(text)) },
          ]
        : [];
    return [...ends, finished(reasoningItem(item.id, text, wrapCargo(context, cargo)))];
  };

  const closeCall = (item: OpenItem & { kind: "call" }, call: NewCall): readonly ItemEvent[] => {
    const text = argumentText(call);
    if (item.tool.type !== "custom")
      return [
        { type: "response.function_call_arguments.done", fields: about(item, { arguments: text }) },
        finished(callItem(item, text, "completed")),
      ];
    const input = customInput(call);
    return [
      { type: "response.custom_tool_call_input.delta", fields: about(item, { delta: input }) },
      { type: "response.custom_tool_call_input.done", fields: about(item, { input }) },
      finished(callItem(item, input, "completed")),
    ];
  };

  const closeText = (item: OpenItem & { kind: "text" }, status: string): readonly ItemEvent[] => [
    {
      type: "response.output_text.done",
      fields: about(item, { content_index: 0, text: item.text, logprobs: [] }),
    },
    { type: "response.content_part.done", fields: about(item, contentPart(item.text)) },
    finished(messageItem(item, status, [outputText(item.text)])),
  ];

  const closeItem = (
    item: OpenItem,
    part: Extract<ItemSequenceEvent, { type: "close" }>["part"] | undefined,
  ): readonly ItemEvent[] => {
    open = undefined;
    switch (item.kind) {
      case "thinking":
        return closeThinking(item, part?.type === "thinking" ? part : { type: "thinking", text: item.text });
      case "text":
        if (part?.type !== "text") return closeText(item, "incomplete");
        // A message has its own phase here; only other seals must be carried.
        carrier.late("text", part.seal === undefined ? undefined : { ...part.seal, phase: "" });
        return closeText({ ...item, phase: part.seal?.phase ?? item.phase }, "completed");
      case "call":
        if (part?.type === "call") return closeCall(item, part);
        return [finished(callItem(item, item.text, "incomplete"))];
    }
  };

  return (event) => {
    switch (event.type) {
      case "open":
        return openItem(event);
      case "delta":
        return open === undefined ? [] : appendText(open, event.text);
      case "close":
        return open === undefined ? [] : closeItem(open, event.part);
      case "cut":
        return open === undefined ? [] : closeItem(open, undefined);
      case "whole":
        return encodeWhole(event.part, wholeItem);
      case "late-seal":
        carrier.late(event.of, event.seal);
        return [];
    }
  };
};

/** Turns the text of a response into one item of type `compaction`, which only the gateway reads. */
export const createCompactionItem =
  (context: AnswerContext): ((event: ItemSequenceEvent) => readonly ItemEvent[]) =>
  (event) => {
    if (event.type !== "close" || event.part.type !== "text") return [];
    const encrypted = wrapCargo(context, { text: event.part.text }) ?? "";
    const item = { id: `cmp_${context.id}`, type: "compaction", encrypted_content: encrypted };
    return [
      { type: "response.output_item.added", fields: { output_index: 0, item } },
      { type: "response.output_item.done", fields: { output_index: 0, item }, done: item },
    ];
  };

const encodeWhole = (
  part: Code | GeneratedFile,
  wholeItem: (prefix: string, item: (id: string) => JsonObject, start?: JsonObject) => readonly ItemEvent[],
): readonly ItemEvent[] => {
  const format = part.type === "file" ? /^image\/(\w+)$/.exec(part.mimeType)?.[1] : undefined;
  if (part.type === "file" && format !== undefined)
    return wholeItem(
      "ig",
      (id) => ({
        id,
        type: "image_generation_call",
        status: "completed",
        output_format: format,
        result: part.data,
      }),
      { status: "in_progress", result: null },
    );
  const text = textOfWhole(part);
  return wholeItem("msg", (id) => messageItem({ id, phase: undefined }, "completed", [outputText(text)]), {
    status: "in_progress",
    content: [],
  });
};

const messageItem = (
  { id, phase }: { readonly id: string; readonly phase: string | undefined },
  status: string,
  content: readonly JsonObject[],
): JsonObject => ({
  id,
  type: "message",
  status,
  role: "assistant",
  content,
  ...(phase === undefined || phase === "" ? {} : { phase }),
});

const outputText = (text: string): JsonObject => ({ type: "output_text", text, annotations: [], logprobs: [] });

const contentPart = (text: string): JsonObject => ({ content_index: 0, part: outputText(text) });

const summaryPart = (text: string): JsonObject => ({ summary_index: 0, part: { type: "summary_text", text } });

const reasoningItem = (id: string, text: string, encrypted: string | undefined): JsonObject => ({
  id,
  type: "reasoning",
  summary: text === "" ? [] : [{ type: "summary_text", text }],
  ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
});

const callItem = (
  { id, callId, tool }: OpenItem & { readonly kind: "call" },
  text: string,
  status: string,
): JsonObject => ({
  id,
  type: tool.type === "custom" ? "custom_tool_call" : "function_call",
  status,
  call_id: callId,
  name: tool.name,
  ...(tool.namespace === undefined ? {} : { namespace: tool.namespace }),
  [tool.type === "custom" ? "input" : "arguments"]: text,
});

/** Returns the text for a custom tool: the argument `input`, or everything the model wrote instead. */
const customInput = (call: NewCall): string => {
  const parsed = parseCallInput(call.input);
  if (parsed.type === "malformed") return parsed.text;
  const { input } = parsed.value;
  return typeof input === "string" ? input : argumentText(call);
};
