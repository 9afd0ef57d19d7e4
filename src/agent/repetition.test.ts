import { describe, expect, it } from "vitest";
import { callId, type Call } from "../conversation/index.ts";
import { RepeatedCalls, RepeatedText } from "./repetition.ts";

const calls = (path: string): readonly Call[] => [
  { type: "call", id: callId(1), tool: "read_file", input: { type: "parsed", value: { path } } },
];

describe("repeated calls", () => {
  it("are noticed when the same come for the fifth time in a row", () => {
    const repeated = new RepeatedCalls();
    expect([1, 2, 3, 4, 5].map(() => repeated.add(calls("a")))).toEqual([false, false, false, false, true]);
  });

  it("count anew after other calls, and after the person spoke", () => {
    const repeated = new RepeatedCalls();
    for (let round = 0; round < 4; round++) repeated.add(calls("a"));
    expect(repeated.add(calls("b"))).toBe(false);
    for (let round = 0; round < 3; round++) expect(repeated.add(calls("b"))).toBe(false);
    repeated.forget();
    expect(repeated.add(calls("b"))).toBe(false);
  });
});

describe("repeated text", () => {
  const sentence = "I will now look at the file again to see what is in it. ";
  const added = (text: string, size: number): boolean => {
    const repeated = new RepeatedText();
    for (let at = 0; at < text.length; at += size) if (repeated.add(text.slice(at, at + size))) return true;
    return false;
  };

  it.each([1, 7, 5000])("is noticed in pieces of %d", (size) => {
    expect(added(sentence.repeat(20), size)).toBe(true);
    expect(added(sentence.repeat(5), size)).toBe(false);
  });

  it("is not noticed in a line of dashes, in a list, in a table or in code", () => {
    expect(added("-".repeat(2000), 10)).toBe(false);
    expect(added(`- ${sentence}\n`.repeat(20), sentence.length + 3)).toBe(false);
    expect(added(`| ${sentence} |\n`.repeat(20), sentence.length + 5)).toBe(false);
    expect(added(`\`\`\`\n${sentence}\n\`\`\`\n`.repeat(20), sentence.length + 9)).toBe(false);
  });

  it("is not noticed where the same sentence stands far apart", () => {
    const filler = Array.from({ length: 400 }, (_, index) => `Word ${index} of many. `).join("");
    expect(
      added(
        `${sentence}${filler}`
          .repeat(12)
          .replaceAll(/Word (\d+)/g, (_, word: string, at: number) => `Word ${word}${at}`),
        20,
      ),
    ).toBe(false);
  });
});
