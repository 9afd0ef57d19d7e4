/*
 * Requests that routers between agents and providers are known to break. Each case is sent to a gateway in front of a strict
 * simulator; it holds if the target accepts the request, all content arrives, and the client gets an answer it can use.
 */

/** The image of the cases: one red pixel is enough for a simulator to count it. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAUAAAADwAQAAAABZVoDGAAAAIElEQVR42u3BgQAAAADDoPlTH+ECVQEAAAAAAAAAAMA3JnAAAWMcpeUAAAAASUVORK5CYII=";

/** A request, and what must hold afterwards. */
export type HardCase = {
  readonly name: string;
  readonly body: { readonly [field: string]: unknown };
  /** Texts that must reach the target. */
  readonly arrives?: readonly string[];
  readonly hasImage?: boolean;
  /** A fault of the target, and what the client must get. */
  readonly fault?: { readonly status: number; readonly retryAfter?: number };
  readonly answer?: (answer: CaseAnswer) => boolean;
};

/** The answer of a gateway. */
export type CaseAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
};

const tool = {
  name: "read_file",
  description: "Reads a file.",
  input_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};
const user = (content: unknown): object => ({ role: "user", content });
const assistant = (content: unknown): object => ({ role: "assistant", content });
const use = (id: string, path: string): object => ({ type: "tool_use", id, name: "read_file", input: { path } });
const result = (id: string, content: unknown): object => ({ type: "tool_result", tool_use_id: id, content });
const messages = (list: readonly object[], more: object = {}): HardCase["body"] => ({
  model: "some-model",
  max_tokens: 1024,
  stream: true,
  system: [{ type: "text", text: "You are careful.", cache_control: { type: "ephemeral" } }],
  tools: [tool],
  messages: list,
  ...more,
});
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: png } };
const isUsableStream = ({ status, text }: CaseAnswer): boolean =>
  status === 200 && text.includes("event: message_start") && text.includes("event: message_stop");
const longId = `toolu_${"x".repeat(90)}`;

/** Anthropic Messages in front of a Chat Completions target. */
export const messagesCases: readonly HardCase[] = [
  {
    name: "parallel calls and their results",
    body: messages([
      user("Read a and b"),
      assistant([use("toolu_1", "a"), use("toolu_2", "b")]),
      user([result("toolu_1", "content of a"), result("toolu_2", [{ type: "text", text: "content of b" }])]),
    ]),
    arrives: ["content of a", "content of b"],
    answer: isUsableStream,
  },
  {
    name: "an image in a tool result",
    body: messages([user("Look"), assistant([use("toolu_1", "a.png")]), user([result("toolu_1", [image])])]),
    hasImage: true,
    answer: isUsableStream,
  },
  {
    name: "signed thinking in the history",
    body: messages(
      [
        user("Read a"),
        assistant([{ type: "thinking", thinking: "Hm.", signature: "c2lnbmF0dXJl" }, use("toolu_1", "a")]),
        user([result("toolu_1", "content of a")]),
      ],
      { thinking: { type: "enabled", budget_tokens: 1024 }, max_tokens: 4096 },
    ),
    arrives: ["content of a"],
    answer: isUsableStream,
  },
  {
    name: "fields of beta features",
    body: messages([user("Hello")], {
      context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
      output_config: { effort: "medium" },
      metadata: { user_id: "u" },
      tools: [{ ...tool, cache_control: { type: "ephemeral", ttl: "1h" }, input_examples: [{ path: "a" }] }],
    }),
    answer: isUsableStream,
  },
  {
    name: "a call without a result",
    body: messages([user("Read a"), assistant([use("toolu_1", "a")]), user("Never mind, say hello")]),
    arrives: ["Never mind, say hello"],
    answer: isUsableStream,
  },
  {
    name: "words beside the results",
    body: messages([
      user("Read a"),
      assistant([use("toolu_1", "a")]),
      user([result("toolu_1", "content of a"), { type: "text", text: "and be quick" }]),
    ]),
    arrives: ["content of a", "and be quick"],
    answer: isUsableStream,
  },
  {
    name: "ids longer than the target takes",
    body: messages([user("Read a"), assistant([use(longId, "a")]), user([result(longId, "content of a")])]),
    arrives: ["content of a"],
    answer: isUsableStream,
  },
  {
    name: "one id used twice",
    body: messages([
      user("Read a"),
      assistant([use("toolu_1", "a")]),
      user([result("toolu_1", "content of a")]),
      assistant([use("toolu_1", "b")]),
      user([result("toolu_1", "content of b")]),
    ]),
    arrives: ["content of a", "content of b"],
    answer: isUsableStream,
  },
  {
    name: "an error result with an image beside text",
    body: messages([
      user("Read a"),
      assistant([use("toolu_1", "a")]),
      user([{ ...result("toolu_1", [{ type: "text", text: "it failed" }, image]), is_error: true }]),
    ]),
    arrives: ["it failed"],
    hasImage: true,
    answer: isUsableStream,
  },
  {
    name: "a rate limit of the target",
    body: messages([user("Hello")]),
    fault: { status: 429, retryAfter: 7 },
    answer: ({ status, headers, text }) =>
      status === 429 && headers.get("retry-after") === "7" && text.includes('"rate_limit_error"'),
  },
  {
    name: "an overloaded target",
    body: messages([user("Hello")]),
    fault: { status: 503 },
    answer: ({ status, text }) => (status === 529 || status === 503) && text.includes('"overloaded_error"'),
  },
  {
    name: "a conversation that is too long",
    body: messages([user("word ".repeat(900_000))]),
    answer: ({ status, text }) => status === 400 && text.includes("prompt is too long"),
  },
];

