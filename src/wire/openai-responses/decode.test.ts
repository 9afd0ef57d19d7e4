import { describe, expect, it } from "vitest";
import { Ledger } from "../../conversation/ledger.ts";
import type { ResponseEvent, StreamDecoder, StreamFrame } from "../decode/events.ts";
import { decodeAll, eventsOf, expectRobust, partsIn, encodeBack, type DecodedCase } from "../decode/decode.cases.ts";
import { readOpenaiResponses } from "./read.ts";
import { openaiResponses } from "./encode.ts";
import { destinationOf } from "../../providers/find.ts";

const open = (): StreamDecoder => destinationOf("openai/gpt-5.6").wire.decode.open();
const { frames: whole, parseError: problemIn } = openaiResponses.decode;

type Json = { readonly [key: string]: unknown };

const frame = (type: string, fields: Json = {}): StreamFrame => ({ name: type, data: { type, ...fields } });
const added = (item: Json, output_index: number): StreamFrame =>
  frame("response.output_item.added", { item, output_index });
const done = (item: Json, output_index: number): StreamFrame =>
  frame("response.output_item.done", { item, output_index });
const ending = (type: string, response: Json = {}): StreamFrame =>
  frame(`response.${type}`, { response: { id: "resp_1", model: "gpt-5.6", status: type, output: [], ...response } });
const completed = (...output: readonly Json[]): StreamFrame => ending("completed", { output });
/** The events of a stream, numbered as OpenAI numbers them. */
const numbered = (frames: readonly StreamFrame[]): readonly StreamFrame[] =>
  frames.map(({ name, data }, sequence_number) => ({ name, data: { ...(data as Json), sequence_number } }));

const answer = (...frames: readonly StreamFrame[]): DecodedCase => decodeAll(open, frames);
const finish = (reason: string, raw = "completed"): Json => ({ type: "finish", reason, raw });
const skipped = (what: string): Json => ({ type: "skipped", what });
const answering: Json = { type: "response-start", model: "gpt-5.6", id: "resp_1" };
const over = (reason: string, raw?: string): readonly Json[] => [answering, finish(reason, raw)];

const summary = ["One.", "Two."].map((text) => ({ type: "summary_text", text }));
const reasoning = { type: "reasoning", id: "rs_1", summary, encrypted_content: "gAAA-_=" };
const call = {
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "snap",
  arguments: '{ "n" : 1 }',
  status: "completed",
};
const message = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Here it is.", annotations: [] }],
};
const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
  output_tokens: 30,
  output_tokens_details: { reasoning_tokens: 12 },
};

const thought = { type: "thinking", text: "One.\n\nTwo.", seal: { item: "rs_1", encrypted: "gAAA-_=" } } as const;
const asked = {
  type: "call",
  tool: "snap",
  input: { text: '{ "n" : 1 }' },
  seal: { id: "call_1", item: "fc_1" },
} as const;
const said = { type: "text", text: "Here it is.", seal: { item: "msg_1" } } as const;

/** An answer with a thought, a call and words, as it is streamed. */
const stream = numbered([
  frame("response.created", { response: { id: "resp_1", model: "gpt-5.6", status: "in_progress", output: [] } }),
  added({ ...reasoning, summary: [], encrypted_content: "g" }, 0),
  frame("response.reasoning_summary_part.added", { item_id: "rs_1", output_index: 0, summary_index: 0 }),
  frame("response.reasoning_summary_text.delta", { item_id: "rs_1", output_index: 0, summary_index: 0, delta: "One." }),
  frame("response.reasoning_summary_part.added", { item_id: "rs_1", output_index: 0, summary_index: 1 }),
  frame("response.reasoning_summary_text.delta", { item_id: "rs_1", output_index: 0, summary_index: 1, delta: "Two." }),
  done(reasoning, 0),
  added({ ...call, arguments: "" }, 1),
  frame("response.function_call_arguments.delta", { item_id: "fc_1", output_index: 1, delta: '{ "n"' }),
  frame("response.function_call_arguments.delta", { item_id: "fc_1", output_index: 1, delta: " : 1 }" }),
  frame("response.function_call_arguments.done", { item_id: "fc_1", output_index: 1, arguments: call.arguments }),
  done(call, 1),
  added({ ...message, content: [] }, 2),
  frame("response.content_part.added", { item_id: "msg_1", output_index: 2, content_index: 0, part: { text: "" } }),
  frame("response.output_text.delta", { item_id: "msg_1", output_index: 2, content_index: 0, delta: "Here" }),
  frame("response.output_text.delta", { item_id: "msg_1", output_index: 2, content_index: 0, delta: " it is." }),
  done(message, 2),
  ending("completed", { output: [reasoning, call, message], usage }),
]);

