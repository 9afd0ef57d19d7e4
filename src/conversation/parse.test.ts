import { describe, expect, it } from "vitest";
import { call, done, text } from "./builders.ts";
import { Ledger } from "./ledger.ts";
import { storeBytes } from "./media.ts";
import { ConversationFormatError, parseConversation } from "./parse.ts";

const saved = (): Record<string, unknown> => {
  const ledger = new Ledger();
  const { media, blob } = storeBytes(new Uint8Array([1, 2, 3]), { mimeType: "image/png", name: "a.png" });
  ledger.user([text("look"), media]);
  const [made] = ledger.model({ provider: "p", model: "m" }, [call("snap", { n: 1 }, "x")]);
  ledger.complete(made!.id, "snap", done("ok", media, { type: "structured", value: { a: [null] } }));
  ledger.compact("short", 0);
  return { version: 1, system: "s", entries: ledger.entries, blobs: { [blob.hash]: blob.base64 } };
};

describe("parseConversation", () => {
  it("reads what was saved", () => {
    expect(parseConversation(JSON.parse(JSON.stringify(saved())))).toEqual(saved());
  });

  it.each([
    [{ ...saved(), version: 2 }, /format 2.*Update/],
    [{ ...saved(), entries: [{ type: "dance" }] }, /At \/entries\/0/],
    [{ ...saved(), entries: [{ type: "user", parts: [{ type: "smell" }] }] }, /At \/entries\/0\/parts\/0/],
    [{ ...saved(), entries: [{ type: "completion", call: "call_1", tool: "t", outcome: done("x") }] }, /hist_tool_/],
    [[1, 2], /not a saved conversation/],
    ["text", /not a saved conversation/],
    [null, /not a saved conversation/],
  ])("says what is wrong with %j", (value, message) => {
    expect(() => parseConversation(value)).toThrow(ConversationFormatError);
    expect(() => parseConversation(value)).toThrow(message);
  });
});
