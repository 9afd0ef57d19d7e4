import { EventStreamCodec } from "@smithy/eventstream-codec";
import type { WireId } from "../src/wire/wire.ts";

/** One event, before it is written. */
export type Event = { readonly name: string; readonly data: unknown };

/** The content of one round. `call` is JSON in pieces. */
export type Round = {
  readonly thinking: readonly string[];
  readonly text: readonly string[];
  readonly call: readonly string[];
};

/** How one family streams an answer. */
export type Shape = {
  readonly head: readonly Event[];
  readonly round: (number: number, said: Round) => readonly Event[];
  readonly tail: readonly Event[];
  readonly write: (event: Event) => Uint8Array;
  /** The first event of a stream of tiny events, and one of the others. */
  readonly opening: readonly Event[];
  readonly tiny: (text: string) => Event;
};

const encoder = new TextEncoder();

const sse = (eol: string, named: boolean) => {
  return ({ name, data }: Event): Uint8Array => {
    const line = `data: ${typeof data === "string" ? data : JSON.stringify(data)}`;
    return encoder.encode(`${named ? `event: ${name}${eol}` : ""}${line}${eol}${eol}`);
  };
};

type Data = { readonly type: string } & Record<string, unknown>;

const unnamed = (data: unknown): Event => ({ name: "", data });

const named = (data: Data): Event => ({ name: data.type, data });

const gemini = (parts: readonly unknown[], more: Record<string, unknown> = {}): Event =>
  unnamed({
    candidates: [{ content: { parts, role: "model" }, index: 0, ...more }],
    usageMetadata: {
      promptTokenCount: 1024,
      candidatesTokenCount: 2048,
      totalTokenCount: 3584,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: 1024 }],
      thoughtsTokenCount: 512,
    },
    modelVersion: "gemini-3.8-flash",
    responseId: "J3dHapyWENS3g8UPyrefuAE",
  });

const geminiCall = (number: number, call: readonly string[]): readonly Event[] => [
  gemini([{ functionCall: { name: "write_file", id: `call${number}`, willContinue: true } }]),
  ...call.map((stringValue) =>
    gemini([
      { functionCall: { partialArgs: [{ jsonPath: "$.text", stringValue, willContinue: true }], willContinue: true } },
    ]),
  ),
  gemini([{ functionCall: {} }]),
];

const anthropicBlock = (
  index: number,
  block: unknown,
  deltas: readonly Record<string, unknown>[],
): readonly Event[] => [
  named({ type: "content_block_start", index, content_block: block }),
  ...deltas.map((delta) => named({ type: "content_block_delta", index, delta })),
  named({ type: "content_block_stop", index }),
];

const anthropicRound = (round: number, { thinking, text, call }: Round): readonly Event[] => [
  ...anthropicBlock(round * 3, { type: "thinking", thinking: "", signature: "" }, [
    ...thinking.map((words) => ({ type: "thinking_delta", thinking: words })),
    { type: "signature_delta", signature: "EqQBCgIYAhIM" },
  ]),
  ...anthropicBlock(
    round * 3 + 1,
    { type: "text", text: "" },
    text.map((words) => ({ type: "text_delta", text: words })),
  ),
  ...anthropicBlock(
    round * 3 + 2,
    { type: "tool_use", id: `toolu_${round}`, name: "write_file", input: {} },
    call.map((json) => ({ type: "input_json_delta", partial_json: json })),
  ),
];

const bedrockBlock = (contentBlockIndex: number, start: unknown, deltas: readonly unknown[]): readonly Event[] => [
  ...(start === undefined ? [] : [{ name: "contentBlockStart", data: { contentBlockIndex, start, p: "abcdefgh" } }]),
  ...deltas.map((delta) => ({ name: "contentBlockDelta", data: { contentBlockIndex, delta, p: "abcdefghijklmnop" } })),
  { name: "contentBlockStop", data: { contentBlockIndex, p: "abcd" } },
];

const bedrockRound = (round: number, { thinking, text, call }: Round): readonly Event[] => [
  ...bedrockBlock(round * 3, undefined, [
    ...thinking.map((words) => ({ reasoningContent: { text: words } })),
    { reasoningContent: { signature: "EqQBCgIYAhIM" } },
  ]),
  ...bedrockBlock(
    round * 3 + 1,
    undefined,
    text.map((words) => ({ text: words })),
  ),
  ...bedrockBlock(
    round * 3 + 2,
    { toolUse: { toolUseId: `tooluse_${round}`, name: "write_file" } },
    call.map((input) => ({ toolUse: { input } })),
  ),
];

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString(),
  (text) => encoder.encode(text),
);

const eventStream = ({ name, data }: Event): Uint8Array =>
  codec.encode({
    headers: {
      ":event-type": { type: "string", value: name },
      ":content-type": { type: "string", value: "application/json" },
      ":message-type": { type: "string", value: "event" },
    },
    body: encoder.encode(JSON.stringify(data)),
  });

const chat = (delta: Record<string, unknown>, finish_reason: string | null = null): Event =>
  unnamed({
    id: "chatcmpl-CNqzbZyqVdEYm7XQ8fJ1",
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model: "gpt-5.6",
    service_tier: "default",
    system_fingerprint: null,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    obfuscation: "Xk3",
  });