describe("a stream", () => {
  it("shows every part as it comes, and ends it as its finished item says", () => {
    expect(eventsOf(open, stream)).toEqual([
      answering,
      { type: "thinking-delta", index: 0, text: "One." },
      { type: "thinking-delta", index: 0, text: "\n\n" },
      { type: "thinking-delta", index: 0, text: "Two." },
      { type: "part-end", index: 0, part: thought },
      { type: "call-start", index: 1, tool: "snap", id: "call_1" },
      { type: "call-delta", index: 1, text: '{ "n"' },
      { type: "call-delta", index: 1, text: " : 1 }" },
      { type: "part-end", index: 1, part: asked },
      { type: "text-delta", index: 2, text: "Here" },
      { type: "text-delta", index: 2, text: " it is." },
      { type: "part-end", index: 2, part: said },
      { type: "usage", usage: { input: 100, cachedRead: 40, cachedWrite: 10, output: 30, reasoning: 12 } },
      finish("calls"),
    ]);
  });

  it("that is cut has no finish, and no call that was not finished", () => {
    const prefixes = stream.map((_, length) => eventsOf(open, stream.slice(0, length)));
    expect(prefixes.filter((events) => events.some(({ type }) => type === "finish"))).toEqual([]);
    const calls = prefixes.map((events) => partsIn(events).filter(({ type }) => type === "call").length);
    expect(calls).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
  });

  it("may repeat itself without saying anything twice", () => {
    const { parts, events: told } = decodeAll(
      open,
      stream.flatMap((event) => [event, event]),
    );
    expect(parts).toEqual([thought, asked, said]);
    expect(told.filter(({ type }) => type !== "skipped")).toEqual(decodeAll(open, stream).events);
    const again = eventsOf(open, [...stream.slice(0, 6), ...stream.slice(3)]);
    expect(again.filter(({ type }) => type !== "skipped")).toEqual(eventsOf(open, stream));
  });

  it("may repeat items without numbers, or number all events alike", () => {
    const bare = [added(call, 0), added(call, 0), done(call, 0), done(call, 0), added(call, 0), completed(call)];
    expect(answer(...bare)).toEqual({
      parts: [asked],
      events: [...["function_call again", "function_call again", "function_call again"].map(skipped), ...over("calls")],
    });
    const alike = stream.map(({ name, data }) => ({ name, data: { ...(data as Json), sequence_number: 0 } }));
    expect(decodeAll(open, alike.slice(0, -1)).parts).toEqual([thought, asked, said]);
  });

  it("says nothing more once it is complete", () => {
    const { events: told } = answer(completed(message), done(call, 1), completed(call), {
      name: "[DONE]",
      data: undefined,
    });
    expect(told).toEqual([
      ...over("stop"),
      skipped("response.output_item.done after the end"),
      skipped("response.completed after the end"),
    ]);
  });

  it("may name an item differently in every event, as long as its place stays", () => {
    const frames = [
      added({ ...call, id: "a" }, 0),
      frame("response.function_call_arguments.delta", { item_id: "b", output_index: 0, delta: call.arguments }),
      done({ ...call, id: "c" }, 0),
      completed({ ...call, id: "d" }),
    ];
    expect(answer(...frames).parts).toEqual([{ ...asked, seal: { id: "call_1", item: "c" } }]);
  });

  it("may give all items one place, as long as they have names", () => {
    const frames = [
      done(reasoning, 0),
      added(call, 0),
      done(call, 0),
      done(message, 0),
      completed(reasoning, call, message),
    ];
    expect(answer(...frames).parts).toEqual([thought, asked, said]);
  });

  it("may work on several items at once; they stand in the order they began", () => {
    const frames = [added(reasoning, 0), added(call, 1), done(call, 1), done(reasoning, 0), completed(reasoning, call)];
    expect(answer(...frames)).toEqual({ parts: [thought, asked], events: over("calls") });
  });

  it("may consist of the finished response alone", () => {
    const events = eventsOf(open, [completed(reasoning, call, message)]);
    expect(events).toEqual([
      answering,
      { type: "thinking-delta", index: 0, text: "One.\n\nTwo." },
      { type: "part-end", index: 0, part: thought },
      { type: "call-start", index: 1, tool: "snap", id: "call_1" },
      { type: "call-delta", index: 1, text: '{ "n" : 1 }' },
      { type: "part-end", index: 1, part: asked },
      { type: "text-delta", index: 2, text: "Here it is." },
      { type: "part-end", index: 2, part: said },
      finish("calls"),
    ]);
  });

  it("gets what it did not finish from the finished response", () => {
    const unfinished = stream.filter(({ name }) => name !== "response.output_item.done");
    expect(decodeAll(open, unfinished)).toEqual(decodeAll(open, stream));
  });
});

