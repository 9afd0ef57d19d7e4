import { describe, expect, it } from "vitest";
import type { Json } from "../family.ts";
import { asArray, asObject } from "../json.ts";
import {
  type ResponsesTestClient,
  followUp,
  itemsOf,
  loop,
  createClient,
  stateless,
  tools,
  user,
  wordsIn,
  wordsOnly,
} from "./client.cases.ts";

describe("Azure", () => {
  const hello = { model: "gpt-5.6", input: "Go." };

  it("accepts either key header, and paths without /v1 if an api-version is set", async () => {
    const { ask } = createClient("azure");
    const dated = "https://localhost/openai/responses";

    expect((await ask(hello, { headers: { authorization: "Bearer token" } })).status).toBe(200);
    expect((await ask(hello, { url: `${dated}?api-version=2025-04-01-preview` })).status).toBe(200);
    expect(await ask(hello, { url: dated })).toMatchObject({
      status: 404,
      body: { error: { code: "404", message: "Resource not found" } },
    });
  });

  it("has its own errors for an unknown key or deployment", async () => {
    const { ask } = createClient("azure", { keys: ["other"] });
    const lost = await createClient("azure").ask({ ...hello, model: "my-deployment" });

    expect(await ask(hello)).toMatchObject({ status: 401, body: { error: { code: "401" } } });
    expect({ status: lost.status, body: lost.body }).toEqual({
      status: 404,
      body: {
        error: {
          code: "DeploymentNotFound",
          message:
            "The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.",
        },
      },
    });
  });

  it("includes content filter results in finished responses", async () => {
    const events = await createClient("azure").stream(hello);
    const filtersOf = (event: unknown): unknown => asObject(asObject(event)["response"])["content_filters"];

    expect(filtersOf(events[0])).toBe(null);
    expect(filtersOf(events.at(-1))).toMatchObject([{ blocked: false, source_type: "prompt" }]);
  });
});

describe("xAI", () => {
  const asking = { model: "grok-4.5", input: "Please look.", tools: tools("snap", "stat"), ...stateless };

  it("always returns reasoning summaries, sends arguments in one delta, and adds no padding", async () => {
    const { raw } = createClient("xai", { script: loop });

    const events = (await raw(asking)).split("\n\n").filter((event) => event !== "");

    expect(events[0]).toMatch(/^event: response.created\ndata: \{"sequence_number":0,"type":"response.created",/);
    expect(events.join("\n")).not.toContain("obfuscation");
    expect(
      events.filter((event) => event.includes("function_call_arguments.delta")).map((event) => event.split("\n")[1]),
    ).toEqual([
      expect.stringMatching(
        /^data: \{"sequence_number":\d+,"type":"response.function_call_arguments.delta","delta":"\{\\"path\\":\\"a.png\\"\}","item_id":"fc_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}","output_index":2\}$/,
      ),
      expect.stringContaining('"delta":"{}"'),
    ]);
  });

  it("accepts its encrypted reasoning with another key", async () => {
    const server = createClient("xai", { script: loop });
    const next = await followUp(server, { ...asking, input: [user("Please look.")] });
    const body = wordsOnly(next);

    const reply = await server.ask(body, { headers: { authorization: "Bearer key-two" } });

    expect(itemsOf(body)[1]).toEqual({
      id: expect.stringMatching(/^rs_[0-9a-f-]{36}$/),
      summary: [
        { type: "summary_text", text: "**Two files**\n\nBoth are needed." },
        { type: "summary_text", text: "**Order**\n\nAny." },
      ],
      type: "reasoning",
      status: "completed",
      encrypted_content: expect.stringMatching(/^[A-Za-z0-9+/]{60,}=*$/),
    });
    expect([reply.status, wordsIn(reply)]).toEqual([200, 'snap returned: "a picture". stat returned: "ENOENT".']);
  });

  it("refuses metadata, a wrong key and a long prompt in its own format", async () => {
    const { ask } = createClient("xai", { keys: ["key-one"] });
    const shown = async (body: Json, more?: Parameters<ResponsesTestClient["ask"]>[1]): Promise<unknown> => {
      const { status, body: said } = await ask(body, more);
      return { status, ...said };
    };

    expect(await shown({ ...asking, metadata: { user: "Ada" } })).toEqual({
      status: 400,
      code: "invalid-argument",
      error: "Argument not supported: metadata",
    });
    expect(await shown(asking, { headers: { authorization: "Bearer xai-123456789" } })).toEqual({
      status: 400,
      code: "invalid-argument",
      error: "Incorrect API key provided: xai-*****6789. You can obtain an API key from https://console.x.ai.",
    });
    expect(await shown({ ...asking, model: "grok-4", input: "word ".repeat(210_000) })).toEqual({
      status: 400,
      code: "invalid-argument",
      error: "This model's maximum prompt length is 256000 but the request contains 262578 tokens.",
    });
    expect((await ask(asking, { url: "https://localhost/v1/responses/input_tokens" })).status).toBe(404);
  });
});

describe("an overloaded Responses server", () => {
  it.each([
    [{ status: 429 }, 429, "tokens", "rate_limit_exceeded"],
    [{ status: 429, kind: "quota" as const }, 429, "insufficient_quota", "insufficient_quota"],
    [{ status: 503 }, 503, "service_unavailable_error", "server_is_overloaded"],
    [{ status: 500 }, 500, "server_error", "server_error"],
  ])("reports it: %j", async (fault, status, type, code) => {
    const headers = { "retry-after": "7" };
    const { ask } = createClient("openai", { faults: [{ fault: { type: "status", ...fault, headers } }] });

    const reply = await ask({ model: "gpt-5.6", input: "Go." });

    expect(reply).toMatchObject({ status, headers, body: { error: { type, code, param: null } } });
  });

  it("lists models, and describes one", async () => {
    const { ask } = createClient("openai");
    const get = async (path: string): Promise<unknown> =>
      (await ask({}, { method: "GET", url: `https://localhost/v1${path}` })).body;
    const model = { id: "gpt-5.6", object: "model", created: 1_754_073_306, owned_by: "system" };

    expect(asArray(asObject(await get("/models"))["data"])[0]).toEqual(model);
    expect(await get("/models/gpt-5.6")).toEqual(model);
  });
});
