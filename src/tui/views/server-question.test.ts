import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../conversation/json.ts";
import type { KeyEvent } from "../keys/key-event.ts";
import { lineWidth, lineText } from "../text/line.ts";
import {
  createServerQuestionBox,
  fitToScreen,
  pressServerQuestion,
  viewServerQuestion,
  withWaiting,
  type ServerKeyResult,
  type ServerQuestionBox,
} from "./server-question.ts";
import type { ServerRequest } from "./server-question-text.ts";

const key = (chord: string): KeyEvent => ({ type: "key", chord });
const typed = (text: string): KeyEvent => ({ type: "text", text });
const enter = key("enter");
const size = { columns: 40, rows: 12 };

const form = (properties: JsonObject, more: Partial<Extract<ServerRequest, { type: "form" }>> = {}): ServerRequest => ({
  type: "form",
  server: "s",
  message: "Well?",
  schema: { type: "object", properties },
  seemsSecret: false,
  ...more,
});

const boxOf = (asks: ServerRequest, waiting = 0): ServerQuestionBox =>
  createServerQuestionBox(asks, { model: "p/m", waiting });

const press = (asks: ServerRequest | ServerQuestionBox, ...events: readonly KeyEvent[]): ServerKeyResult =>
  events.reduce<ServerKeyResult>(
    (state, event) => (state.type === "open" ? pressServerQuestion(state.box, event) : state),
    {
      type: "open",
      box: "request" in asks ? asks : boxOf(asks),
    },
  );

const rows = (state: ServerKeyResult, at = size): readonly string[] =>
  state.type === "open"
    ? viewServerQuestion(state.box, at)
        .lines.map(lineText)
        .map(unframe)
        .filter((row) => row !== undefined)
    : [JSON.stringify(state)];

/** The text inside a frame, or in its border. */
const unframe = (row: string): string | undefined => {
  const [, title] = /^╭─ (.*?) ─*╮$/.exec(row) ?? [];
  const [, footer] = /^╰─ (.*?) ─*╯$/.exec(row) ?? [];
  if (/^╰─*╯$/.test(row)) return undefined;
  return title ?? (footer === undefined ? row.replace(/^│ (.*?) *│$/, "$1") : `(${footer})`);
};

const answered = (answer: object): object => ({ type: "answered", answer });

