import type { WireId } from "../../src/wire/wire.ts";

/** A transcript that broke another agent: the body, and the words that must survive it. */
export type BrokenTranscript = {
  readonly row: string;
  readonly name: string;
  readonly from: WireId;
  readonly body: unknown;
  readonly words: readonly string[];
};

const user = (content: unknown): unknown => ({ role: "user", content });
const assistant = (...content: readonly unknown[]): unknown => ({ role: "assistant", content });
const said = (text: string): unknown => ({ type: "text", text });
const use = (id: string, input: unknown = {}, name = "read_file"): unknown => ({ type: "tool_use", id, name, input });
const result = (id: string, content: unknown = "ok"): unknown => ({ type: "tool_result", tool_use_id: id, content });
const claude = (...messages: readonly unknown[]): unknown => ({
  model: "claude-sonnet-5",
  max_tokens: 1024,
  tools: [{ name: "read_file", input_schema: { type: "object", properties: {} } }],
  messages,
});

const chatUser = (content: string): unknown => ({ role: "user", content });
const chatCall = (id: string, args = "{}", name = "read_file"): unknown => ({
  id,
  type: "function",
  function: { name, arguments: args },
});
const calls = (...tool_calls: readonly unknown[]): unknown => ({ role: "assistant", content: null, tool_calls });
const tool = (tool_call_id: string, content: unknown = "ok"): unknown => ({ role: "tool", tool_call_id, content });
const chat = (...messages: readonly unknown[]): unknown => ({ model: "gpt-5.6", messages });

const item = (type: string, fields: object): unknown => ({ type, ...fields });
const responses = (...input: readonly unknown[]): unknown => ({ model: "gpt-5.6", store: false, input });

const gemini = (...contents: readonly unknown[]): unknown => ({ contents });
const content = (role: string, ...parts: readonly unknown[]): unknown => ({ role, parts });

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: png } };
const long = `call_${"x".repeat(420)}|fc_${"y".repeat(40)}`;

