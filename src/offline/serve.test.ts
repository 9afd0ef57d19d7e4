import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readBodyText, type HttpRequest, type Net } from "../world/net.ts";
import { withDemoModel } from "./net.ts";
import { DemoScriptError, parseDemoScript } from "./script/parse-script.ts";
import type { DemoScript } from "./script/script.ts";
import { fc, runsPerTier } from "../../test/support/fast-check.ts";

const noNetwork: Net = { send: ({ url }) => Promise.reject(new Error(`sent to ${url}`)) };
const net = withDemoModel(noNetwork);

const request = (body: unknown, more: Partial<HttpRequest> = {}): HttpRequest => ({
  method: "POST",
  url: "offline:/chat/completions",
  headers: {},
  body: typeof body === "string" ? body : JSON.stringify(body),
  ...more,
});

const tools = [
  { type: "function", function: { name: "read_file", parameters: { properties: { absolute_path: {} } } } },
  { type: "function", function: { name: "list_directory", parameters: { properties: { path: {} } } } },
];

const asking = (text: string, more: object = {}): object => ({
  model: "parley",
  messages: [{ role: "user", content: text }],
  tools,
  ...more,
});

/** Reads an answer by the names of its fields, without our types; a wrong guess fails the test. */
type Json = Readonly<Record<string, any>>; // oxlint-disable-line typescript/no-explicit-any

const told = async (body: unknown, from: Net = net): Promise<{ readonly status: number; readonly body: Json }> => {
  const response = await from.send(request(body));
  return { status: response.status, body: JSON.parse(await readBodyText(response)) as Json };
};

const messageTo = async (body: unknown, from?: Net): Promise<Json> =>
  (await told(body, from)).body["choices"][0].message;

/** The events of a stream, the last of which is its last line. */
const streamed = async (body: object): Promise<readonly Json[]> => {
  const response = await net.send(request({ ...body, stream: true }));
  expect(response.headers).toEqual({ "content-type": "text/event-stream" });
  const lines = (await readBodyText(response)).split("\n\n");
  expect(lines.slice(-2)).toEqual(["data: [DONE]", ""]);
  return lines.slice(0, -2).map((line) => JSON.parse(line.replace(/^data: /, "")) as Json);
};

describe("the demo model's network", () => {
  it("passes all other requests on", async () => {
    await expect(net.send(request("", { url: "https://example.com/chat" }))).rejects.toThrow(
      "sent to https://example.com/chat",
    );
  });

  it("aborts before and during a response", async () => {
    const stop = new AbortController();
    const response = await net.send(request(asking("help", { stream: true })), stop.signal);
    const reading = (async () => {
      for await (const _ of response.body) stop.abort(new Error("enough"));
    })();
    await expect(reading).rejects.toThrow("enough");
    await expect(net.send(request(asking("help")), stop.signal)).rejects.toThrow("enough");
  });

  it("gives the same bytes for the same request, and another id for another", async () => {
    const bytes = async (text: string) => readBodyText(await net.send(request(asking(text, { stream: true }))));
    expect(await bytes("read a.txt")).toBe(await bytes("read a.txt"));
    const ids = [await messageTo(asking("read a.txt")), await messageTo(asking("read b.txt"))].map(
      (message) => message["tool_calls"][0].id as string,
    );
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[\w-]{1,40}$/);
  });
});

