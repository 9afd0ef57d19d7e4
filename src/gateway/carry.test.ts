import { describe, expect, it } from "vitest";
import { unwrapSeal, wrapSeal } from "./carry.ts";

const origin = { provider: "google", model: "gemini-3-pro", account: "a1b2" };

describe("a wrapped seal", () => {
  it("comes back with its origin, prefix and owner", () => {
    const seal = {
      id: "call_1",
      item: "rs_1",
      signature: "sig==",
      encrypted: "enc",
      phase: "commentary",
      details: [{ a: 1 }],
    };
    for (const owner of ["this", "previous", { call: "toolu_1" }] as const)
      expect(unwrapSeal(wrapSeal({ origin, prefix: "00ff" }, seal, owner))).toEqual({
        origin,
        prefix: "00ff",
        seal,
        owner,
      });
    expect(unwrapSeal(wrapSeal({ origin: { provider: "deepseek", model: "é中" } }))).toEqual({
      origin: { provider: "deepseek", model: "é中" },
      seal: {},
      owner: "this",
    });
  });

  it("is valid base64, which some SDKs decode", () => {
    const text = wrapSeal({ origin }, { signature: "x" });
    expect(Buffer.from(text, "base64").toString("base64")).toBe(text);
  });

  it("is not mistaken for a vendor's signature, and a changed one is no seal", () => {
    expect(unwrapSeal("EqQBCkYIBxgCKkDs")).toBeUndefined();
    expect(unwrapSeal("parley1/AAAA")).toBeUndefined();
    expect(unwrapSeal(`parley1/${btoa(JSON.stringify({ p: "google", m: 3, s: {} }))}`)).toBeUndefined();
    expect(
      unwrapSeal(`parley1/${btoa(JSON.stringify({ p: "google", m: "x", s: { signature: 7, id: "a" } }))}`),
    ).toEqual({
      origin: { provider: "google", model: "x" },
      seal: { id: "a" },
      owner: "this",
    });
  });
});