/** Rows of transcripts found in public threads, by number. */
export const brokenTranscripts: readonly BrokenTranscript[] = [
  {
    row: "1",
    name: "a run cancelled in the middle of a tool",
    from: "anthropic",
    body: claude(user("go"), assistant(use("toolu_1")), user("never mind")),
    words: ["go", "never mind"],
  },
  {
    row: "1b",
    name: "the user types while the tool runs",
    from: "anthropic",
    body: claude(user("go"), assistant(use("toolu_1")), user("hurry"), user([result("toolu_1", "done 1")])),
    words: ["go", "hurry", "done 1"],
  },
  {
    row: "2",
    name: "an aborted assistant is gone, its results are not",
    from: "anthropic",
    body: claude(user("go"), user([result("toolu_9", "left over")]), user("and?")),
    words: ["go", "left over", "and?"],
  },
  {
    row: "3",
    name: "a synthetic result, then the late real one",
    from: "anthropic",
    body: claude(
      user("go"),
      assistant(use("toolu_1")),
      user([result("toolu_1", "aborted")]),
      user([result("toolu_1", "the real one")]),
    ),
    words: ["aborted", "the real one"],
  },
  {
    row: "4",
    name: "two compactions; the kept window starts with a result",
    from: "openai-responses",
    body: responses(
      { role: "user", content: "summary of the summary" },
      item("function_call_output", { call_id: "call_7", output: "orphaned" }),
      { role: "user", content: "go on" },
    ),
    words: ["summary of the summary", "orphaned", "go on"],
  },
  {
    row: "5",
    name: "a compaction cut inside a parallel batch, with a blank id",
    from: "openai-chat",
    body: chat(chatUser("summary"), tool("", "second half"), tool("b", "third"), chatUser("next")),
    words: ["summary", "second half", "third", "next"],
  },
  {
    row: "6",
    name: "a compaction with a call in flight",
    from: "anthropic",
    body: claude(user("go"), assistant(said("working"), use("toolu_1")), user("Summarise the conversation.")),
    words: ["go", "Summarise the conversation."],
  },
  {
    row: "7",
    name: "ids of call and item glued together, over 450 characters",
    from: "openai-responses",
    body: responses(
      { role: "user", content: "go" },
      item("function_call", { call_id: long, name: "read_file", arguments: "{}" }),
      item("function_call_output", { call_id: long, output: "found" }),
    ),
    words: ["go", "found"],
  },
  {
    row: "8",
    name: "a long id on Chat Completions",
    from: "openai-chat",
    body: chat(chatUser("go"), calls(chatCall("x".repeat(83))), tool("x".repeat(83), "found")),
    words: ["go", "found"],
  },
  {
    row: "9",
    name: "a long call_id on Responses",
    from: "openai-responses",
    body: responses(
      { role: "user", content: "go" },
      item("function_call", { call_id: "y".repeat(86), name: "read_file", arguments: "{}" }),
      item("function_call_output", { call_id: "y".repeat(86), output: "found" }),
    ),
    words: ["found"],
  },
  {
    row: "10",
    name: "a Gemini signature smuggled in the id",
    from: "openai-chat",
    body: chat(
      chatUser("go"),
      calls(chatCall(`call_1__thought__${"Ab+/".repeat(60)}`)),
      tool(`call_1__thought__${"Ab+/".repeat(60)}`, "found"),
    ),
    words: ["found"],
  },
  {
    row: "11",
    name: "any foreign id on Mistral",
    from: "openai-chat",
    body: chat(chatUser("go"), calls(chatCall("call_abc-DEF")), tool("call_abc-DEF", "found")),
    words: ["found"],
  },
  {
    row: "12",
    name: "siblings that share a nine-character prefix, beside a later legal id",
    from: "openai-chat",
    body: chat(
      chatUser("go"),
      calls(chatCall("callabcde1"), chatCall("callabcde2")),
      tool("callabcde1", "one"),
      tool("callabcde2", "two"),
      calls(chatCall("c00000001")),
      tool("c00000001", "three"),
    ),
    words: ["one", "two", "three"],
  },
  {
    row: "13",
    name: "an image promoted to a user message between results",
    from: "openai-chat",
    body: chat(
      chatUser("go"),
      calls(chatCall("a"), chatCall("b")),
      tool("a", "see below"),
      { role: "user", content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }] },
      tool("b", "two"),
    ),
    words: ["go", "see below", "two"],
  },
  {
    row: "14",
    name: "two calls with one id in one turn",
    from: "anthropic",
    body: claude(
      user("go"),
      assistant(use("toolu_1", { n: 1 }), use("toolu_1", { n: 2 })),
      user([result("toolu_1", "first"), result("toolu_1", "second")]),
    ),
    words: ["first", "second"],
  },
  {
    row: "14 blank",
    name: "blank ids in one turn",
    from: "openai-chat",
    body: chat(chatUser("go"), calls(chatCall(""), chatCall("")), tool("", "first"), tool("", "second")),
    words: ["first", "second"],
  },
  {
    row: "15",
    name: "ids that start over every turn",
    from: "openai-chat",
    body: chat(
      chatUser("go"),
      calls(chatCall("list_dir:0", '{"p":1}')),
      tool("list_dir:0", "one"),
      calls(chatCall("list_dir:0", '{"p":2}')),
      tool("list_dir:0", "two"),
    ),
    words: ["one", "two"],
  },
  {
    row: "16",
    name: "foreign ids in a Kimi history",
    from: "openai-chat",
    body: chat(chatUser("go"), calls(chatCall("call_1")), tool("call_1", "found")),
    words: ["found"],
  },
  {
    row: "17",
    name: "call_0 reused in consecutive responses",
    from: "bedrock",
    body: {
      messages: [
        { role: "user", content: [{ text: "go" }] },
        { role: "assistant", content: [{ toolUse: { toolUseId: "call_0", name: "read_file", input: { n: 1 } } }] },
        { role: "user", content: [{ toolResult: { toolUseId: "call_0", content: [{ text: "one" }] } }] },
        { role: "assistant", content: [{ toolUse: { toolUseId: "call_0", name: "read_file", input: { n: 2 } } }] },
        { role: "user", content: [{ toolResult: { toolUseId: "call_0", content: [{ text: "two" }] } }] },
      ],
    },
    words: ["one", "two"],
  },
  {
    row: "18",
    name: "a stream cut inside the arguments",
    from: "openai-chat",
    body: chat(chatUser("go"), calls(chatCall("call_1", '{"path":"/tmp/a')), chatUser("again")),
    words: ["go", "again"],
  },
  {
    row: "19",
    name: "arguments that are JSON but no object",
    from: "openai-chat",
    body: chat(chatUser("go"), calls(chatCall("call_1", "[]")), tool("call_1", "found")),
    words: ["found"],
  },
  {
    row: "20",
    name: "another model's signed thinking",
    from: "anthropic",
    body: claude(
      user("go"),
      assistant({ type: "thinking", thinking: "hm", signature: "c2lnbmF0dXJlIG9mIGFub3RoZXI=" }, use("toolu_1")),
      user([result("toolu_1", "found")]),
    ),
    words: ["found"],
  },
  {
    row: "21",
    name: "thinking after a system prompt that changed",
    from: "anthropic",
    body: {
      ...(claude(
        user("go"),
        assistant({ type: "thinking", thinking: "hm", signature: "c2lnbmF0dXJlIG9mIGFub3RoZXI=" }, said("so")),
        user("more"),
      ) as object),
      system: "It is 12:01.",
    },
    words: ["go", "more"],
  },
  {
    row: "22",
    name: "thinking switched on inside a tool loop without any",
    from: "anthropic",
    body: {
      ...(claude(user("go"), assistant(use("toolu_1")), user([result("toolu_1", "found")])) as object),
      model: "claude-haiku-4-5",
      thinking: { type: "enabled", budget_tokens: 2048 },
      max_tokens: 4096,
    },
    words: ["found"],
  },
  {
    row: "23",
    name: "a repair in the latest assistant turn",
    from: "anthropic",
    body: claude(
      user("go"),
      assistant(
        { type: "thinking", thinking: "hm", signature: "c2lnbmF0dXJlIG9mIGFub3RoZXI=" },
        use("toolu_1"),
        use("toolu_2"),
      ),
      user([result("toolu_2", "only this")]),
    ),
    words: ["only this"],
  },
  {
    row: "24",
    name: "calls of another model, then Gemini 3",
    from: "gemini",
    body: gemini(
      content("user", { text: "go" }),
      content("model", { functionCall: { name: "read_file", args: {} } }),
      content("user", { functionResponse: { name: "read_file", response: { output: "found" } } }),
    ),
    words: ["go", "found"],
  },
  {
    row: "25",
    name: "a history without reasoning, then DeepSeek or Kimi",
    from: "openai-chat",
    body: chat(
      chatUser("go"),
      calls(chatCall("call_1")),
      tool("call_1", "found"),
      { role: "assistant", content: "so" },
      chatUser("more"),
    ),
    words: ["found", "more"],
  },
  {
    row: "26",
    name: "a reasoning item whose follower is gone",
    from: "openai-responses",
    body: responses(
      { role: "user", content: "go" },
      item("reasoning", { id: "rs_1", summary: [], encrypted_content: "gAAAA" }),
      { role: "user", content: "more" },
    ),
    words: ["go", "more"],
  },
  {
    row: "27",
    name: "an image in an old result, then a text model",
    from: "anthropic",
    body: claude(
      user("go"),
      assistant(use("toolu_1")),
      user([result("toolu_1", [said("the picture"), image])]),
      assistant(said("nice")),
      user("more"),
    ),
    words: ["the picture", "more"],
  },
  {
    row: "28",
    name: "a function response with parts, from Gemini 3 to everyone",
    from: "gemini",
    body: gemini(
      content("user", { text: "go" }),
      content("model", { functionCall: { id: "a", name: "snap", args: {} } }),
      content("user", {
        functionResponse: {
          id: "a",
          name: "snap",
          response: { output: "shot" },
          parts: [{ inlineData: { mimeType: "image/png", data: png } }],
        },
      }),
    ),
    words: ["shot"],
  },
  {
    row: "29",
    name: "half a character, and blank texts",
    from: "anthropic",
    body: claude(user([said("cut \ud83d"), said("")]), assistant(said(" ")), user([said("\n"), said("more")])),
    words: ["cut ", "more"],
  },
  {
    row: "30 tools",
    name: "tool blocks without any tool declared",
    from: "anthropic",
    body: {
      model: "claude-sonnet-5",
      max_tokens: 10,
      messages: [user("go"), assistant(use("toolu_1")), user([result("toolu_1", "found")])],
    },
    words: ["found"],
  },
  {
    row: "30 names",
    name: "a tool name with dots",
    from: "gemini",
    body: gemini(
      content("user", { text: "go" }),
      content("model", { functionCall: { id: "a", name: "mcp.files:list", args: {} } }),
      content("user", { functionResponse: { id: "a", name: "mcp.files:list", response: { output: "found" } } }),
    ),
    words: ["found"],
  },
  {
    row: "30 prefill",
    name: "a trailing assistant",
    from: "anthropic",
    body: claude(user("go"), assistant(said("The answer is"))),
    words: ["go"],
  },
  {
    row: "30 count",
    name: "fewer function responses than calls",
    from: "gemini",
    body: gemini(
      content("user", { text: "go" }),
      content("model", { functionCall: { name: "a", args: {} } }, { functionCall: { name: "b", args: {} } }),
      content("user", { functionResponse: { name: "b", response: { output: "found" } } }, { text: "see?" }),
    ),
    words: ["found", "see?"],
  },
  {
    row: "30 exceeds",
    name: "more results than calls",
    from: "bedrock",
    body: {
      messages: [
        { role: "user", content: [{ text: "go" }] },
        { role: "assistant", content: [{ toolUse: { toolUseId: "a", name: "read_file", input: {} } }] },
        {
          role: "user",
          content: [
            { toolResult: { toolUseId: "a", content: [{ text: "one" }] } },
            { toolResult: { toolUseId: "b", content: [{ text: "two" }] } },
          ],
        },
      ],
    },
    words: ["one", "two"],
  },
  {
    row: "30 order",
    name: "a user right after a tool, from a Mistral history",
    from: "openai-chat",
    body: chat(chatUser("go"), calls(chatCall("abc123DEF")), tool("abc123DEF", "found"), chatUser("more")),
    words: ["found", "more"],
  },
];