const chatRound = (round: number, { thinking, text, call }: Round): readonly Event[] => [
  ...thinking.map((words) => chat({ reasoning_content: words })),
  ...text.map((content) => chat({ content })),
  chat({
    tool_calls: [
      { index: round, id: `call_${round}`, type: "function", function: { name: "write_file", arguments: "" } },
    ],
  }),
  ...call.map((json) => chat({ tool_calls: [{ index: round, function: { arguments: json } }] })),
];

/** An item: its beginning, its pieces and, once more as a whole, its end. */
const responsesItem = (
  output_index: number,
  item: Data & { readonly id: string },
  { whole, deltas }: { readonly whole: Record<string, unknown>; readonly deltas: readonly Data[] },
): readonly Data[] => [
  { type: "response.output_item.added", output_index, item: { ...item, status: "in_progress" } },
  ...deltas.map((delta) => ({ ...delta, item_id: item.id, output_index, obfuscation: "Xk3" })),
  { type: "response.output_item.done", output_index, item: { ...item, ...whole, status: "completed" } },
];

const responsesRound = (round: number, { thinking, text, call }: Round): readonly Event[] => {
  const place = round * 3;
  const id = `0a1b2c3d4e5f6071_${round}`;
  const thought = responsesItem(
    place,
    { id: `rs_${id}`, type: "reasoning", summary: [] },
    {
      whole: { summary: [{ type: "summary_text", text: thinking.join("") }] },
      deltas: thinking.map((delta) => ({ type: "response.reasoning_summary_text.delta", summary_index: 0, delta })),
    },
  );
  const message = responsesItem(
    place + 1,
    { id: `msg_${id}`, type: "message", role: "assistant", content: [] },
    {
      whole: { content: [{ type: "output_text", annotations: [], logprobs: [], text: text.join("") }] },
      deltas: text.map((delta) => ({ type: "response.output_text.delta", content_index: 0, delta, logprobs: [] })),
    },
  );
  const write = responsesItem(
    place + 2,
    { id: `fc_${id}`, type: "function_call", call_id: `call_${round}`, name: "write_file" },
    {
      whole: { arguments: call.join("") },
      deltas: call.map((delta) => ({ type: "response.function_call_arguments.delta", delta })),
    },
  );
  return [...thought, ...message, ...write].map((data, index) =>
    named({ ...data, sequence_number: 1 + round * 1000 + index }),
  );
};

/** The finished response would say everything once more, in one line. It is left empty: no SDK is made to read a line of 20 MB. */
const response = (status: string): Record<string, unknown> => ({
  id: "resp_0a1b2c3d",
  object: "response",
  model: "gpt-5.6",
  status,
  output: [],
});

const messageStart = named({
  type: "message_start",
  message: {
    id: "msg_01",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-5",
    content: [],
    usage: { input_tokens: 9 },
  },
});

/** How each family streams an answer. */
export const shapes: Readonly<Record<WireId, Shape>> = {
  gemini: {
    head: [],
    round: (round, { thinking, text, call }) => [
      ...thinking.map((words) => gemini([{ text: words, thought: true }])),
      ...text.map((words) => gemini([{ text: words }])),
      ...geminiCall(round, call),
    ],
    tail: [gemini([{ text: "." }], { finishReason: "STOP" })],
    // As Google's servers end their lines.
    write: sse("\r\n", false),
    opening: [],
    tiny: (text) => unnamed({ candidates: [{ content: { parts: [{ text }] } }] }),
  },
  anthropic: {
    head: [messageStart],
    round: anthropicRound,
    tail: [
      named({ type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } }),
      named({ type: "message_stop" }),
    ],
    write: sse("\n", true),
    opening: [
      messageStart,
      named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    ],
    tiny: (text) => named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
  },
  bedrock: {
    head: [{ name: "messageStart", data: { role: "assistant", p: "abc" } }],
    round: bedrockRound,
    tail: [
      { name: "messageStop", data: { stopReason: "tool_use" } },
      {
        name: "metadata",
        data: { usage: { inputTokens: 9, outputTokens: 9, totalTokens: 18 }, metrics: { latencyMs: 9 } },
      },
    ],
    write: eventStream,
    opening: [{ name: "messageStart", data: { role: "assistant" } }],
    tiny: (text) => ({ name: "contentBlockDelta", data: { contentBlockIndex: 0, delta: { text } } }),
  },
  "openai-chat": {
    head: [chat({ role: "assistant", content: "", refusal: null })],
    round: chatRound,
    tail: [chat({}, "tool_calls"), unnamed("[DONE]")],
    write: sse("\n", false),
    opening: [],
    tiny: (content) => unnamed({ choices: [{ delta: { content } }] }),
  },
  "openai-responses": {
    head: [named({ type: "response.created", sequence_number: 0, response: response("in_progress") })],
    round: responsesRound,
    tail: [named({ type: "response.completed", sequence_number: 2 ** 31, response: response("completed") })],
    write: sse("\n", true),
    opening: [
      named({
        type: "response.output_item.added",
        output_index: 0,
        item: { id: "m", type: "message", role: "assistant" },
      }),
    ],
    tiny: (delta) =>
      named({ type: "response.output_text.delta", item_id: "m", output_index: 0, content_index: 0, delta }),
  },
};
