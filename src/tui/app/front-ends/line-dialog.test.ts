import { describe, expect, it } from "vitest";
import type { ServerAnswer } from "../../views/server-question.ts";
import type { ServerRequest } from "../../views/server-question-text.ts";
import { lineText } from "../../text/line.ts";
import { createLineDialog, type LineDialog } from "./line-dialog.ts";

const form: ServerRequest = {
  type: "form",
  server: "s",
  message: "Well?",
  schema: { type: "object", properties: { a: { type: "string" }, b: { type: "integer", minimum: 1 } } },
  seemsSecret: false,
};

const talk = (asks: ServerRequest, ...typed: readonly string[]): LineDialog | ServerAnswer =>
  typed.reduce<LineDialog | ServerAnswer>(
    (state, line) => ("type" in state ? state : state.submit(line)),
    createLineDialog(asks, { model: "p/m", waiting: 0 }, 1000),
  );

const says = (state: LineDialog | ServerAnswer): unknown => ("type" in state ? state : state.lines.map(lineText));

const offered = "n: No. y: Answer. c: Cancel. Type a letter and Enter.";

describe("a line dialog for a server question", () => {
  it("is printed once; an invalid answer only repeats the choices", () => {
    expect([says(talk(form)), says(talk(form, "perhaps")), says(talk(form, "perhaps", "n"))]).toEqual([
      ["MCP server s asks.", "Well?", "It asks for:", "- a", "- b", offered],
      [offered],
      { type: "no" },
    ]);
  });

  it("can be declined or cancelled at every step", () => {
    expect([
      talk(form, "No"),
      talk(form, "c"),
      talk(form, "y", "/no"),
      talk(form, "y", "x", "/cancel"),
      talk(form, "y", "x", "1", "n"),
      talk(form, "y", "x", "1", "cancel"),
    ]).toEqual([
      { type: "no" },
      { type: "cancel" },
      { type: "no" },
      { type: "cancel" },
      { type: "no" },
      { type: "cancel" },
    ]);
  });

  it("reports problems, goes back, starts over, and sends what was reviewed", () => {
    expect(says(talk(form, "y", "x", "0"))).toEqual(["This must be at least 1."]);
    expect(says(talk(form, "y", "x", "0", "2"))).toEqual([
      "MCP server s asks.",
      "Your answer:",
      "- a: x",
      "- b: 2",
      "n: No, don't send. y: Yes, send it. e: Edit. c: Cancel. Type a letter and Enter.",
    ]);
    expect([
      talk(form, "y", "x", "2", "y"),
      talk(form, "y", "x", "/back", "z", "2", "y"),
      talk(form, "y", "/back", "x", "", "y"),
      talk(form, "y", "x", "2", "e", "", "3", "y"),
    ]).toEqual([
      { type: "yes", content: { a: "x", b: 2 } },
      { type: "yes", content: { a: "z", b: 2 } },
      { type: "yes", content: { a: "x" } },
      { type: "yes", content: { b: 3 } },
    ]);
  });

  it("with a secret field can only be declined, since a terminal keeps what is typed", () => {
    const schema = { type: "object", properties: { password: { type: "string" } } };
    const asks: ServerRequest = { ...form, schema, seemsSecret: true };
    expect([(says(talk(asks)) as readonly string[]).slice(-3), says(talk(asks, "y"))]).toEqual([
      [
        'Warning: This looks like a request for a password or key. Servers must not ask for secrets in a form: answer "No".',
        "Warning: Cannot be answered here: typed text stays on the screen.",
        "n: No. c: Cancel. Type a letter and Enter.",
      ],
      ["n: No. c: Cancel. Type a letter and Enter."],
    ]);
  });

  it("about a URL or a sampling request is a yes or a no", () => {
    const url: ServerRequest = { type: "url", server: "s", message: "Go.", url: "https://a.test/" };
    const words: ServerRequest = { type: "sampling", server: "s", messages: [], maxTokens: 1, raw: {} };
    expect([talk(url, "o"), talk(words, "y"), talk(words, "o", "n")]).toEqual([
      { type: "yes" },
      { type: "yes" },
      { type: "no" },
    ]);
  });
});