describe("a server's form", () => {
  it("shows who asks and how many wait, with no focused", () => {
    expect(rows({ type: "open", box: boxOf(form({ a: { type: "string", description: "The a." } }), 2) })).toEqual([
      "MCP server s asks",
      "Well?",
      "It asks for:",
      "- a: The a.",
      "  y Answer",
      "› n No",
      "(2 more waiting)",
    ]);
  });

  it("is declined by Enter and n, cancelled by Esc, stopped by Ctrl-C, and never answered by a paste", () => {
    const asks = form({ a: { type: "string" } });
    expect([
      press(asks, enter),
      press(asks, typed("n")),
      press(asks, key("escape")),
      press(asks, key("ctrl+c")),
      press(asks, { type: "paste", text: "y" }).type,
      press(asks, typed("y"), key("escape")),
      press(asks, typed("y"), key("ctrl+c")),
    ]).toEqual([
      answered({ type: "no" }),
      answered({ type: "no" }),
      answered({ type: "cancel" }),
      { type: "stopped" },
      "open",
      answered({ type: "cancel" }),
      { type: "stopped" },
    ]);
  });

  it("takes and erases text, reports problems, and advances once the value is valid", () => {
    const asks = form({ a: { type: "string", minLength: 2 }, b: { type: "integer", default: 3 } });
    const wrong = press(asks, typed("y"), typed("x"), { type: "paste", text: "y\nz" }, key("backspace"), enter);
    expect(rows(wrong)).toEqual([
      "MCP server s asks",
      "2 of 2  b",
      "A whole number. Default: 3.",
      "> ",
      "Enter: next · Shift-Tab: back · Esc:",
      "cancel",
    ]);
    const short = press(asks, typed("y"), typed("xyz"), key("ctrl+u"), typed("x"), enter);
    expect(rows(short).slice(1, 5)).toEqual(["1 of 2  a", "A text of at least 2 characters.", "Optional.", "> x"]);
    const pasted = press(asks, typed("y"), { type: "paste", text: "one\ntwo" }, enter, enter, typed("y"));
    expect(pasted).toEqual(answered({ type: "yes", content: { a: "one two", b: 3 } }));
    expect(rows(short)[5]).toBe("! This must have at least 2 characters;");
    const done = [typed("z"), enter, typed("12"), enter] as const;
    expect(rows(press((short as { box: ServerQuestionBox }).box, ...done))).toEqual([
      "MCP server s asks",
      "Your answer:",
      "- a: xz",
      "- b: 12",
      "  y Yes, send it",
      "  e Edit",
      "› n No, don't send",
    ]);
  });

  it("goes back, changes entries, and sends only after a review", () => {
    const asks = form({ a: { type: "string" }, b: { type: "string" } });
    const back = [typed("y"), typed("one"), enter, key("shift+tab"), typed("!"), enter, typed("two"), enter];
    expect([
      press(asks, ...back, enter),
      press(asks, ...back, typed("y")),
      press(asks, ...back, typed("e"), key("backspace"), enter, typed("y")),
    ]).toEqual([
      answered({ type: "no" }),
      answered({ type: "yes", content: { a: "one!", b: "two" } }),
      answered({ type: "yes", content: { a: "one!", b: "tw" } }),
    ]);
  });

  it("offers options for switches and lists, with the default focused", () => {
    const asks = form({
      a: { type: "boolean", default: true },
      b: { type: "string", enum: ["p", "q", "r"], default: "q" },
      c: { type: "array", items: { enum: ["p", "q", "r"] }, default: ["r"], maxItems: 2 },
      d: { type: "boolean" },
    });
    expect(rows(press(asks, typed("y"))).slice(2, 5)).toEqual(["Yes or no.", "  No", "› Yes"]);
    const marked = press(asks, typed("y"), enter, key("up"), enter, typed(" "), key("down"), typed(" "));
    expect(rows(marked).slice(2, 6)).toEqual(["At most 2 of these.", "  [x] p", "› [x] q", "  [x] r"]);
    const { box } = marked as { box: ServerQuestionBox };
    expect(rows(press(box, enter))[6]).toBe("! At most 2 may be chosen.");
    expect([
      press(box, typed(" "), enter, enter, typed("y")),
      press(box, typed(" "), enter, key("end"), enter, typed("y")),
      press(box, typed(" "), enter, key("down"), enter, typed("y")),
    ]).toEqual([
      answered({ type: "yes", content: { a: true, b: "p", c: ["p", "r"] } }),
      answered({ type: "yes", content: { a: true, b: "p", c: ["p", "r"], d: true } }),
      answered({ type: "yes", content: { a: true, b: "p", c: ["p", "r"], d: false } }),
    ]);
  });

  it("scrolls a long list to the focus, within the screen", () => {
    const many = Array.from({ length: 100 }, (_, at) => `value ${at}`);
    const asks = form({ a: { type: "string", enum: many, default: "value 50" } });
    const shown = rows(press(asks, typed("y")));
    expect([shown.length <= size.rows, shown.includes("› value 50")]).toEqual([true, true]);
  });

  it("warns of secret fields, masks them, and warns of values that look like secrets", () => {
    const asks = form({ password: { type: "string" }, note: { type: "string" } }, { seemsSecret: true });
    const key64 = `sk-ant-api03-${"a1B2".repeat(20)}AA`;
    const typing = press(asks, typed("y"), typed("abc"));
    const review = press(asks, typed("y"), typed("abc"), enter, typed(key64), enter);
    expect(rows({ type: "open", box: boxOf(asks) }, { columns: 200, rows: 20 }).slice(-3)).toEqual([
      '! This looks like a request for a password or key. Servers must not ask for secrets in a form: answer "No".',
      "  y Answer anyway",
      "› n No",
    ]);
    expect(rows(typing)[3]).toBe("> •••");
    expect(rows(review).filter((row) => /password|looks like/.test(row))).toEqual([
      "- password: •••",
      "! Your answer to note looks like a",
    ]);
  });

  it("that cannot be filled in can only be declined", () => {
    const asks = form({ a: { type: "object" } });
    expect(rows({ type: "open", box: boxOf(asks) })).toEqual([
      "MCP server s asks",
      "Well?",
      "! Cannot be answered here. The field",
      "a is of a kind that cannot be asked",
      "for.",
      "› n No",
    ]);
    expect(press(asks, typed("y")).type).toBe("open");
  });

  it("sanitizes hostile text", () => {
    const evil = "\u001b]52;c;eA==\u0007\u202e".repeat(9);
    const asks = form(
      { [evil]: { type: "string", title: evil, description: evil, default: evil, enum: [evil], enumNames: [evil] } },
      { server: evil, message: evil },
    );
    const seen = [[], [typed("y")], [typed("y"), enter]].flatMap((events) => {
      const state = press(asks, ...events);
      return state.type === "open" ? viewServerQuestion(state.box, size).lines : [];
    });
    expect(seen.filter((line) => lineWidth(line) > 40)).toEqual([]);
    expect(seen.map(lineText).join("")).not.toMatch(/[\p{Cc}\u202e]/u);
  });
});

