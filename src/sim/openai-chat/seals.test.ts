import { describe, expect, it } from "vitest";
import type { Json } from "../family.ts";
import { asArray, asObject, asText } from "../json.ts";
import {
  callsIn,
  lookScript,
  messageIn,
  createClient,
  question,
  result,
  user,
  type ChatTestResponse,
} from "./client.cases.ts";

describe("sealed reasoning behind OpenRouter", () => {
  const claude = "anthropic/claude-sonnet-5";

  /** Sends a request, then a second one with changed details of the first response. */
  const back = async (
    { from, to = from }: { readonly from: string; readonly to?: string },
    change: (details: readonly Json[]) => readonly Json[] = (details) => details,
    messages: readonly Json[] = question["messages"] as Json[],
  ): Promise<ChatTestResponse> => {
    const { ask } = createClient("openrouter", { script: lookScript });
    const message = messageIn((await ask({ ...question, model: from })).body);
    const details = change(asArray(message["reasoning_details"]).map(asObject));
    const results = callsIn(message).map(({ id }) => result(id, "done"));
    return ask({
      ...question,
      model: to,
      messages: [...messages, { ...message, reasoning_details: details }, ...results],
    });
  };
  const rawOf = ({ status, body }: ChatTestResponse): readonly unknown[] => {
    const { message, metadata } = asObject(body["error"]);
    const { raw, provider_name: speaker } = asObject(metadata);
    return [status, message, speaker, asObject(asObject(JSON.parse(asText(raw)))["error"])["message"]];
  };
  const upstream = (speaker: string, words: string): readonly unknown[] => [
    400,
    "Provider returned error",
    speaker,
    words,
  ];

  it.each([claude, "openai/gpt-5.6", "google/gemini-3.1-pro-preview", "moonshotai/kimi-k3"])(
    "is accepted back by %s, which issued it",
    async (from) => {
      expect((await back({ from })).status).toBe(200);
    },
  );

  it("is refused by Claude when its text was changed", async () => {
    const reply = await back({ from: claude }, (details) =>
      details.map((detail) => ({ ...detail, text: `${asText(detail["text"])}!` })),
    );

    expect(rawOf(reply)).toEqual(
      upstream("Anthropic", "messages.1.content.0: Invalid `signature` in `thinking` block"),
    );
  });

  it("is refused by Claude with an invented signature", async () => {
    const reply = await back({ from: claude }, (details) =>
      details.map((detail) => ({ ...detail, signature: "bm90IG1pbmU=" })),
    );

    expect(rawOf(reply)).toEqual(
      upstream("Anthropic", "messages.1.content.0: Invalid `signature` in `thinking` block"),
    );
  });

  it("is refused by Claude without a signature", async () => {
    const reply = await back({ from: claude }, (details) => details.map(({ signature: _seal, ...detail }) => detail));

    expect(rawOf(reply)).toEqual(upstream("Anthropic", "messages.1.content.0.thinking.signature: Field required"));
  });

  it("is refused by another model of the same vendor", async () => {
    const reply = await back({ from: claude, to: "anthropic/claude-sonnet-4.5" });

    expect(rawOf(reply)).toEqual(
      upstream("Anthropic", "messages.1.content.0: Invalid `signature` in `thinking` block"),
    );
  });

  it("is refused by another vendor", async () => {
    const words =
      /^The encrypted content [A-Za-z0-9+/]{8}\.\.\. could not be verified\. Reason: Encrypted content could not be decrypted or parsed\.$/;

    expect(rawOf(await back({ from: claude, to: "openai/gpt-5.6" }))).toEqual([
      400,
      "Provider returned error",
      "OpenAI",
      expect.stringMatching(words),
    ]);
    expect(rawOf(await back({ from: "openai/gpt-5.6", to: "google/gemini-3.1-pro-preview" }))).toEqual(
      upstream("Google AI Studio", "Corrupted thought signature."),
    );
  });

  it("is accepted after a changed history, except by Claude models that bind it", async () => {
    const changed = [user("Please look twice.")];

    expect((await back({ from: claude }, undefined, changed)).status).toBe(200);
    expect(rawOf(await back({ from: "anthropic/claude-fable-5.1" }, undefined, changed))).toEqual(
      upstream(
        "Anthropic",
        'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
      ),
    );
  });

  it("may be omitted", async () => {
    expect((await back({ from: claude }, () => [])).status).toBe(200);
  });
});
