import { describe, expect, it } from "vitest";
import { call, done, text } from "../../src/conversation/builders.ts";
import { Ledger } from "../../src/conversation/ledger.ts";
import { storeBytes } from "../../src/conversation/media.ts";
import type { Seal } from "../../src/conversation/parts.ts";
import { providers } from "../../src/providers/all.ts";
import { recordDecisions } from "../../src/transcript/record-decisions.ts";
import { RequestComposer } from "../../src/wire/compose.ts";
import type { Destination } from "../../src/wire/bind.ts";
import { buildHistory, makeHistory } from "../support/histories.ts";

const models: Readonly<Record<string, string>> = {
  anthropic: "claude-fable-5-1",
  bedrock: "us.anthropic.claude-fable-5-1-v1:0",
};
const policy = { unsupportedMedia: "stub" } as const;

/** A legal id of each provider's own kind. */
const nativeIds: Readonly<Record<string, string>> = {
  mistral: "aB3dE6gH9",
  kimi: "functions.snap:41",
  anthropic: "toolu_01NativeOne",
  bedrock: "tooluse_NativeOne",
};

/** Thinking as this target's own maker would seal it. */
const sealFor = ({ target, wire }: Destination): Seal => {
  if (wire.id === "openai-responses") return { item: "rs_native", encrypted: "sealedNative" };
  return target.provider === "openrouter" || target.provider === "minimax"
    ? { details: [{ type: "reasoning.text", text: "sealedNative", index: 0 }] }
    : { signature: "c2VhbGVkTmF0aXZl" };
};

describe.each(providers.map((provider) => ({ id: provider.id, provider })))(
  "coming back to $id",
  ({ id, provider }) => {
    const model = models[id] ?? provider.defaultModel;
    const destination = provider.destination(model);
    const { target } = destination;
    const picture = storeBytes(new TextEncoder().encode("a picture"), { mimeType: "image/png" });
    const blobs = { [picture.blob.hash]: picture.blob.base64 };
    const native = nativeIds[id] ?? "call_NativeOne";
    const seal = sealFor(destination);

    /** A turn on this provider, a turn elsewhere, and the next request here. */
    const visit = (prefix: (ledger: Ledger) => string | undefined): string => {
      const ledger = new Ledger();
      ledger.user([text("look")]);
      const signature = target.thinking.form === "seal" ? { signature: "c2VhbGVkTmF0aXZl" } : {};
      const [made] = ledger.model(
        { provider: id, model },
        [
          { type: "thinking", text: "a native thought", seal },
          { type: "call", tool: "snap", input: { value: {} }, seal: { id: native, ...signature } },
        ],
        prefix(ledger),
      );
      ledger.complete(made!.id, "snap", done("here", picture.media));
      ledger.model({ provider: "elsewhere", model: "other" }, [
        { type: "thinking", text: "foreign", seal: { signature: "Zm9yZWlnbg==" } },
        call("snap", {}, "x".repeat(90)),
      ]);
      recordDecisions(ledger);
      ledger.user([text("and now?")]);
      const composer = new RequestComposer({ destination, blobs, policy });
      composer.add(ledger.entries);
      return JSON.stringify(composer.body());
    };

    const digest = (ledger: Ledger): string => {
      const composer = new RequestComposer({ destination, blobs, policy });
      composer.add(ledger.entries);
      return composer.digest();
    };

    it("finds its own ids, seals and media as they were", () => {
      const bytes = visit(digest);
      expect(bytes.split(JSON.stringify(native)).length - 1).toBe(2);
      expect(bytes).not.toContain("Zm9yZWlnbg==");
      const mark = JSON.stringify(seal).includes("sealedNative") ? "sealedNative" : "c2VhbGVkTmF0aXZl";
      if (target.thinking.form === "signed" || target.thinking.form === "seal") expect(bytes).toContain(mark);
      if (target.thinking.form === "plain") expect(bytes).toContain("a native thought");
      if (target.media.user.image !== undefined || target.media.result.image !== undefined)
        expect(bytes).toContain(picture.blob.base64);
    });

    if (target.thinking.bound)
      it("leaves out thinking whose past is no longer what it was", () => {
        expect(visit(() => "0123456789abcdef")).not.toContain("c2VhbGVkTmF0aXZl");
      });
  },
);

describe("thinking bound to its prefix", () => {
  it("is all there in a live session, and stays where a late result, a switch or a repair came after it", () => {
    const provider = providers.find(({ id }) => id === "anthropic")!;
    const destination = provider.destination("claude-fable-5-1");
    let checked = 0;
    for (let seed = 1; seed <= 400; seed++) {
      const history = makeHistory(seed);
      if (history.mode !== "live" || history.ops.some(({ type }) => type === "compact")) continue;
      const { conversation, requests } = buildHistory(history);
      const composer = new RequestComposer({ destination, blobs: conversation.blobs, policy });
      const signatures: string[] = [];
      let done = 0;
      for (const count of requests) {
        composer.add(conversation.entries.slice(done, count));
        done = count;
        const signature = Buffer.from(`live ${seed} ${count}`).toString("base64");
        signatures.push(signature);
        composer.add([
          {
            type: "model",
            origin: { provider: "anthropic", model: "claude-fable-5-1" },
            prefix: composer.digest(),
            parts: [
              { type: "thinking", text: "bound", seal: { signature } },
              { type: "text", text: "so" },
            ],
          },
          { type: "user", parts: [text("go on")] },
        ]);
      }
      const bytes = JSON.stringify(composer.body());
      for (const signature of signatures) expect(bytes, `history ${seed}`).toContain(signature);
      checked += signatures.length;
    }
    expect(checked).toBeGreaterThan(200);
  });
});