const call = (id: string, args: string): object => ({
  id,
  type: "function",
  function: { name: "read_file", arguments: args },
});
const output = (id: string, content: unknown): object => ({ role: "tool", tool_call_id: id, content });
const chat = (list: readonly object[], more: object = {}): HardCase["body"] => ({
  model: "some-model",
  max_tokens: 1024,
  tools: [{ type: "function", function: { ...tool, input_schema: undefined, parameters: tool.input_schema } }],
  messages: [{ role: "system", content: "You are careful." }, ...list],
  ...more,
});
const isUsableChat = ({ status, text }: CaseAnswer): boolean =>
  status === 200 && text.includes('"finish_reason":"stop"');
const calls = (...list: readonly object[]): object => ({ role: "assistant", content: null, tool_calls: list });
const pictureUrl = { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } };

/** Chat Completions in front of an Anthropic target. */
export const chatCases: readonly HardCase[] = [
  {
    name: "a stream",
    body: chat([user("Hello")], { stream: true, stream_options: { include_usage: true } }),
    answer: (answer) => isUsableChat(answer) && answer.text.includes("data: [DONE]"),
  },
  {
    name: "parallel calls and their results",
    body: chat([
      user("Read a and b"),
      calls(call("call_1", '{"path":"a"}'), call("call_2", '{"path":"b"}')),
      output("call_1", "content of a"),
      output("call_2", "content of b"),
    ]),
    arrives: ["content of a", "content of b"],
    answer: isUsableChat,
  },
  {
    name: "an image in a tool result",
    body: chat([user("Look"), calls(call("call_1", '{"path":"a"}')), output("call_1", [pictureUrl])]),
    hasImage: true,
    answer: isUsableChat,
  },
  {
    name: "a call without a result",
    body: chat([user("Read a"), calls(call("call_1", '{"path":"a"}')), user("Never mind, say hello")]),
    arrives: ["Never mind, say hello"],
    answer: isUsableChat,
  },
  {
    name: "words between a call and its result",
    body: chat([
      user("Read a"),
      calls(call("call_1", '{"path":"a"}')),
      user("and be quick"),
      output("call_1", "content of a"),
    ]),
    arrives: ["content of a", "and be quick"],
    answer: isUsableChat,
  },
  {
    name: "one id used twice",
    body: chat([
      user("Read a"),
      calls(call("call_0", '{"path":"a"}')),
      output("call_0", "content of a"),
      calls(call("call_0", '{"path":"b"}')),
      output("call_0", "content of b"),
    ]),
    arrives: ["content of a", "content of b"],
    answer: isUsableChat,
  },
  {
    name: "ids with characters the target refuses",
    body: chat([
      user("Read a"),
      calls(call("functions.read_file:0", '{"path":"a"}')),
      output("functions.read_file:0", "content of a"),
    ]),
    arrives: ["content of a"],
    answer: isUsableChat,
  },
  {
    name: "arguments that are no JSON",
    body: chat([user("Read a"), calls(call("call_1", '{"path":')), output("call_1", "bad arguments")]),
    arrives: ["bad arguments"],
    answer: isUsableChat,
  },
  {
    name: "an empty answer in the history",
    body: chat([user("Hello"), assistant(""), user("Are you there?")]),
    arrives: ["Are you there?"],
    answer: isUsableChat,
  },
  {
    name: "an instruction in the middle",
    body: chat([user("Hello"), assistant("Hi."), { role: "system", content: "Be brief." }, user("Go on")]),
    arrives: ["Be brief.", "Go on"],
    answer: isUsableChat,
  },
  {
    name: "a rate limit of the target",
    body: chat([user("Hello")]),
    fault: { status: 429, retryAfter: 7 },
    answer: ({ status, headers }) => status === 429 && headers.get("retry-after") === "7",
  },
  {
    name: "a conversation that is too long",
    body: chat([user("word ".repeat(900_000))]),
    answer: ({ status, text }) => status === 400 && text.includes("context_length_exceeded"),
  },
];