describe("items", () => {
  const held = (item: Json): DecodedCase => answer(done(item, 0), completed());

  it("are messages with words and refusals, each a part", () => {
    const content = [
      { type: "output_text", text: "Well.", annotations: [{ type: "url_citation" }] },
      { type: "output_text", text: "" },
      { type: "refusal", refusal: "I would rather not." },
      { type: "output_audio" },
    ];
    expect(held({ ...message, content })).toEqual({
      parts: [
        { type: "text", text: "Well.", seal: { item: "msg_1" } },
        { type: "text", text: "I would rather not.", seal: { item: "msg_1" } },
      ],
      events: [skipped("annotations"), skipped("output_audio"), ...over("refused")],
    });
  });

  it("stream each part of a message under its own number", () => {
    const delta = (type: string, content_index: number, text: string): StreamFrame =>
      frame(`response.${type}.delta`, { item_id: "msg_1", output_index: 0, content_index, delta: text });
    const content = [
      { type: "output_text", text: "a" },
      { type: "refusal", refusal: "No." },
    ];
    const frames = [
      added(message, 0),
      delta("output_text", 0, "a"),
      delta("refusal", 1, "N"),
      delta("refusal", 1, "o."),
    ];
    const events: readonly ResponseEvent[] = eventsOf(open, [...frames, done({ ...message, content }, 0)]);
    expect(events.map((event) => ("index" in event ? [event.type, event.index] : event.type))).toEqual([
      ["text-delta", 0],
      ["text-delta", 1],
      ["text-delta", 1],
      ["part-end", 0],
      ["part-end", 1],
    ]);
  });

  it("are thoughts in plain words, where a server shows them", () => {
    const content = [
      { type: "reasoning_text", text: "Hm. " },
      { type: "reasoning_text", text: "Yes." },
    ];
    const item = { type: "reasoning", id: "r", summary: [], content, encrypted_content: null };
    expect(held(item).parts).toEqual([{ type: "thinking", text: "Hm. Yes.", seal: { item: "r" } }]);
    expect(held({ type: "reasoning", content }).parts).toEqual([{ type: "thinking", text: "Hm. Yes." }]);
    expect(held({ type: "reasoning", summary: [] }).parts).toEqual([]);
  });

  it("are calls, some without an id, without arguments, or with free text", () => {
    expect(held({ type: "function_call", name: "stat", call_id: "call_2" }).parts).toEqual([
      { type: "call", tool: "stat", input: { text: "" }, seal: { id: "call_2" } },
    ]);
    expect(held({ type: "function_call", name: "stat", arguments: "{}" }).parts).toEqual([
      { type: "call", tool: "stat", input: { text: "{}" } },
    ]);
    const custom = { type: "custom_tool_call", id: "ctc_1", call_id: "call_3", name: "run", input: "ls -l" };
    const frames = [
      added({ ...custom, input: "" }, 0),
      frame("response.custom_tool_call_input.delta", { item_id: "ctc_1", output_index: 0, delta: "ls -l" }),
      done(custom, 0),
    ];
    expect(eventsOf(open, frames)).toEqual([
      { type: "call-start", index: 0, tool: "run", id: "call_3" },
      { type: "call-delta", index: 0, text: "ls -l" },
      {
        type: "part-end",
        index: 0,
        part: {
          type: "call",
          tool: "run",
          input: { value: { input: "ls -l" } },
          seal: { id: "call_3", item: "ctc_1" },
        },
      },
    ]);
  });

  it("are calls, announced once their name is known", () => {
    const frames = [
      added({ ...call, name: "", arguments: "" }, 0),
      frame("response.function_call_arguments.delta", { item_id: "fc_1", output_index: 0, delta: "{" }),
      done(call, 0),
    ];
    expect(eventsOf(open, frames)).toEqual([
      { type: "call-start", index: 0, tool: "snap", id: "call_1" },
      { type: "call-delta", index: 0, text: call.arguments },
      { type: "part-end", index: 0, part: asked },
    ]);
  });

  it("are pictures the model made", () => {
    const picture = { type: "image_generation_call", id: "ig_1", result: "d2VicA==", output_format: "webp" };
    expect(held(picture).parts).toEqual([{ type: "file", mimeType: "image/webp", data: "d2VicA==" }]);
    expect(held({ ...picture, result: null })).toEqual({
      parts: [],
      events: [skipped("a picture that was not made"), ...over("stop")],
    });
  });

  it("of tools at the provider are passed over, finished or not", () => {
    const search = { type: "web_search_call", id: "ws_1" };
    const frames = [
      added({ type: "mcp_list_tools", id: "mcpl_1" }, 0),
      added(search, 1),
      frame("response.web_search_call.searching", { item_id: "ws_1", output_index: 1 }),
      done(search, 1),
      done(message, 2),
      completed({ type: "mcp_list_tools", id: "mcpl_1" }, search, message),
    ];
    expect(answer(...frames)).toEqual({
      parts: [said],
      events: [
        skipped("response.web_search_call.searching"),
        skipped("web_search_call"),
        answering,
        skipped("mcp_list_tools"),
        finish("stop"),
      ],
    });
  });
});

