import { describe, expect, it } from "vitest";
import { unwrapSeal, wrapSeal } from "./carry.ts";

const origin = { provider: "google", model: "gemini-3-pro", account: "a1b2" };

describe("a wrapped seal", () => {
  it("comes back with its origin and prefix", () => {
    const seal = {
      id: "call_1",
      item: "rs_1",
      signature: "sig==",
      encrypted: "enc",
      phase: "commentary",
      details: [{ a: 1 }],
    };
    const cargo = {
      seal,
      text: "hidden",
      next: { signature: "n" },
      previous: { signature: "p" },
      thinking: { encrypted: "t" },
      before: [{ type: "thinking", text: "é中", seal }],
    };
    for (const source of [{ origin, prefix: "00ff" }, { origin: { provider: "deepseek", model: "é中" } }]) {
      expect(unwrapSeal(wrapSeal(source, cargo as never))).toEqual({ ...source, ...cargo });
      expect(unwrapSeal(wrapSeal(source))).toEqual(source);
    }
  });

  it("is valid base64, which some SDKs decode", () => {
    const text = wrapSeal({ origin }, { seal: { signature: "x" } });
    expect(Buffer.from(text, "base64").toString("base64")).toBe(text);
  });

  it("is not mistaken for a vendor's signature, and a changed one is no seal", () => {
    expect(unwrapSeal("EqQBCkYIBxgCKkDs")).toBeUndefined();
    expect(unwrapSeal("parley1/AAAA")).toBeUndefined();
    expect(unwrapSeal(`parley1/${btoa(JSON.stringify({ p: "google", m: 3, s: {} }))}`)).toBeUndefined();
    expect(
      unwrapSeal(`parley1/${btoa(JSON.stringify({ p: "google", m: "x", s: { signature: 7, id: "a" }, b: [3] }))}`),
    ).toEqual({ origin: { provider: "google", model: "x" }, seal: { id: "a" }, before: [] });
  });
});