describe("a reply", () => {
  it("is one JSON object", async () => {
    const { status, body } = await told(asking("read a.txt and b.txt"));
    expect([status, body["object"], body["model"], body["created"]]).toEqual([200, "chat.completion", "parley", 0]);
    const [first, second] = body["choices"][0].message.tool_calls;
    expect(body["choices"]).toEqual([
      {
        index: 0,
        message: {
          role: "assistant",
          content: null,
          reasoning_content: "Steps: read a.txt and read b.txt. Calling read_file now.",
          tool_calls: [
            { id: first.id, type: "function", function: { name: "read_file", arguments: '{"absolute_path":"a.txt"}' } },
            {
              id: second.id,
              type: "function",
              function: { name: "read_file", arguments: '{"absolute_path":"b.txt"}' },
            },
          ],
        },
        finish_reason: "tool_calls",
      },
    ]);
    expect(first.id).not.toBe(second.id);
  });

  it.each(["read a.txt and b.txt", "help"])("streams chunks that add up to the same reply: %s", async (text) => {
    const whole = (await told(asking(text))).body;
    const events = await streamed(asking(text, { stream_options: { include_usage: true } }));
    const deltas = events.slice(0, -1).map((event) => event["choices"][0].delta as Json);
    const joined = (field: string) => deltas.map((delta) => delta[field] ?? "").join("");
    const { message } = whole["choices"][0];
    expect([joined("content"), joined("reasoning_content")]).toEqual([
      message.content ?? "",
      message.reasoning_content ?? "",
    ]);
    const calls: Json[] = [];
    for (const [piece] of deltas.flatMap((delta) => (delta["tool_calls"] === undefined ? [] : [delta["tool_calls"]]))) {
      const { index, ...call } = piece;
      if (call.id !== undefined) calls[index] = call;
      else calls[index]!["function"].arguments += call.function.arguments;
    }
    const nameless = (made: readonly Json[]) => made.map((call) => ({ ...call, id: "" }));
    expect(nameless(calls)).toEqual(nameless(message.tool_calls ?? []));
    const content = deltas.filter((delta) => delta["content"] || delta["reasoning_content"]);
    expect(content.length).toBeGreaterThan(2);
    expect(events.at(-2)!["choices"][0].finish_reason).toBe(whole["choices"][0].finish_reason);
    expect(events.at(-1)).toEqual({ ...events[0], choices: [], usage: whole["usage"] });
  });

  it("reports no usage in a stream that did not ask for it", async () => {
    for (const more of [{}, { stream_options: { include_usage: false } }])
      expect((await streamed(asking("help", more))).filter((event) => event["usage"] !== undefined)).toEqual([]);
  });

  it("estimates tokens by length, and counts the previous request as cached", async () => {
    const first = asking("x".repeat(400)) as { readonly messages: readonly Json[] };
    const one = (await told(first)).body["usage"];
    const head = Math.ceil(JSON.stringify(tools).length / 4);
    expect([one.prompt_tokens, one.prompt_tokens_details]).toEqual([head + 104, { cached_tokens: 0 }]);
    const next = {
      ...first,
      messages: [...first.messages, { role: "assistant", content: "No." }, { role: "user", content: "Oh" }],
    };
    const two = (await told(next)).body["usage"];
    expect([two.prompt_tokens, two.prompt_tokens_details]).toEqual([
      one.prompt_tokens + 5 + 5,
      { cached_tokens: one.prompt_tokens },
    ]);
    expect(two.total_tokens).toBe(two.prompt_tokens + two.completion_tokens);
  });

  it("is truncated at the token limit", async () => {
    const { choices, usage } = (await told(asking("help", { max_tokens: 5 }))).body;
    expect([choices[0].finish_reason, choices[0].message.content.length, usage.completion_tokens]).toEqual([
      "length",
      20,
      5,
    ]);
  });
});

