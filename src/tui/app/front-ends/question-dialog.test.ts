import { expect, it } from "vitest";
import type { UserQuestion } from "../../../tools/capabilities.ts";
import { lineText } from "../../text/line.ts";
import { createLineDialog, type LineDialog } from "./line-dialog.ts";

const dialog = (question: Partial<UserQuestion> = {}): LineDialog =>
  createLineDialog(
    {
      type: "question",
      question: {
        question: "Which database?",
        options: [{ label: "SQLite", description: "One file" }, { label: "PostgreSQL" }],
        allowsSeveral: false,
        ...question,
      },
      number: 1,
      count: 2,
    },
    { model: "offline/parley", waiting: 0 },
    1000,
  );

const texts = ({ lines }: LineDialog): readonly string[] => lines.map((each) => lineText(each));

it("a question of the model is printed as a numbered list", () => {
  expect(texts(dialog())).toEqual([
    "The model asks 1 of 2: Which database?",
    "1. SQLite: One file",
    "2. PostgreSQL",
    "Type a number, or your own answer. Type /no if you do not want to answer.",
  ]);
});

it.each([
  ["2", {}, ["PostgreSQL"]],
  ["MySQL", {}, ["MySQL"]],
  ["1, 2", { allowsSeveral: true }, ["SQLite", "PostgreSQL"]],
  ["42", { options: [] }, ["42"]],
])("%s with %j is the answer %j", (typed, question, answer) => {
  expect(dialog(question).submit(typed)).toEqual({ type: "yes", content: { answer } });
});

it.each(["", "3", "1, 2", "0"])("%j is no answer, and the help is repeated", (typed) => {
  const next = dialog().submit(typed);
  expect("lines" in next && texts(next)).toEqual([
    "Type a number, or your own answer. Type /no if you do not want to answer.",
  ]);
});

it("/no declines", () => {
  expect(dialog().submit("/no")).toEqual({ type: "no" });
});