describe("the end", () => {
  it.each([
    ["max_output_tokens", "length"],
    ["content_filter", "filtered"],
    ["something_new", "other"],
  ])("with the reason %s is %s, with the parts until then", (raw, reason) => {
    const cut = { ...message, status: "incomplete" };
    const response = { incomplete_details: { reason: raw }, output: [call, cut] };
    expect(answer(done(call, 0), ending("incomplete", response))).toEqual({
      parts: [asked, said],
      events: over(reason, raw),
    });
  });

  it("does not hand over a call that was cut", () => {
    const details = { incomplete_details: { reason: "max_output_tokens" } };
    const cut = { ...call, arguments: '{ "n"', status: "incomplete" };
    const told = [answering, skipped("a call that was cut"), finish("length", "max_output_tokens")];
    expect(answer(added(cut, 0), done(cut, 0), ending("incomplete", { ...details, output: [cut] }))).toEqual({
      parts: [],
      events: [told[1], told[0], told[2]],
    });
    expect(answer(ending("incomplete", { ...details, output: [cut] }))).toEqual({ parts: [], events: told });
    const unsure = { ...cut, status: "in_progress" };
    expect(answer(added(unsure, 0), ending("incomplete", { ...details, output: [unsure] }))).toEqual({
      parts: [],
      events: told,
    });
  });

  it("may be a cancellation, or a success by another name", () => {
    expect(answer(ending("cancelled")).events).toEqual(over("other", "cancelled"));
    expect(answer(ending("completed", { status: "complete", output: [message] })).events).toEqual(
      over("stop", "complete"),
    );
    expect(answer(ending("done", { status: "completed", output: [call] })).events).toEqual(over("calls"));
    expect(answer(ending("completed", { status: "incomplete" })).events).toEqual(over("other", "incomplete"));
  });

  it("may be a failure", () => {
    const error = { code: "rate_limit_exceeded", message: "Please try again in 2s." };
    const apiError = { code: "rate_limit_exceeded", message: "Please try again in 2s.", retryAfter: 2000 };
    expect(answer(done(message, 0), ending("failed", { error, output: [call], usage }))).toEqual({
      parts: [said],
      events: [
        answering,
        { type: "usage", usage: { input: 100, cachedRead: 40, cachedWrite: 10, output: 30, reasoning: 12 } },
        { type: "error", error: apiError },
      ],
    });
    expect(answer(ending("failed")).events).toEqual([
      answering,
      { type: "error", error: { message: "The server gave up on the answer." } },
    ]);
  });

  it("may be an error in place of the rest", () => {
    const error = { code: "server_error", message: "Sorry.", param: null };
    const told = [{ type: "error", error: { code: "server_error", message: "Sorry." } }];
    expect(answer(frame("error", { ...error, sequence_number: 3 })).events).toEqual(told);
    expect(answer(frame("error", { error })).events).toEqual(told);
    expect(answer({ name: "", data: { error } }, completed(call))).toEqual({
      parts: [],
      events: [...told, skipped("response.completed after the end")],
    });
  });

  it.each([
    ["call", [added(call, 0)], "The answer ends inside a call."],
    [
      "text",
      [added(message, 0), frame("response.output_text.delta", { item_id: "msg_1", output_index: 0, delta: "a" })],
      "The answer ends inside a text.",
    ],
  ])("is not believed where a %s never ended", (_, frames, what) => {
    expect(answer(...frames, completed())).toEqual({ parts: [], events: [answering, { type: "malformed", what }] });
  });
});

