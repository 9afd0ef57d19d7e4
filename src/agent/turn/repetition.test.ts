import { describe, expect, it } from "vitest";
import { ordinaryTexts } from "../../../test/support/ordinary-texts.ts";
import { Random } from "../../../test/support/random.ts";
import { callId } from "../../conversation/call-ids.ts";
import type { Call, Outcome } from "../../conversation/parts.ts";
import { RepeatedCallDetector, RepeatedTextDetector } from "./repetition.ts";

const calls = (path: string): readonly Call[] => [
  { type: "call", id: callId(1), tool: "read_file", input: { type: "parsed", value: { path } } },
];
const ended = (text: string): readonly Outcome[] => [{ status: "complete", content: [{ type: "text", text }] }];

/** The number of rounds of calls before the detector stops them, at most `most`. */
const roundsUntilStopped = (round: (at: number) => readonly [string, string], most: number): number => {
  const repeated = new RepeatedCallDetector();
  for (let at = 0; at < most; at++) {
    const [path, result] = round(at);
    if (repeated.isRepeating(calls(path))) return at;
    repeated.add(calls(path), ended(result));
  }
  return most;
};

describe("repeated calls", () => {
  it("are stopped after the same calls had the same results ten times", () => {
    expect(roundsUntilStopped(() => ["a", "same"], 100)).toBe(10);
  });

  it("are stopped if a model alternates between the same steps", () => {
    expect(roundsUntilStopped((at) => [at % 2 === 0 ? "a" : "b", "same"], 100)).toBe(20);
    expect(roundsUntilStopped((at) => [`${at % 4}`, "same"], 100)).toBe(40);
  });

  it("continue while their results change, as in polling", () => {
    expect(roundsUntilStopped((at) => ["a", `${at} percent`], 90)).toBe(90);
    expect(roundsUntilStopped((at) => ["a", at % 9 === 0 ? `${at} percent` : "waiting"], 90)).toBe(90);
  });

  it("are stopped after a hundred times in a row, whatever their results", () => {
    expect(roundsUntilStopped((at) => ["a", `took ${at} ms`], 1000)).toBe(100);
  });

  it("continue while the calls change", () => {
    expect(roundsUntilStopped((at) => [`page ${at}`, "nothing found"], 1000)).toBe(1000);
  });

  it("are counted from zero after a message of the user", () => {
    const repeated = new RepeatedCallDetector();
    for (let round = 0; round < 10; round++) repeated.add(calls("a"), ended("same"));
    expect(repeated.isRepeating(calls("b"))).toBe(false);
    expect(repeated.isRepeating(calls("a"))).toBe(true);
    repeated.reset();
    expect(repeated.isRepeating(calls("a"))).toBe(false);
  });
});

/** The position at which the detector stops an answer in deltas of random size up to `most`; undefined if it does not. */
const stoppedAt = (text: string, most: number, random = new Random(1)): number | undefined => {
  const repeated = new RepeatedTextDetector();
  for (let at = 0; at < text.length;) {
    const end = at + 1 + random.below(most);
    if (repeated.add(text.slice(at, end))) return Math.min(end, text.length);
    at = end;
  }
  return undefined;
};

describe("ordinary text", () => {
  it.each(Object.entries(ordinaryTexts))("of the kind %s is never stopped", (_, make) => {
    for (const lines of [12, 150, 600]) {
      const text = make(lines, new Random(lines));
      const fenced = `Here is the file:\n\n\`\`\`\n${text}\n\`\`\`\n\nThat is all of it.`;
      for (const most of [1, 7, 80, 5000])
        expect([stoppedAt(text, most), stoppedAt(fenced, most)]).toEqual([undefined, undefined]);
    }
  });

  it("of many kinds in a row is never stopped, whatever the size of the deltas", () => {
    const random = new Random(7);
    const kinds = Object.values(ordinaryTexts);
    for (let round = 0; round < 20; round++) {
      const files = Array.from({ length: 8 }, () => random.pick(kinds)(random.below(300), random));
      const text = files.map((file) => `\`\`\`\n${file}\n\`\`\`\n`).join("\n");
      expect(stoppedAt(text, 1 + random.below(200), random)).toBe(undefined);
    }
  });
});

describe("an answer that repeats itself", () => {
  const sentence = "I will now look at the file again to see what is in it. ";
  const chinese = "我现在再看一遍这个文件，看看里面有什么内容。";
  const paragraph = Array.from(
    { length: 12 },
    (_, at) => `This is sentence ${at} of one and the same paragraph. `,
  ).join("");

  it.each([
    { what: "a sentence", piece: sentence, within: 14_000 },
    { what: "a short sentence", piece: "I am sorry. ", within: 14_000 },
    { what: "a sentence in Chinese", piece: chinese, within: 14_000 },
    { what: "a paragraph", piece: paragraph, within: 14_000 },
    { what: "a page", piece: `${paragraph}${sentence}`.repeat(3).replace("again", "once more"), within: 40_000 },
    { what: "a line of a list", piece: `- ${sentence}\n`, within: 14_000 },
    { what: "a line of code", piece: "const value = compute(value);\n", within: 70_000 },
    { what: "a word", piece: "no ", within: 70_000 },
    { what: "line ends", piece: "\n", within: 70_000 },
  ])("is stopped: $what", ({ piece, within }) => {
    const text = `Some words before it. ${piece.repeat(Math.ceil((2 * within) / piece.length))}`;
    for (const most of [1, 13, 4000, text.length]) {
      const at = stoppedAt(text, most);
      expect(at).toBeDefined();
      expect(at).toBeGreaterThan(8000);
      if (most < 1000) expect(at).toBeLessThan(within);
    }
  });

  it("is stopped inside a code fence too", () => {
    expect(stoppedAt(`\`\`\`\n${sentence.repeat(400)}`, 10)).toBeLessThan(14_000);
  });

  it("for a few thousand characters is not stopped yet", () => {
    expect(stoppedAt(sentence.repeat(140), 10)).toBe(undefined);
  });
});
