import { describe, expect, it } from "vitest";
import { checkSeal, makeSeal, openSeal, sealedText } from "./seal.ts";
import { fc } from "../../test/support/fast-check.ts";

const content = { provider: "anthropic", model: "claude-opus-5-5", text: "I think.", prefix: "before" };
const seal = makeSeal(content);
const use = { pointer: "/messages/1/content/0", value: seal, text: "I think.", unitsBefore: 3 };
const here = { provider: "anthropic", model: "claude-opus-5-5", prefix: () => "before" };

describe("a seal", () => {
  it("is genuine for the same provider, model, text and prompt", () => {
    expect(checkSeal(use, here)).toBe("genuine");
    expect(makeSeal(content)).toBe(seal);
  });

  it("detects another text, another model, another provider, another prompt", () => {
    expect(checkSeal({ ...use, text: "I thought." }, here)).toBe("other-text");
    expect(checkSeal(use, { ...here, model: "claude-opus-5" })).toBe("other-model");
    expect(checkSeal(use, { ...here, provider: "bedrock" })).toBe("forged");
    expect(checkSeal(use, { ...here, prefix: () => "other" })).toBe("prefix");
  });

  it("is genuine without its text", () => {
    const { text: _, ...alone } = use;
    expect(checkSeal(alone, here)).toBe("genuine");
  });

  it("may be bound to any position inside a paused and continued message", () => {
    const prefix = (after: number): string => (after === 5 ? "before" : "elsewhere");
    expect(checkSeal({ ...use, unit: 4 }, { ...here, prefix })).toBe("prefix");
    expect(checkSeal({ ...use, unit: 5 }, { ...here, prefix })).toBe("genuine");
  });

  it("is forged when any one character is changed", () => {
    fc.assert(
      fc.property(fc.nat(seal.length - 1), fc.constantFrom(..."ABCabc019+/=-_ ".split("")), (at, letter) => {
        const value = seal.slice(0, at) + letter + seal.slice(at + 1);
        expect(checkSeal({ ...use, value }, here)).toBe(value === seal ? "genuine" : "forged");
      }),
    );
  });

  it("is forged when it is any other text", () => {
    for (const value of [
      "",
      "x",
      "EpABCioIBhgCIiQ=",
      "skip_thought_signature_validator",
      seal.slice(0, 60),
      `${seal}AA==`,
    ])
      expect(checkSeal({ ...use, value }, here)).toBe("forged");
  });

  it("contains the size of its text", () => {
    expect(openSeal(seal)).toMatchObject({ provider: "anthropic", model: "claude-opus-5-5", tokens: 2 });
    expect(openSeal("nonsense")).toBeUndefined();
  });

  it("of a call is bound to its tool and input", () => {
    expect(sealedText({ type: "call", tool: "ls", input: { path: "/" } })).toBe('ls {"path":"/"}');
    expect(sealedText({ type: "say", text: "Hello." })).toBe("Hello.");
  });
});
