import type { UserQuestion } from "../../tools/capabilities.ts";
import type { KeyEvent } from "../keys/key-event.ts";
import { lineWidth, sanitizeLine, span, takeColumns } from "../text/line.ts";
import type { StyledLine, Style } from "../text/style.ts";
import { graphemesOf } from "../text/width.ts";
import { wrap } from "../text/wrap.ts";
import { frame, frameRoom } from "./approval.ts";

/** A question of the model, one of several asked together. */
export type NumberedQuestion = { readonly question: UserQuestion; readonly number: number; readonly count: number };

/** A question on the screen. The last row, after the options, takes any text. */
export type UserQuestionBox = NumberedQuestion & {
  readonly focus: number;
  /** The chosen options, by index, where several can be chosen. */
  readonly selected: readonly number[];
  readonly text: string;
  /** Why the answer cannot be used; empty if it can. */
  readonly problem: string;
};

/** Creates a box with the first option focused. */
export const createUserQuestionBox = (asked: NumberedQuestion): UserQuestionBox => ({
  ...asked,
  focus: 0,
  selected: [],
  text: "",
  problem: "",
});

/** The result of a key. */
export type UserQuestionKeyResult =
  | { readonly type: "open"; readonly box: UserQuestionBox }
  | { readonly type: "answered"; readonly answer: readonly string[] }
  | { readonly type: "cancelled" };

/** Handles a key. A digit chooses an option; other text is an answer of the user's own. */
export const pressUserQuestion = (box: UserQuestionBox, event: KeyEvent): UserQuestionKeyResult => {
  const { question, focus, text } = box;
  const { length } = question.options;
  const open = (change: Partial<UserQuestionBox>): UserQuestionKeyResult => ({
    type: "open",
    box: { ...box, problem: "", ...change },
  });
  if (event.type === "text" && focus < length) return pressOnOption(box, event.text);
  if (event.type === "text" || event.type === "paste")
    return open({ focus: length, text: text + event.text.replaceAll("\n", " ") });
  if (event.type !== "key") return { type: "open", box };
  switch (event.chord) {
    case "up":
    case "shift+tab":
      return open({ focus: (focus + length) % (length + 1) });
    case "down":
    case "tab":
      return open({ focus: (focus + 1) % (length + 1) });
    case "backspace":
      return focus === length ? open({ text: graphemesOf(text).slice(0, -1).join("") }) : open({});
    case "ctrl+u":
      return focus === length ? open({ text: "" }) : open({});
    case "enter":
      return answer(box);
    case "escape":
      return { type: "cancelled" };
  }
  return { type: "open", box };
};

const pressOnOption = (box: UserQuestionBox, typed: string): UserQuestionKeyResult => {
  const { question, focus } = box;
  const { options, allowsSeveral } = question;
  if (typed === " ") return { type: "open", box: allowsSeveral ? toggle(box, focus) : box };
  const at = /^[1-9]$/.test(typed) ? Number(typed) - 1 : -1;
  if (options[at] === undefined)
    return { type: "open", box: { ...box, focus: options.length, text: box.text + typed, problem: "" } };
  return allowsSeveral
    ? { type: "open", box: toggle({ ...box, focus: at }, at) }
    : answer({ ...box, focus: at, text: "" });
};

const toggle = (box: UserQuestionBox, at: number): UserQuestionBox => ({
  ...box,
  problem: "",
  selected: box.selected.includes(at) ? box.selected.filter((each) => each !== at) : [...box.selected, at],
});

const answer = (box: UserQuestionBox): UserQuestionKeyResult => {
  const { question, focus, selected, text } = box;
  const { options, allowsSeveral } = question;
  const typed = text.trim() === "" ? [] : [text.trim()];
  const focused = options[focus]?.label;
  const chosen = allowsSeveral
    ? [...options.flatMap(({ label }, at) => (selected.includes(at) ? [label] : [])), ...typed]
    : focused === undefined
      ? typed
      : [focused];
  if (chosen.length > 0) return { type: "answered", answer: chosen };
  const problem = allowsSeveral ? "Choose with Space, or type an answer." : "Type an answer.";
  return { type: "open", box: { ...box, problem } };
};

/** Shows the question with its options in a frame, and the cursor in the row for text. */
export const viewUserQuestion = (
  { question, number, count, focus, selected, text, problem }: UserQuestionBox,
  width: number,
): {
  readonly lines: readonly StyledLine[];
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
} => {
  const { header = "The model asks", options, textHint = "Type another answer", allowsSeveral } = question;
  const inner = frameRoom(width);
  const mark = (at: number): string => (allowsSeveral ? (selected.includes(at) ? "[x] " : "[ ] ") : "");
  const above = [
    ...wrap([span(question.question, { bold: true })], { width: inner }),
    [],
    ...options.flatMap(({ label, description }, at) =>
      viewOption(`${at + 1} ${mark(at)}${label}`, description, { width: inner, isFocused: focus === at }),
    ),
  ];
  const isTyping = focus === options.length;
  const typed = wrap([span(text === "" && !isTyping ? textHint : text, text === "" ? { tone: "muted" } : {})], {
    width: inner,
    breakAt: "characters",
    first: [span(isTyping ? "› " : "  ", focusStyle(isTyping))],
    rest: [span("  ")],
  });
  const help = `${allowsSeveral ? "Space: choose · " : ""}Enter: answer · Esc: don't answer`;
  const below = [
    ...(problem === "" ? [] : wrap([span(`! ${problem}`, { tone: "warning" })], { width: inner })),
    ...wrap([span(help, { tone: "muted" })], { width: inner }),
  ];
  const place = count === 1 ? "" : ` ${number} of ${count}`;
  const title = takeColumns(sanitizeLine(header), inner - place.length - 2);
  return {
    lines: frame([...above, ...typed, ...below], { width, tone: "accent", title: `${title}${place}`, footer: "" }),
    cursor: isTyping
      ? { row: above.length + typed.length, column: Math.min(width - 3, 2 + lineWidth(typed.at(-1) ?? [])) }
      : undefined,
  };
};

const viewOption = (
  label: string,
  description: string | undefined,
  { width, isFocused }: { readonly width: number; readonly isFocused: boolean },
): readonly StyledLine[] => {
  const style = focusStyle(isFocused);
  return wrap(
    [
      span(isFocused ? "› " : "  ", style),
      span(label, style),
      span(description === undefined ? "" : `  ${description}`, { tone: "muted" }),
    ],
    { width, rest: [span("    ")] },
  );
};

const focusStyle = (isFocused: boolean): Style => (isFocused ? { background: "focus", bold: true } : {});
