import { describe, expect, it } from "vitest";
import type { Entry } from "../../conversation/entry.ts";
import { wrapSeal } from "../carry.ts";
import { restoreSeals } from "./restore-seals.ts";

const read = { provider: "google", model: "some-model" };
const source = { origin: { provider: "anthropic", model: "claude-opus-5" } };
const call = (id: string, seal: object = {}): Entry & { type: "model" } => ({
  type: "model",
  origin: read,
  parts: [{ type: "call", id: "hist_tool_1", tool: id, input: { type: "parsed", value: {} }, seal: { id, ...seal } }],
});

describe("messages of a client that returns every event as a message", () => {
  it("are one response again, with parallel calls, and with thinking once", () => {
    const thought = { type: "thinking", text: "Both at once.", seal: { signature: "c2ln" } } as const;
    const entries: readonly Entry[] = [
      { type: "user", parts: [{ type: "text", text: "Go" }] },
      { type: "model", origin: read, parts: [{ type: "thinking", text: "Both " }] },
      { type: "model", origin: read, parts: [{ type: "thinking", text: "at once." }] },
      call("look", { signature: wrapSeal(source, { before: [thought] }) }),
      call("measure"),
    ];

    expect(restoreSeals(entries)).toEqual([
      entries[0],
      {
        type: "model",
        origin: source.origin,
        parts: [thought, ...call("look").parts, ...call("measure").parts],
      },
    ]);
  });
});
