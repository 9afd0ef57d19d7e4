import { describe, expect, it } from "vitest";
import type { Json } from "../family.ts";
import { asArray, asObject } from "../json.ts";
import {
  followUp,
  loop,
  normalizeIds,
  outputOf,
  createClient,
  question,
  tools,
  wordsIn,
  wordsOnly,
} from "./client.cases.ts";
import type { Script } from "../model/script.ts";

describe("a tool loop over Responses", () => {
  it("streams reasoning, text and calls in numbered events, and ends without a [DONE]", async () => {
    const { stream } = createClient("openai", { script: loop });

    const events = await stream(question);

    const about = { item_id: "rs-1", output_index: 0 };
    const text = { content_index: 0, item_id: "msg-1", output_index: 1 };
    const call = { id: "fc-1", type: "function_call", call_id: "call-1", name: "snap" };
    const whole = '{"path":"a.png"}';
    const summary = ["**Two files**\n\nBoth are needed.", "**Order**\n\nAny."].map((part) => ({
      type: "summary_text",
      text: part,
    }));
    const message = { id: "msg-1", type: "message", phase: "commentary", role: "assistant" };
    const said = { type: "output_text", annotations: [], logprobs: [], text: "I will look." };
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
    expect(events.slice(2, -1).map(({ sequence_number: _number, ...event }) => event)).toEqual([
      {
        type: "response.output_item.added",
        item: { id: "rs-1", type: "reasoning", encrypted_content: "seal-1", summary: [] },
        output_index: 0,
      },
      ...summary.flatMap((part, index) => [
        {
          type: "response.reasoning_summary_part.added",
          ...about,
          summary_index: index,
          part: { type: "summary_text", text: "" },
        },
        ...(index === 0 ? ["**Two", " files**\n\nBoth are", " needed."] : ["**Order**", "\n\nAny."]).map((delta) => ({
          type: "response.reasoning_summary_text.delta",
          delta,
          ...about,
          summary_index: index,
          obfuscation: expect.stringMatching(/^\w{1,16}$/),
        })),
        { type: "response.reasoning_summary_text.done", ...about, summary_index: index, text: part.text },
        { type: "response.reasoning_summary_part.done", ...about, summary_index: index, part },
      ]),
      {
        type: "response.output_item.done",
        item: { id: "rs-1", type: "reasoning", encrypted_content: "seal-2", summary },
        output_index: 0,
      },
      {
        type: "response.output_item.added",
        item: { ...message, status: "in_progress", content: [] },
        output_index: 1,
      },
      { type: "response.content_part.added", ...text, part: { ...said, text: "" } },
      ...["I", " will look."].map((delta) => ({
        type: "response.output_text.delta",
        delta,
        ...text,
        logprobs: [],
        obfuscation: expect.stringMatching(/^\w{1,16}$/),
      })),
      { type: "response.output_text.done", ...text, logprobs: [], text: "I will look." },
      { type: "response.content_part.done", ...text, part: said },
      {
        type: "response.output_item.done",
        item: { ...message, status: "completed", content: [said] },
        output_index: 1,
      },
      {
        type: "response.output_item.added",
        item: { ...call, status: "in_progress", arguments: "" },
        output_index: 2,
      },
      ...['{"path"', ':"a.png', '"}'].map((delta) => ({
        type: "response.function_call_arguments.delta",
        delta,
        item_id: "fc-1",
        output_index: 2,
        obfuscation: expect.stringMatching(/^\w{1,16}$/),
      })),
      { type: "response.function_call_arguments.done", arguments: whole, item_id: "fc-1", output_index: 2 },
      {
        type: "response.output_item.done",
        item: { ...call, status: "completed", arguments: whole },
        output_index: 2,
      },
      {
        type: "response.output_item.added",
        item: { ...call, id: "fc-2", call_id: "call-2", name: "stat", status: "in_progress", arguments: "" },
        output_index: 3,
      },
      {
        type: "response.function_call_arguments.delta",
        delta: "{}",
        item_id: "fc-2",
        output_index: 3,
        obfuscation: expect.stringMatching(/^\w{14}$/),
      },
      { type: "response.function_call_arguments.done", arguments: "{}", item_id: "fc-2", output_index: 3 },
      {
        type: "response.output_item.done",
        item: { ...call, id: "fc-2", call_id: "call-2", name: "stat", status: "completed", arguments: "{}" },
        output_index: 3,
      },
    ]);
    const created = asObject(events[0]);
    expect([events[1], events.at(-1)].map((event) => asObject(event)["type"])).toEqual([
      "response.in_progress",
      "response.completed",
    ]);
    expect(created["response"]).toEqual(asObject(events[1])["response"]);
    expect(asObject(created["response"])["status"]).toBe("in_progress");
  });

  it("returns the same content as a complete response", async () => {
    const streamed = (await createClient("openai", { script: loop }).stream(question)).at(-1);
    const { body, status } = await createClient("openai", { script: loop }).ask(question);
    const { billing, ...whole } = asObject(JSON.parse(normalizeIds(JSON.stringify(body))));

    expect({ status, billing }).toEqual({ status: 200, billing: { payer: "developer" } });
    expect(JSON.stringify(whole).replace("seal-1", "seal-2")).toBe(JSON.stringify(asObject(streamed)["response"]));
    expect(whole).toMatchObject({
      id: "resp-1",
      created_at: 1_794_700_800,
      model: "gpt-5.6-sol",
      reasoning: { effort: "medium", summary: "auto" },
      usage: {
        input_tokens: 81,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 38,
        output_tokens_details: { reasoning_tokens: 12 },
        total_tokens: 119,
      },
    });
  });

  it("accepts everything back with an image and a document inside a result, and reads both", async () => {
    const server = createClient("openai", { script: loop });
    const next = await followUp(server);

    const reply = await server.ask(next);

    expect(wordsIn(reply)).toBe(
      'snap returned: "a picture". I see image image/png of 100x75 pixels (29 bytes), document application/pdf (32 bytes). stat returned: "ENOENT".',
    );
    const counted = async (body: Json): Promise<unknown> =>
      (await server.ask(body, { url: "https://localhost/v1/responses/input_tokens" })).body;
    expect([await counted(next), await counted(wordsOnly(next))]).toEqual([
      { object: "response.input_tokens", input_tokens: 3209 },
      { object: "response.input_tokens", input_tokens: 124 },
    ]);
  });

  it("returns a summary and encrypted reasoning only on request", async () => {
    const { ask } = createClient("openai", { script: loop });

    const reply = await ask({ model: "gpt-5.6", input: "Please look.", tools: tools("snap", "stat") });

    expect(outputOf(reply)[0]).toEqual({ id: expect.stringMatching(/^rs_/), type: "reasoning", summary: [] });
  });

  it("has no reasoning if the model does not reason or the effort is none", async () => {
    const { ask } = createClient("openai", { script: loop });
    const kinds = async (body: Json): Promise<unknown> => outputOf(await ask(body)).map(({ type }) => type);
    const plain = { input: "Please look.", tools: tools("snap", "stat") };

    expect(await kinds({ ...plain, model: "gpt-4.1" })).toEqual(["message", "function_call", "function_call"]);
    expect(await kinds({ ...plain, model: "gpt-5.4", reasoning: { effort: "none" } })).toEqual([
      "message",
      "function_call",
      "function_call",
    ]);
  });
});

