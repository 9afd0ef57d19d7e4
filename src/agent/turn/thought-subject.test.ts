import { describe, expect, it } from "vitest";
import { ThoughtSubjectParser } from "./thought-subject.ts";

const read = (...deltas: readonly string[]): readonly unknown[] => {
  const subjects = new ThoughtSubjectParser();
  return deltas.map((piece) => subjects.add(piece));
};

describe("the subject of a thought", () => {
  it("is the bold text it begins with, and the rest is its description", () => {
    const text = "**Reading the file**\n\nI look at what is in it.\n\n";
    expect(read(text)).toEqual([{ text, subject: "Reading the file", description: "I look at what is in it." }]);
  });

  it("is found across deltas, and applies until the next", () => {
    expect(read("**Read", "ing**", "\nFirst", " this.", "\n\n**Writing** Then that.")).toEqual([
      { text: "**Read" },
      { text: "ing**", subject: "Reading", description: "" },
      { text: "\nFirst", subject: "Reading", description: "\nFirst" },
      { text: " this.", subject: "Reading", description: " this." },
      { text: "\n\n**Writing** Then that.", subject: "Writing", description: "Then that." },
    ]);
  });

  it("is absent if the text has none", () => {
    expect(read("I think, ", "that **this** matters.")).toEqual([
      { text: "I think, " },
      { text: "that **this** matters." },
    ]);
  });
});