describe("a stream that contradicts itself", () => {
  const text = (output_index: number): StreamFrame =>
    frame("response.output_text.delta", { item_id: `msg_${output_index}`, output_index, delta: "a" });
  it.each([
    [
      "has a delta of an item that never started",
      [text(3)],
      "A piece of an item that never began: response.output_text.delta.",
    ],
    ["puts words into a call", [added(call, 0), text(0)], "A piece of text in an item that holds call."],
    [
      "ends a call as a message",
      [added({ ...call, id: "x" }, 0), done(message, 0)],
      "An item that began as call ends as message.",
    ],
    ["contains a message of another role", [done({ ...message, role: "user" }, 0)], "A message has the role user."],
    ["starts a message of another role", [added({ ...message, role: "user" }, 0)], "A message has the role user."],
    [
      "takes back what it said",
      [added(message, 1), text(1), done({ ...message, content: [{ type: "output_text", text: "" }] }, 1)],
      "A message ends without the words it streamed.",
    ],
  ])("is not trusted when it %s", (_, frames, what) => {
    expect(answer(...frames, completed(call))).toEqual({
      parts: [],
      events: [{ type: "malformed", what }, skipped("response.completed after the end")],
    });
  });

  it("does no harm with a piece that comes too late", () => {
    const late = frame("response.output_text.delta", { item_id: "msg_1", output_index: 0, delta: "a" });
    expect(answer(done(message, 0), late, completed(message))).toEqual({
      parts: [said],
      events: [skipped("response.output_text.delta after its item"), ...over("stop")],
    });
  });

  it("never makes the decoder throw or emit a call the model did not make", () => {
    expectRobust(open, stream);
    expectRobust(
      open,
      stream.map(({ name, data }) => ({ name, data: { ...(data as Json), sequence_number: undefined } })),
    );
    expectRobust(
      open,
      whole({ status: "incomplete", output: [call, message, { type: "image_generation_call", result: "" }] }),
    );
  });
});

