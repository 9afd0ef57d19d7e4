import { describe, expect, it } from "vitest";
import {
  type BedrockTestClient,
  followUp,
  assistant,
  budget,
  cachePoint,
  contentOf,
  fable,
  loop,
  messagesOf,
  nova,
  createClient,
  question,
  sonnet,
  thinking,
  tools,
  usageIn,
  user,
  verdict,
  withFirst,
  withMessage,
} from "./client.cases.ts";
import type { Json } from "../family.ts";
import { asArray, asObject } from "../json.ts";

const seal = expect.stringMatching(/^[A-Za-z0-9+/]{60,}=*$/);

describe("reasoning of Claude on Bedrock", () => {
  const signature =
    "The model returned the following errors: messages.1.content.0: Invalid `signature` in `thinking` block";
  const reasoning = (fields: Json): Json => ({ reasoningContent: { reasoningText: fields } });

  it("is refused when its text or signature was changed, or another provider issued it", async () => {
    const server = createClient({ script: loop });
    const next = await followUp(server, sonnet, { ...question, ...budget });
    const { signature: genuine } = asObject(
      asObject(asObject(asArray(messagesOf(next)[1]?.["content"])[0])["reasoningContent"])["reasoningText"],
    );
    const changed = (fields: Json): Json => withMessage(next, 1, withFirst(reasoning(fields)));
    const refused = [400, "ValidationException", signature];

    expect(await verdict(server, sonnet, next)).toBe(200);
    expect(await verdict(server, sonnet, changed({ text: "Another thought.", signature: genuine }))).toEqual(refused);
    expect(await verdict(server, sonnet, changed({ text: "Two files to read.", signature: "c2VhbA==" }))).toEqual(
      refused,
    );
  });

  it("is bound to the prompt before it from 5.1 on, and not before", async () => {
    const server = createClient({ script: loop });
    const edited = (body: Json): Json => withMessage(body, 0, () => user("Please look there."));
    const dropping = { thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } } };
    const next = await followUp(server, fable);

    expect(await verdict(server, fable, next)).toBe(200);
    expect(await verdict(server, fable, edited(next))).toEqual([
      400,
      "ValidationException",
      `${signature}. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`,
    ]);
    expect(await verdict(server, fable, { ...next, ...tools("snap") })).toMatchObject([
      400,
      "ValidationException",
      expect.stringContaining("bound to a different conversation"),
    ]);
    expect(await verdict(server, fable, { ...edited(next), additionalModelRequestFields: dropping })).toBe(200);
    const old = await followUp(server, sonnet, { ...question, ...budget });
    expect(await verdict(server, sonnet, edited(old))).toBe(200);
  });

  it("stays valid when a cache point moves or earlier reasoning is removed", async () => {
    const server = createClient({
      script: { rules: [], otherwise: { think: "Hm.", say: "Yes." } },
    });
    const first = { messages: [user("One?")], ...thinking };
    const one = assistant(...contentOf(await server.ask(fable, first)));
    const second = { ...first, messages: [user("One?", cachePoint), one, user("Two?")] };
    const two = assistant(...contentOf(await server.ask(fable, second)));
    const bare = assistant({ text: "Yes." });

    expect(
      await verdict(server, fable, {
        ...first,
        messages: [user("One?"), one, user("Two?"), two, user("Three?", cachePoint)],
      }),
    ).toBe(200);
    expect(
      await verdict(server, fable, { ...first, messages: [user("One?"), bare, user("Two?"), two, user("Three?")] }),
    ).toBe(200);
  });

  it("is ignored by another model, and not billed there", async () => {
    const server = createClient({ script: loop });
    const next = await followUp(server, fable);
    const without = withMessage(next, 1, (message) => ({ ...message, content: asArray(message["content"]).slice(1) }));
    const cost = async (model: string, body: Json): Promise<unknown> =>
      usageIn(await server.ask(model, body))["inputTokens"];
    const other = "us.anthropic.claude-opus-5-5-v1:0";

    expect(await cost(other, next)).toBe(await cost(other, without));
    expect(await cost(fable, next)).not.toBe(await cost(fable, without));
    expect(await cost(fable.replace("us.", "global."), next)).toBe(await cost(fable, next));
  });

  it("is accepted without its text or fully redacted, as it was returned", async () => {
    const server = createClient({ script: loop });
    const omitted = { additionalModelRequestFields: { thinking: { type: "adaptive", display: "omitted" } } };
    const trigger = `Please look. ANTHROPIC_MAGIC_STRING_TRIGGER_REDACTED_THINKING_46C9A13E193C177646C7398A98432ECCCE4C1253D5E2D82641AC0E52CC2876CB`;
    const hidden = await followUp(server, fable, { ...question, ...omitted });
    const redacted = await followUp(server, fable, { ...question, messages: [user(trigger)], ...thinking });
    const firstOf = (body: Json): unknown => asArray(messagesOf(body)[1]?.["content"])[0];

    expect(firstOf(hidden)).toEqual(reasoning({ signature: seal, text: "" }));
    expect(firstOf(redacted)).toEqual({ reasoningContent: { redactedContent: seal } });
    expect(await verdict(server, fable, hidden)).toBe(200);
    expect(await verdict(server, fable, redacted)).toBe(200);
    const forged = withMessage(redacted, 1, withFirst({ reasoningContent: { redactedContent: "AAAA" } }));
    expect(await verdict(server, fable, forged)).toEqual([400, "ValidationException", signature]);
  });
});

describe("the prompt cache of Bedrock", () => {
  const system = [{ text: "word ".repeat(1000) }, cachePoint];
  const usage = async ({ ask }: BedrockTestClient, model: string, body: Json): Promise<unknown> =>
    usageIn(await ask(model, body));

  it("is written and read at cache points, and cached tokens are not counted as input", async () => {
    const server = createClient();
    const counts = (read: number, written: number): Json => ({
      cacheReadInputTokenCount: read,
      cacheReadInputTokens: read,
      cacheWriteInputTokenCount: written,
      cacheWriteInputTokens: written,
    });

    expect(await usage(server, sonnet, { system, messages: [user("Go.")] })).toEqual({
      cacheDetails: [{ inputTokens: 1253, ttl: "5m" }],
      ...counts(0, 1253),
      inputTokens: 1,
      outputTokens: 4,
      serverToolUsage: {},
      totalTokens: 1258,
    });
    expect(await usage(server, sonnet, { system, messages: [user("Go on.")] })).toEqual({
      ...counts(1253, 0),
      inputTokens: 2,
      outputTokens: 5,
      serverToolUsage: {},
      totalTokens: 1260,
    });
  });

  it("is reported without cache points only by Claude", async () => {
    const plain = { messages: [user("Go.")] };

    expect(await usage(createClient(), nova, plain)).toEqual({
      inputTokens: 1,
      outputTokens: 4,
      serverToolUsage: {},
      totalTokens: 5,
    });
    expect(await usage(createClient(), nova, { system, ...plain })).toMatchObject({ cacheWriteInputTokens: 1253 });
    expect(await usage(createClient(), sonnet, plain)).toMatchObject({ cacheWriteInputTokens: 0 });
  });

  it("starts at each model's minimum size", async () => {
    const short = { system: [{ text: "word ".repeat(500) }, cachePoint], messages: [user("Go.")] };

    expect(await usage(createClient(), fable, { ...short })).toMatchObject({ cacheWriteInputTokens: 628 });
    expect(await usage(createClient(), sonnet, { ...short })).toMatchObject({ cacheWriteInputTokens: 0 });
  });
});