describe("a server's URL and its sampling request", () => {
  const url: ServerRequest = { type: "url", server: "s", message: "Go.", url: "http://127.0.0.1:8/x" };
  const words: ServerRequest = {
    type: "sampling",
    server: "s",
    system: "Be kind.",
    messages: [
      { role: "user", content: { type: "text", text: "One\ntwo" } },
      { role: "assistant", content: [{ type: "audio", data: "AAAA", mimeType: "audio/wav" }, { type: "odd" }] },
    ],
    maxTokens: 9,
    raw: {},
  };

  it("are shown in full, with warnings", () => {
    expect([rows({ type: "open", box: boxOf(url) }), rows({ type: "open", box: boxOf(words) })]).toEqual([
      [
        "MCP server s asks",
        "Go.",
        "It asks you to open this URL:",
        "http://127.0.0.1:8/x",
        "! 127.0.0.1 is not a public address",
        "(this machine).",
        "  o Open it in a browser",
        "› n No",
      ],
      [
        "MCP server s asks",
        "It wants p/m to answer this, at your",
        "cost, in at most 9 tokens. The",
        "answer goes to the server, not into",
        "the conversation.",
        "system:",
        "  Be kind.",
        "user:",
        "  One",
        "  two",
        "assistant:",
        "  [audio audio/wav, 3 bytes]",
        "  [odd]",
        "  y Yes",
        "› n No",
      ],
    ]);
  });

  it("are allowed by their key or focus only", () => {
    expect([
      press(url, typed("o")),
      press(url, key("down"), enter),
      press(words, typed("y")),
      press(words, key("tab"), enter),
      press(words, enter),
      press(words, key("escape")),
    ]).toEqual([
      answered({ type: "yes" }),
      answered({ type: "yes" }),
      answered({ type: "yes" }),
      answered({ type: "yes" }),
      answered({ type: "no" }),
      answered({ type: "cancel" }),
    ]);
  });

  it("are printed only if taller than the screen", () => {
    const box = boxOf(words);
    expect(fitToScreen(box, { columns: 40, rows: 16 })).toEqual({ box, printed: [] });
    const fitted = fitToScreen(box, { columns: 40, rows: 15 });
    expect([fitted.printed.map(lineText).slice(0, 3), rows({ type: "open", box: fitted.box })]).toEqual([
      ["MCP server s asks", "It wants p/m to answer this, at your", "cost, in at most 9 tokens. The answer"],
      ["MCP server s asks", "Shown in full above.", "  y Yes", "› n No"],
    ]);
    expect(fitToScreen(fitted.box, { columns: 40, rows: 15 }).printed).toEqual([]);
  });

  it("update the number of waiting questions", () => {
    expect(rows({ type: "open", box: withWaiting(boxOf(url), 1) }).at(-1)).toBe("(1 more waiting)");
  });
});