describe("an invalid request", () => {
  it.each([
    ["no JSON", "{", 400, null],
    ["a list", "[]", 400, null],
    ["no model", { messages: [] }, 400, "model"],
    ["another model", asking("hi", { model: "gpt-5.6" }), 404, "model"],
    ["no messages", { model: "parley" }, 400, "messages"],
    ["empty messages", { model: "parley", messages: [] }, 400, "messages"],
    ["a message that is none", { model: "parley", messages: ["hi"] }, 400, "messages.[0]"],
    ["an unknown role", { model: "parley", messages: [{ role: "king", content: "" }] }, 400, "messages.[0]"],
    ["no content", { model: "parley", messages: [{ role: "user" }] }, 400, "messages.[0]"],
    ["a result of nothing", { model: "parley", messages: [{ role: "tool", content: "" }] }, 400, "messages.[0]"],
  ])("is rejected: %s", async (_, body, status, param) => {
    const refused = await told(body);
    expect([refused.status, refused.body["error"].param]).toEqual([status, param]);
    expect(refused.body["error"]).toMatchObject({
      type: "invalid_request_error",
      message: expect.any(String) as string,
    });
  });

  it("is rejected at any other URL", async () => {
    const elsewhere = await net.send(request(asking("hi"), { url: "offline:/models" }));
    expect([elsewhere.status, (await readBodyText(elsewhere)).includes("Unknown request URL")]).toEqual([404, true]);
  });

  it("never crashes the server, whatever it contains", async () => {
    const word = fc.oneof(
      fc.constantFrom(
        ...'read list run create replace with in to a.txt and then it "x" `y` \'z\' https://x.y/ {"a":1} *.ts remember search for the last 5 lines of why ... Error: See file file-1 Command: Output:'.split(
          " ",
        ),
      ),
      fc.string(),
    );
    const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(" "));
    const data = fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString("base64"));
    const image = fc
      .tuple(fc.constantFrom("iVBORw0KGgo", "/9j/", "R0lGODlh", "UklGRg", ""), data)
      .map(([head, rest]) => ({ type: "image_url", image_url: { url: `data:image/png;base64,${head}${rest}` } }));
    const content = fc.oneof(
      text,
      fc.array(
        fc.oneof(
          text.map((words) => ({ type: "text", text: words })),
          image,
          fc.jsonValue(),
        ),
      ),
      fc.jsonValue(),
    );
    const id = fc.constantFrom("1", "2");
    const call = fc.record({
      id,
      function: fc.record({ name: fc.constantFrom("read_file", "glob", "x"), arguments: fc.oneof(text, fc.json()) }),
    });
    const message = fc.oneof(
      fc.record({ role: fc.constant("user"), content }),
      fc.record({ role: fc.constant("assistant"), content, tool_calls: fc.oneof(fc.array(call), fc.jsonValue()) }),
      fc.record({ role: fc.constant("tool"), tool_call_id: id, content }),
      fc.record({ role: fc.constant("system"), content: text }),
    );
    const body = fc.record({
      model: fc.constant("parley"),
      messages: fc.oneof({ weight: 9, arbitrary: fc.array(message, { minLength: 1, maxLength: 8 }) }, fc.jsonValue()),
      tools: fc.oneof(fc.constant(tools), fc.jsonValue()),
      tool_choice: fc.oneof(fc.constantFrom("auto", "none", "required"), fc.jsonValue()),
      stream: fc.boolean(),
      max_tokens: fc.oneof(fc.nat(50), fc.jsonValue()),
    });
    await fc.assert(
      fc.asyncProperty(body, async (given) => {
        const response = await net.send(request(given));
        const answer = await readBodyText(response);
        expect([200, 400]).toContain(response.status);
        expect(answer).toBe(await readBodyText(await net.send(request(given))));
      }),
      { numRuns: runsPerTier(1500) },
    );
  });
});

