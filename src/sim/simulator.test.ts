import { describe, expect, it } from "vitest";
import { readBodyText, type HttpHeaders, type HttpRequest } from "../world/net.ts";
import { listSimulatedProviders } from "./registry.ts";
import { ask, createClient, followUp, picture, post } from "./anthropic/client.cases.ts";
import type { SimModelRequest } from "./model/types.ts";
import { asArray, asObject } from "./json.ts";
import { createSimulator } from "./simulator.ts";

describe("a simulator", () => {
  it("is found by provider id, or by family name, which means its own vendor", () => {
    expect(createSimulator({ provider: "anthropic" }).provider.host.test("api.anthropic.com")).toBe(true);
    expect(
      ["gemini", "bedrock", "openai-responses", "openai-chat"].map(
        (provider) => createSimulator({ provider }).provider.id,
      ),
    ).toEqual(["google", "bedrock", "openai", "openai-chat"]);
    expect(new Set(listSimulatedProviders()).size).toBe(listSimulatedProviders().length);
  });

  it("simulates a provider without an entry as a typical server of its family", async () => {
    for (const wire of ["gemini", "anthropic", "bedrock", "openai-responses", "openai-chat"] as const) {
      const described = { id: "acme", wire, base: "/acme/v1", auth: "bearer", models: ["acme-1"] } as const;
      expect(createSimulator({ provider: described }).provider).toMatchObject({ id: "acme", wire, base: "/acme/v1" });
    }
    const { handle, log } = createSimulator({
      provider: { id: "acme", wire: "openai-chat", base: "/acme/v1", auth: "bearer", models: ["acme-1"] },
    });
    const { status } = await handle({
      method: "POST",
      url: "https://api.acme.example/acme/v1/chat/completions",
      headers: { authorization: "Bearer key" },
      body: JSON.stringify({ model: "acme-1", messages: [{ role: "user", content: "hi" }] }),
    });
    expect({ status, log }).toMatchObject({ status: 200, log: [{ verdict: "accepted", model: "acme-1" }] });
  });

  it("lists the available providers for an unknown name", () => {
    expect(() => createSimulator({ provider: "anthropik" })).toThrow(
      `Unknown API "anthropik". Available: ${listSimulatedProviders().join(", ")}.`,
    );
  });

  it("answers the same to the same requests, down to the ids", async () => {
    const answers = async (): Promise<readonly unknown[]> => {
      const { send } = createClient({
        script: { rules: [], otherwise: { think: "Hm.", call: { tool: "ls", input: {} } } },
      });
      return [await send(ask("one")), await send(ask("two"))];
    };
    expect(await answers()).toEqual(await answers());
  });

  it("logs accepted and refused requests, with the rule", async () => {
    const { send, simulator } = createClient();
    const good = ask("hi", { tools: [] });
    const bad = ask("hi", { messages: [] });
    await send(good);
    await send(bad);
    await send(good, {}, "/v2/messages");
    expect(simulator.log).toEqual([
      {
        ordinal: 1,
        method: "POST",
        path: "/v1/messages",
        model: "claude-opus-5-5",
        body: good,
        faults: [],
        verdict: "accepted",
        status: 200,
        usage: { input: 1, inputBy: { text: 1 }, cachedRead: 0, cachedWrite: 0, output: 4, reasoning: 0 },
      },
      {
        ordinal: 2,
        method: "POST",
        path: "/v1/messages",
        model: "claude-opus-5-5",
        body: bad,
        faults: [],
        verdict: "refused",
        status: 400,
        message: "messages: at least one message is required",
        rule: "anthropic/shape",
        pointer: "/messages",
      },
      {
        ordinal: 3,
        method: "POST",
        path: "/v2/messages",
        faults: [],
        verdict: "refused",
        status: 404,
        message: "There is nothing at POST /v2/messages.",
      },
    ]);
  });

  it("refuses a body that is not a JSON object, and never throws", async () => {
    const { simulator } = createClient();
    for (const body of ["", "{", "[]", "null", '"x"', "\u0000", new Uint8Array([0xff, 0xfe])])
      expect((await simulator.handle({ ...post({}), body })).status).toBe(400);
    expect((await simulator.handle({ method: "POST", url: post({}).url, headers: post({}).headers })).status).toBe(400);
  });

  it("splits a response into chunks of any size without changing it", async () => {
    const read = async (chunk?: number): Promise<{ readonly text: string; readonly sizes: readonly number[] }> => {
      const { simulator } = createClient(chunk === undefined ? {} : { chunkBytes: chunk });
      const sizes: number[] = [];
      const { body } = await simulator.handle(post(ask("grüße 😀", { stream: true })));
      const chunks: Uint8Array[] = [];
      for await (const piece of body) {
        sizes.push(piece.length);
        chunks.push(piece);
      }
      return { text: Buffer.concat(chunks).toString(), sizes };
    };
    const whole = await read();
    const small = await read(7);
    expect(small.text).toBe(whole.text);
    expect(new Set(small.sizes.slice(0, -1))).toEqual(new Set([7]));
    expect(whole.sizes.length).toBe(whole.text.split("\n\n").length - 1);
  });

  it("accepts a function in place of a script, and passes it the request", async () => {
    const heard: SimModelRequest[] = [];
    const { send } = createClient({
      script: (each) => {
        heard.push(each);
        return { parts: [{ type: "say", text: `${each.turns.length} turns` }] };
      },
    });
    const call = { type: "tool_use", id: "a", name: "ls", input: { path: "/" } };
    const result = { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "a.png" }, picture] };
    const body = followUp(
      ask("look", { system: "Be terse." }),
      [{ type: "text", text: "Looking." }, call],
      [result, { type: "text", text: "and?" }],
    );
    expect((await send(body)).body["content"]).toEqual([{ type: "text", text: "4 turns" }]);
    expect(heard).toEqual([
      {
        model: "claude-opus-5-5",
        system: "Be terse.",
        tools: [
          {
            name: "ls",
            description: "Lists a folder.",
            parameters: { type: "object", properties: { path: { type: "string" } } },
          },
        ],
        serverTools: [],
        mayThink: true,
        maxOutput: 4000,
        turns: [
          { by: "user", text: "look", files: [] },
          { by: "model", text: "Looking.", calls: [{ id: "a", tool: "ls", input: { path: "/" } }] },
          {
            by: "tools",
            results: [
              {
                id: "a",
                tool: "ls",
                text: "a.png",
                isError: false,
                files: [{ kind: "image", mimeType: "image/png", bytes: 29, width: 1000, height: 750 }],
              },
            ],
          },
          { by: "user", text: "and?", files: [] },
        ],
      },
    ]);
  });

  it("answers with the script's error", async () => {
    const { send } = createClient({
      script: { rules: [], otherwise: { error: { status: 529, message: "Overloaded" } } },
    });
    const { status, body } = await send(ask("hi"));
    expect([status, body["error"]]).toEqual([529, { type: "overloaded_error", message: "Overloaded" }]);
  });
});

