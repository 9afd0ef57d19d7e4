import { describe, expect, it } from "vitest";
import type { UserQuestion } from "../../tools/capabilities.ts";
import type { KeyEvent } from "../keys/key-event.ts";
import { lineText } from "../text/line.ts";
import { createUserQuestionBox, pressUserQuestion, viewUserQuestion, type UserQuestionBox } from "./user-question.ts";
import { viewTodoList } from "./todo-list.ts";

const one: UserQuestion = {
  question: "Which database?",
  header: "Database",
  options: [{ label: "SQLite", description: "One file" }, { label: "PostgreSQL" }],
  allowsSeveral: false,
};
const several: UserQuestion = { ...one, allowsSeveral: true };
const free: UserQuestion = { question: "What name?", options: [], allowsSeveral: false };

/** Presses keys by name; other words are typed. */
const press = (
  question: UserQuestion,
  ...keys: readonly string[]
): UserQuestionBox | readonly string[] | "cancelled" => {
  let box = createUserQuestionBox({ question, number: 1, count: 2 });
  for (const name of keys) {
    const isKey = /^(?:enter|up|down|tab|escape|backspace|ctrl\+u)$/.test(name);
    const event: KeyEvent = isKey ? { type: "key", chord: name } : { type: "text", text: name };
    const pressed = pressUserQuestion(box, event);
    if (pressed.type === "answered") return pressed.answer;
    if (pressed.type === "cancelled") return "cancelled";
    box = pressed.box;
  }
  return box;
};

describe("a question of the model", () => {
  it.each<[string, UserQuestion, readonly string[], readonly string[] | "cancelled"]>([
    ["Enter answers with the focused option", one, ["enter"], ["SQLite"]],
    ["moving and Enter", one, ["down", "enter"], ["PostgreSQL"]],
    ["a digit answers", one, ["2"], ["PostgreSQL"]],
    ["other text is an answer of its own", one, ["M", "ySQL", "enter"], ["MySQL"]],
    ["digits in such a text are text", one, ["v", "2", "enter"], ["v2"]],
    ["moving back to an option drops the text", one, ["x", "up", "enter"], ["PostgreSQL"]],
    ["Space and digits choose several", several, [" ", "2", "enter"], ["SQLite", "PostgreSQL"]],
    ["a choice can be taken back", several, [" ", "2", "1", "enter"], ["PostgreSQL"]],
    ["several and a text", several, ["2", "down", "and", " ", "more", "enter"], ["PostgreSQL", "and more"]],
    ["free text", free, ["P", "x", "backspace", "arley", "enter"], ["Parley"]],
    ["Esc does not answer", one, ["x", "escape"], "cancelled"],
  ])("%s", (_, question, keys, answer) => {
    expect(press(question, ...keys)).toEqual(answer);
  });

  it.each<[UserQuestion, readonly string[], string]>([
    [several, ["enter"], "Choose with Space, or type an answer."],
    [free, [" ", "enter"], "Type an answer."],
    [one, ["up", "enter"], "Type an answer."],
  ])("an empty answer is not sent", (question, keys, problem) => {
    expect(press(question, ...keys)).toMatchObject({ problem });
  });

  it("shows options, choices and the row for text at any width", () => {
    const box = press(several, "1", "down");
    if (typeof box === "string" || "length" in box) throw new Error("It was answered.");
    expect(viewUserQuestion(box, 60).lines.map((each) => lineText(each))).toEqual([
      `╭─ Database 1 of 2 ${"─".repeat(40)}╮`,
      `│ ${"Which database?".padEnd(56)} │`,
      `│ ${"".padEnd(56)} │`,
      `│ ${"  1 [x] SQLite  One file".padEnd(56)} │`,
      `│ ${"› 2 [ ] PostgreSQL".padEnd(56)} │`,
      `│ ${"  Type another answer".padEnd(56)} │`,
      `│ ${"Space: choose · Enter: answer · Esc: don't answer".padEnd(56)} │`,
      `╰${"─".repeat(58)}╯`,
    ]);
    const narrow = viewUserQuestion(box, 20).lines.map((each) => lineText(each));
    expect(Math.max(...narrow.map((each) => each.length))).toBeLessThanOrEqual(20);
  });

  it("has its cursor after typed text, and contains no control characters of the model", () => {
    const question = { ...free, question: "What\u001b[31m name?" };
    const box = press(question, "ab");
    if (typeof box === "string" || "length" in box) throw new Error("It was answered.");
    const { lines, cursor } = viewUserQuestion(box, 60);
    expect([
      cursor,
      lines
        .map((each) => lineText(each))
        .join("\n")
        .includes("\u001b"),
    ]).toEqual([{ row: 3, column: 6 }, false]);
  });
});

describe("a to-do list", () => {
  const item = (description: string, status: "pending" | "in_progress" | "completed" | "cancelled") => ({
    description,
    status,
  });
  const shown = (todos: readonly ReturnType<typeof item>[], width = 40): readonly string[] =>
    viewTodoList(todos, width).map((each) => lineText(each));

  it("shows the state of each item, and is gone once nothing is left to do", () => {
    const todos = [
      item("Read", "completed"),
      item("Skip", "cancelled"),
      item("Write", "in_progress"),
      item("Test", "pending"),
    ];
    expect(shown(todos)).toEqual(["To do  1 of 4 done", "  ✓ Read", "  ⊘ Skip", "  ◐ Write", "  ○ Test"]);
    expect(shown(todos.slice(0, 2))).toEqual([]);
    expect(shown([item("A very long description of what to do", "pending")], 20)[1]?.length).toBe(20);
  });

  it("shows the part around the next item of a long list", () => {
    const todos = Array.from({ length: 20 }, (_, at) => item(`Step ${at + 1}`, at < 9 ? "completed" : "pending"));
    expect(shown(todos)).toEqual([
      "To do  9 of 20 done, 7 above, 5 below",
      ...[8, 9].map((at) => `  ✓ Step ${at}`),
      ...[10, 11, 12, 13, 14, 15].map((at) => `  ○ Step ${at}`),
    ]);
  });
});