describe("a script", () => {
  const script: DemoScript = parseDemoScript({
    rules: [
      {
        prompt: "/weather/i",
        tool: "read_file",
        replies: [
          { think: "Hm.", say: "I look.", call: { tool: "read_file", input: { absolute_path: "sky" } } },
          { say: "Rain." },
        ],
      },
      { prompt: "crash", replies: [{ error: { status: 503, message: "Later." } }] },
    ],
    replies: [
      { say: "First." },
      {
        say: "Second.",
        call: [
          { tool: "a", input: {} },
          { tool: "b", input: { c: 1 } },
        ],
      },
    ],
  });
  const scripted = withDemoModel(noNetwork, { script });
  const say = (role: string, content: string): Json => ({ role, content });

  it("answers by rules first, then by position", async () => {
    const weather = asking("The Weather?") as { readonly messages: readonly Json[] };
    const first = await messageTo(weather, scripted);
    expect([first["reasoning_content"], first["content"], first["tool_calls"][0].function]).toEqual([
      "Hm.",
      "I look.",
      { name: "read_file", arguments: '{"absolute_path":"sky"}' },
    ]);
    const result = { role: "tool", tool_call_id: first["tool_calls"][0].id, content: "grey" };
    const after = { ...weather, messages: [...weather.messages, first, result] };
    expect((await messageTo(after, scripted))["content"]).toBe("Rain.");
    expect((await messageTo(asking("Hello"), scripted))["content"]).toBe("First.");
    const second = await messageTo(
      asking("", { messages: [say("user", "Hello"), say("assistant", "First."), say("user", "And?")] }),
      scripted,
    );
    expect([second["content"], second["tool_calls"].map(({ function: { name } }: Json) => name)]).toEqual([
      "Second.",
      ["a", "b"],
    ]);
  });

  it("falls back to the rules of the demo model when it has no reply left", async () => {
    const third = [
      say("user", "a"),
      say("assistant", "b"),
      say("user", "c"),
      say("assistant", "d"),
      say("user", "list the files"),
    ];
    const message = await messageTo(asking("", { messages: third }), scripted);
    expect(message["tool_calls"][0].function.name).toBe("list_directory");
    const otherwise = withDemoModel(noNetwork, { script: { ...script, otherwise: { say: "Enough." } } });
    expect((await messageTo(asking("", { messages: third }), otherwise))["content"]).toBe("Enough.");
  });

  it("skips a rule whose condition fails or whose prompt is answered", async () => {
    const untooled = asking("The weather?", { tools: [] });
    expect((await messageTo(untooled, scripted))["content"]).toBe("First.");
    const answered = [say("user", "The weather?"), say("assistant", "Rain."), say("user", "Hello")];
    expect((await messageTo(asking("", { messages: answered }), scripted))["content"]).toBe("Second.");
  });

  it("matches its documentation", async () => {
    const page = readFileSync(new URL("../../docs/offline.md", import.meta.url), "utf8");
    const shown = withDemoModel(noNetwork, {
      script: parseDemoScript(JSON.parse(/```json\n(.*?)```/s.exec(page)![1]!)),
    });
    expect((await messageTo(asking("Hello"), shown))["content"]).toBe("The first answer.");
    expect((await messageTo(asking("Weather?"), shown))["reasoning_content"]).toBe("I should look.");
    expect((await told(asking("crash"), shown)).status).toBe(503);
  });

  it("can return errors", async () => {
    expect(await told(asking("crash"), scripted)).toEqual({
      status: 503,
      body: { error: { message: "Later.", type: "server_error", param: null, code: null } },
    });
  });

  it.each<[unknown, string]>([
    [[], "the script: expected an object"],
    [{ rule: [] }, "rule: unknown; there are rules, replies, otherwise"],
    [{ rules: [{}] }, "rules[0].replies: required, but missing"],
    [{ rules: [{ prompt: "/(/", replies: [] }] }, "rules[0].prompt: expected text to find, or a valid /pattern/flags"],
    [{ replies: [{ say: 1 }] }, "replies[0].say: expected a text"],
    [{ replies: {} }, "replies: expected a list"],
    [
      { otherwise: { call: { tool: "" }, error: { status: 200, message: "" } } },
      "otherwise.call.input: required, but missing\notherwise.call.tool: expected the name of a tool\notherwise.error.status: expected a number from 400 to 599",
    ],
  ])("that is invalid is rejected with every problem: %j", (value, message) => {
    expect(() => parseDemoScript(value)).toThrow(new DemoScriptError(message));
  });
});