describe("without a script, the model describes what it received", () => {
  const said = async (body: ReturnType<typeof ask>): Promise<unknown> => {
    const answer = await createClient().send(body);
    return asArray(answer.body["content"]).map((block) => asObject(block)["text"]);
  };

  it("text and files", async () => {
    const content = [picture, { type: "text", text: 'look "here"' }];
    expect(await said(ask("", { messages: [{ role: "user", content }] }))).toEqual([
      'You said: "look \\"here\\"". I see image image/png of 1000x750 pixels (29 bytes).',
    ]);
  });

  it("results by tool, with their files", async () => {
    const calls = ["a", "b"].map((id) => ({ type: "tool_use", id, name: `tool_${id}`, input: {} }));
    const results = [
      { type: "tool_result", tool_use_id: "a", content: [picture] },
      { type: "tool_result", tool_use_id: "b", is_error: true, content: "no" },
    ];
    expect(await said(followUp(ask("look"), calls, results))).toEqual([
      'tool_a returned: "". I see image image/png of 1000x750 pixels (29 bytes). tool_b failed: "no".',
    ]);
  });

  it("a long text truncated", async () => {
    const [text] = (await said(ask("x".repeat(5000)))) as readonly string[];
    expect(text).toBe(`You said: "${"x".repeat(400)}...".`);
  });
});

describe("authentication", () => {
  const status = async (provider: string, headers: HttpHeaders, url: string): Promise<number> => {
    const request: HttpRequest = { method: "POST", url, headers, body: "{}" };
    const { status: answered, ...rest } = await createSimulator({
      provider,
      keys: ["good"],
      awsSecret: { id: "AKID", secret: "s" },
    }).handle(request);
    await readBodyText({ status: answered, ...rest });
    return answered;
  };
  const google = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent";
  const openai = "https://api.openai.com/v1/responses";
  const bedrock = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-sonnet-5-v1%3A0/converse";

  it.each([
    ["anthropic", { "x-api-key": "good" }, "https://api.anthropic.com/v1/messages"],
    ["anthropic", { authorization: "Bearer good" }, "https://api.anthropic.com/v1/messages"],
    ["google", { "x-goog-api-key": "good" }, google],
    ["google", {}, `${google}?key=good`],
    ["openai", { authorization: "Bearer good" }, openai],
    ["bedrock", { authorization: "Bearer good" }, bedrock],
  ])("accepts a valid key, then checks the body: %s %j", async (provider, headers, url) => {
    expect(await status(provider, headers, url)).toBe(400);
  });

  it.each([
    ["anthropic", {}, "https://api.anthropic.com/v1/messages"],
    ["anthropic", { "x-api-key": "bad" }, "https://api.anthropic.com/v1/messages"],
    ["anthropic", { "x-api-key": " " }, "https://api.anthropic.com/v1/messages"],
    ["openai", {}, openai],
    ["openai", { authorization: "Bearer bad" }, openai],
    ["openai", { authorization: "good" }, openai],
  ])("refuses a missing or wrong key: %s %j", async (provider, headers, url) => {
    expect(await status(provider, headers, url)).toBe(401);
  });

  it.each([
    ["no signature", {}],
    ["a word that is none", { authorization: "AWS4-HMAC-SHA256 nonsense" }],
    [
      "a signature of someone else",
      {
        authorization: `AWS4-HMAC-SHA256 Credential=OTHER/20261115/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=${"0".repeat(64)}`,
      },
    ],
    [
      "a wrong signature",
      {
        authorization: `AWS4-HMAC-SHA256 Credential=AKID/20261115/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=${"0".repeat(64)}`,
      },
    ],
  ])("refuses %s at AWS", async (_, headers) => {
    expect(await status("bedrock", headers, bedrock)).toBe(403);
  });
});