describe("a response over Responses ends", () => {
  const ending = (finish: Exclude<Script["otherwise"], undefined>["finish"], say = "So far so"): Script => ({
    rules: [],
    otherwise: { say, ...(finish === undefined ? {} : { finish }) },
  });
  const last = async (script: Script, body: Json = {}): Promise<Json> => {
    const events = await createClient("openai", { script }).stream({ model: "gpt-5.6", input: "Go.", ...body });
    const { type, response } = asObject(events.at(-1));
    const { status, incomplete_details, error, output: items } = asObject(response);
    return { type, status, incomplete_details, error, items: asArray(items).map((item) => asObject(item)["status"]) };
  };

  it("incomplete, if too long or filtered", async () => {
    const cut = { status: "incomplete", error: null, items: ["incomplete"], type: "response.incomplete" };
    expect(await last(ending("length"))).toEqual({ ...cut, incomplete_details: { reason: "max_output_tokens" } });
    expect(await last(ending("filtered"))).toEqual({ ...cut, incomplete_details: { reason: "content_filter" } });
    expect(await last(ending("stop", "words ".repeat(40)), { max_output_tokens: 16 })).toEqual({
      ...cut,
      incomplete_details: { reason: "max_output_tokens" },
    });
  });

  it("with truncated arguments, if cut off in a call", async () => {
    const script: Script = {
      rules: [],
      otherwise: { call: { tool: "snap", input: { path: "a.png" } }, finish: "length" },
    };
    const reply = await createClient("openai", { script }).ask({ ...question, input: "Go." });

    expect(outputOf(reply)[0]).toMatchObject({ status: "incomplete", arguments: '{"path":' });
  });

  it("failed, if the model failed", async () => {
    expect(await last(ending("malformed"))).toEqual({
      type: "response.failed",
      status: "failed",
      incomplete_details: null,
      error: {
        code: "server_error",
        message:
          "The model produced invalid content. Consider modifying your prompt if you are seeing this error persistently.",
      },
      items: [],
    });
  });

  it("with a refusal in its own part", async () => {
    const events = await createClient("openai", { script: ending("refused", "I cannot.") }).stream({
      model: "gpt-5.6",
      input: "Go.",
    });

    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.refusal.delta",
      "response.refusal.delta",
      "response.refusal.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(asObject(events.at(-2))["item"]).toEqual({
      id: "msg-1",
      type: "message",
      status: "completed",
      content: [{ type: "refusal", refusal: "I cannot." }],
      phase: "final_answer",
      role: "assistant",
    });
  });

  it("with sources, after a server-side search", async () => {
    const events = await createClient("openai").stream({
      model: "gpt-5.6",
      input: "Go.",
      tools: [{ type: "web_search" }],
    });
    const note = {
      type: "url_citation",
      end_index: 31,
      start_index: 0,
      title: "A page about it",
      url: "https://example.com/about",
    };

    expect(events.slice(2, 7).map(({ type }) => type)).toEqual([
      "response.output_item.added",
      "response.web_search_call.in_progress",
      "response.web_search_call.searching",
      "response.web_search_call.completed",
      "response.output_item.done",
    ]);
    expect(events.filter(({ type }) => type === "response.output_text.annotation.added")).toEqual([
      {
        type: "response.output_text.annotation.added",
        annotation: note,
        annotation_index: 0,
        content_index: 0,
        item_id: "msg-1",
        output_index: 1,
        sequence_number: 12,
      },
    ]);
  });

  it("with an error event, if the server fails in the middle", async () => {
    const { stream } = createClient("openai", { faults: [{ fault: { type: "stream-error", after: 3, status: 500 } }] });

    expect((await stream({ model: "gpt-5.6", input: "Go." })).at(-1)).toEqual({
      type: "error",
      code: "server_error",
      message: "Internal server error",
      param: null,
      sequence_number: 0,
    });
  });
});
