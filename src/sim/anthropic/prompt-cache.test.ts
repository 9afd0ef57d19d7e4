import { describe, expect, it } from "vitest";
import { ask, createClient } from "./client.cases.ts";
import type { Json } from "../family.ts";
import { asObject } from "../json.ts";

describe("prompt caching at Anthropic", () => {
  const system = (mark: boolean, ttl?: string): readonly Json[] => [
    {
      type: "text",
      text: "x".repeat(8000),
      ...(mark ? { cache_control: { type: "ephemeral", ...(ttl && { ttl }) } } : {}),
    },
  ];
  const usage = ({ body }: { readonly body: Json }): Json => asObject(body["usage"]);

  it("reports a cache write, then a cache read, and bills only the rest as input", async () => {
    const { send } = createClient();
    const body = ask("hi", { system: system(true), tools: [] });
    expect(usage(await send(body))).toMatchObject({
      input_tokens: 1,
      cache_creation_input_tokens: 2000,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 2000, ephemeral_1h_input_tokens: 0 },
    });
    expect(usage(await send(body))).toMatchObject({
      input_tokens: 1,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 2000,
    });
  });

  it("does nothing without a cache point, or below the model's minimum size", async () => {
    const { send } = createClient();
    const plain = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0, input_tokens: 2001 };
    expect(usage(await send(ask("hi", { system: system(false), tools: [] })))).toMatchObject(plain);
    expect(usage(await send(ask("hi", { system: system(true), tools: [], model: "claude-opus-4-6" })))).toMatchObject(
      plain,
    );
  });

  it("marks the end of the request automatically if the body asks for it, and uses a lifetime of one hour if set", async () => {
    const { send } = createClient();
    const body = ask("hi", { system: system(false), tools: [], cache_control: { type: "ephemeral", ttl: "1h" } });
    expect(usage(await send(body))).toMatchObject({
      input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 2001 },
    });
    expect(usage(await send(body))).toMatchObject({ cache_read_input_tokens: 2001 });
  });

  it("still hits when a cache point moves", async () => {
    const { send } = createClient();
    const hello = { type: "text", text: "hi" };
    const asked = (content: Json): Json =>
      ask("", { system: system(true), tools: [], messages: [{ role: "user", content: [content] }] });
    await send(asked(hello));
    expect(usage(await send(asked({ ...hello, cache_control: { type: "ephemeral" } })))).toMatchObject({
      cache_read_input_tokens: 2000,
      cache_creation_input_tokens: 1,
    });
  });
});