describe("events beside the content", () => {
  it("is who answers, once", () => {
    const frames = ["created", "queued", "in_progress"].map((type) => ending(type));
    expect(answer(...frames, completed())).toEqual({ parts: [], events: over("stop") });
  });

  it("counts reasoning as part of the answer, and nothing that is no number", () => {
    const beside = { input_tokens: 5, output_tokens: 2, output_tokens_details: { reasoning_tokens: 30 } };
    expect(answer(ending("completed", { usage: beside })).events).toContainEqual({
      type: "usage",
      usage: { input: 5, cachedRead: 0, cachedWrite: 0, output: 32, reasoning: 30 },
    });
    expect(answer(ending("completed", { usage: { input_tokens: "5", output_tokens: -1 } })).events).toEqual(
      over("stop"),
    );
  });

  it("are unknown events, and never keep-alives", () => {
    const unknown = [
      frame("response.novelty", { message: "new" }),
      frame("novelty"),
      { name: "", data: "text" },
      { name: "", data: null },
    ];
    expect(
      answer(...unknown, frame("keepalive"), frame("ping"), { name: "[DONE]", data: undefined }, completed()).events,
    ).toEqual([
      skipped("response.novelty"),
      skipped("novelty"),
      skipped("(unnamed)"),
      skipped("(unnamed)"),
      ...over("stop"),
    ]);
  });
});

describe("a whole answer", () => {
  const body = {
    id: "resp_1",
    model: "gpt-5.6",
    status: "completed",
    error: null,
    output: [reasoning, call, message],
    usage,
  };

  it("reads as the stream of it would", () => {
    expect(decodeAll(open, whole(body))).toEqual(decodeAll(open, stream));
    expect(problemIn(body)).toBeUndefined();
  });

  it("is not finished while it waits in line, and may be an error", () => {
    expect(decodeAll(open, whole({ ...body, status: "queued", output: [] })).events).toEqual([answering]);
    expect(decodeAll(open, whole({ error: { message: "Bad.", type: "server_error" } })).events).toEqual([
      { type: "error", error: { message: "Bad.", code: "server_error" } },
    ]);
    expect(decodeAll(open, whole(undefined)).events).toEqual([skipped("(unnamed)")]);
  });

  it("holds the parts the reader finds in the same items", () => {
    const origin = { provider: "openai", model: "gpt-5.6" };
    const content = [...message.content, { type: "refusal", refusal: "No." }];
    const custom = { type: "custom_tool_call", id: "ctc_1", call_id: "call_3", name: "run", input: "ls" };
    const shown = { type: "reasoning", id: "rs_2", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] };
    const output = [reasoning, shown, call, custom, { ...message, content }, { type: "function_call", name: "stat" }];
    const ledger = new Ledger();
    ledger.model(
      origin,
      decodeAll(open, whole({ ...body, output })).parts.filter((part) => part.type !== "file"),
    );
    expect(readOpenaiResponses({ input: output }, origin).conversation.entries).toEqual(ledger.entries);
  });

  it("goes back to OpenAI as it came, with every id and seal that it needs", () => {
    const one = { ...reasoning, summary: [{ type: "summary_text", text: "One." }] };
    const again = { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "gBBB" };
    const output = [one, call, again, message];
    const { parts } = decodeAll(open, whole({ ...body, output }));
    const [, ...back] = encodeBack("openai/gpt-5.6", parts)["input"] as readonly Json[];
    const { status: _, ...bare } = call;
    expect(back.slice(0, 4)).toEqual([one, bare, again, message]);
    expect(JSON.stringify(back[0])).toBe(JSON.stringify(one));
  });

  it("goes back to xAI with its reasoning sealed", () => {
    const { parts } = decodeAll(open, whole({ ...body, output: [{ ...reasoning, summary: [] }, call] }));
    const [, ...back] = encodeBack("xai/grok-4.5", parts)["input"] as readonly Json[];
    expect(back.slice(0, 2)).toEqual([
      { ...reasoning, summary: [] },
      { type: "function_call", call_id: "call_1", name: "snap", arguments: call.arguments },
    ]);
  });
});
