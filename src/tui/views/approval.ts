import { displayCommand } from "../../policy/terminal/sanitize.ts";
import type { KeyEvent } from "../keys/key-event.ts";
import type { ColourLines } from "../markdown/code-colours.ts";
import { line, lineWidth, padLine, toLines, span } from "../text/line.ts";
import type { StyledLine, Style, Tone } from "../text/style.ts";
import { textWidth, graphemesOf } from "../text/width.ts";
import { wrap } from "../text/wrap.ts";
import { viewDiff } from "./diff.ts";

/** A question for the user's approval. */
export type ApprovalPrompt = {
  /** The title: the action and, for a subagent or server, who asks. */
  readonly title: string;
  readonly subject:
    /** `folder` is empty for the workspace itself. */
    | { readonly type: "command"; readonly command: string; readonly folder: string }
    /** `target` is the resolved path; the title names the file where the two are equal. */
    | { readonly type: "diff"; readonly path: string; readonly target: string; readonly patch: string }
    /** The host of the URL is highlighted. */
    | { readonly type: "url"; readonly text: string; readonly url: string }
    | { readonly type: "text"; readonly text: string };
  /** The effects of a command, in one line. */
  readonly effects?: string;
  /** Why approval is needed. */
  readonly reasons: readonly string[];
  /** The permission rule that would end this question. */
  readonly rule?: string;
  /** Whether "yes" has the focus: an ordinary edit or command. */
  readonly isRoutine?: boolean;
  /** The answers besides no, in order. */
  readonly choices: readonly ApprovalChoice[];
  /** The label of "no" where it takes no reason. */
  readonly noLabel?: string;
  /** The number of questions waiting behind this one. */
  readonly waiting: number;
};

/** An answer: its key and label. */
export type ApprovalChoice = { readonly id: string; readonly key: string; readonly label: string };

/** An approval on the screen: its focus, and the reason being typed. */
export type ApprovalBox = {
  readonly approval: ApprovalPrompt;
  readonly focus: number;
  readonly reason: string;
  readonly isTyping: boolean;
};

/** Creates a box. "No", the last answer, has the focus, so that Enter alone allows nothing but an ordinary edit or command. */
export const createApprovalBox = (approval: ApprovalPrompt): ApprovalBox => ({
  approval,
  focus: approval.isRoutine === true ? 0 : approval.choices.length,
  reason: "",
  isTyping: false,
});

/** The result of a key in an approval box. */
export type ApprovalKeyResult =
  | { readonly type: "open"; readonly box: ApprovalBox }
  | { readonly type: "refused"; readonly reason: string }
  | { readonly type: "chosen"; readonly id: string }
  | { readonly type: "cancelled" };

/** Handles a key. Pasted text never answers. */
export const pressApproval = (box: ApprovalBox, event: KeyEvent): ApprovalKeyResult => {
  const { approval, focus, reason, isTyping } = box;
  const open = (change: Partial<ApprovalBox>): ApprovalKeyResult => ({ type: "open", box: { ...box, ...change } });
  if (event.type === "paste") return isTyping ? open({ reason: reason + event.text }) : open({});
  if (event.type === "text") return isTyping ? open({ reason: reason + event.text }) : chooseByKey(box, event.text);
  if (event.type !== "key") return open({});
  const count = approval.choices.length + 1;
  switch (event.chord) {
    case "up":
    case "shift+tab":
      return open({ focus: (focus + count - 1) % count, isTyping: false });
    case "down":
      return open({ focus: (focus + 1) % count, isTyping: false });
    case "tab":
      return approval.noLabel === undefined
        ? open({ focus: approval.choices.length, isTyping: !isTyping })
        : open({ focus: (focus + 1) % count });
    case "backspace":
      return open({ reason: graphemesOf(reason).slice(0, -1).join("") });
    case "ctrl+u":
      return open({ reason: "" });
    case "escape":
      return isTyping ? open({ isTyping: false }) : { type: "cancelled" };
    case "ctrl+c":
      return { type: "cancelled" };
    case "enter": {
      const choice = approval.choices[focus];
      return choice === undefined ? { type: "refused", reason: reason.trim() } : { type: "chosen", id: choice.id };
    }
  }
  return open({});
};

const chooseByKey = (box: ApprovalBox, key: string): ApprovalKeyResult => {
  if (key === "n" && box.approval.noLabel !== undefined) return { type: "refused", reason: "" };
  if (key === "n") return { type: "open", box: { ...box, focus: box.approval.choices.length, isTyping: true } };
  const choice = box.approval.choices.find((each) => each.key === key);
  return choice === undefined ? { type: "open", box } : { type: "chosen", id: choice.id };
};

/** Shows the whole question in a frame, nothing of it hidden, and the cursor while a reason is typed. */
export const viewApproval = (
  { approval, focus, reason, isTyping }: ApprovalBox,
  width: number,
  coloursOf?: ColoursOf,
): {
  readonly lines: readonly StyledLine[];
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
} => {
  const { title, reasons, choices, waiting, rule, effects = "", isRoutine = false } = approval;
  const inner = frameRoom(width);
  const tone: Tone = isRoutine ? "accent" : "warning";
  const quiet = [...(isRoutine ? reasons : []), ...(rule === undefined ? [] : [`Rule that allows it: ${rule}`])].join(
    " ",
  );
  const above: readonly StyledLine[] = [
    ...viewSubject(approval.subject, inner, coloursOf),
    ...(effects === "" ? [] : wrap([span(`Effects: ${effects}`, { tone: "muted" })], { width: inner })),
    ...(isRoutine ? [] : reasons).flatMap((each) => wrap([span(`! ${each}`, { tone: "warning" })], { width: inner })),
    ...(quiet === "" ? [] : wrap([span(quiet, { tone: "muted" })], { width: inner })),
  ];
  const yes = choices.flatMap(({ key, label: text }, at) =>
    wrap(label(key, text, focus === at), { width: inner, rest: labelIndent }),
  );
  const no = wrap(
    [
      ...label("n", approval.noLabel ?? "No", focus === choices.length),
      span(approval.noLabel === undefined ? reasonText(reason, isTyping) : "", { tone: "muted" }),
    ],
    { width: inner, rest: labelIndent },
  );
  const isHinted = isTyping && reason === "";
  const hint: StyledLine = isHinted ? [span(` ${reasonHint}`, { tone: "muted" })] : [];
  const head = titleLines(title, inner);
  const lines = [...head.inside, ...above, ...yes, ...no.slice(0, -1), [...(no.at(-1) ?? []), ...hint]];
  return {
    lines: frame(lines, { width, tone, title: head.inBorder, footer: waiting === 0 ? "" : `${waiting} more waiting` }),
    cursor: isTyping
      ? { row: lines.length, column: Math.min(width - 3, (isHinted ? 3 : 2) + lineWidth(no.at(-1) ?? [])) }
      : undefined,
  };
};

/** The columns inside a frame. */
export const frameRoom = (width: number): number => Math.max(8, width - 4);

/** A title stands in the border where it fits, else in lines of its own. */
const titleLines = (
  title: string,
  room: number,
): { readonly inBorder: string; readonly inside: readonly StyledLine[] } =>
  textWidth(title) <= room - 2
    ? { inBorder: title, inside: [] }
    : { inBorder: "", inside: wrap([span(title, { bold: true })], { width: room }) };

/** Draws a frame around lines, with a title in its upper border. */
export const frame = (
  lines: readonly StyledLine[],
  {
    width,
    tone,
    title,
    footer,
  }: { readonly width: number; readonly tone: Tone; readonly title: string; readonly footer: string },
): readonly StyledLine[] => {
  const edge = (left: string, text: string, right: string): StyledLine => {
    const shown = text === "" ? "" : ` ${text} `;
    const rest = Math.max(0, width - 3 - textWidth(shown));
    return [
      span(`${left}─`, { tone }),
      span(shown, text === title ? { bold: true, tone } : { tone }),
      span(`${"─".repeat(rest)}${right}`, { tone }),
    ];
  };
  const room = frameRoom(width);
  return [
    edge("╭", title, "╮"),
    ...lines.map((each): StyledLine => [span("│ ", { tone }), ...padLine(each, room), span(" │", { tone })]),
    edge("╰", footer, "╯"),
  ];
};

const reasonText = (reason: string, isTyping: boolean): string =>
  reason === "" ? (isTyping ? ": " : "  (Tab to add a reason)") : `: ${reason}`;

/** Stands where a reason can be typed. It fits behind "No" in the narrowest frame. */
const reasonHint = "type a reason, or Enter";

/** Indents the wrapped lines of a choice below its label. */
const labelIndent: StyledLine = [{ text: "    ", style: {} }];

const label = (key: string, text: string, isFocused: boolean): StyledLine => {
  const style: Style = isFocused ? { background: "focus", bold: true } : {};
  return [span(isFocused ? "› " : "  ", style), span(`${key} `, { ...style, tone: "accent" }), span(text, style)];
};

/** The colours of a file's code; undefined where diffs are green and red only. */
export type ColoursOf = (path: string) => ColourLines | undefined;

/** Shows the subject of a question in full. */
export const viewSubject = (
  subject: ApprovalPrompt["subject"],
  width: number,
  coloursOf?: ColoursOf,
): readonly StyledLine[] => {
  switch (subject.type) {
    case "command":
      return [
        ...toLines(displayCommand(subject.command)).flatMap((each) =>
          wrap(each, { width, breakAt: "arguments", first: [span("$ ", { tone: "accent" })], rest: [span("  ")] }),
        ),
        ...(subject.folder === ""
          ? []
          : wrap([span(`in ${displayCommand(subject.folder)}`, { tone: "muted" })], { width, breakAt: "characters" })),
      ];
    case "diff":
      return [
        ...(subject.target === subject.path
          ? []
          : [line(`${displayCommand(subject.path)} resolves to ${displayCommand(subject.target)}`, { tone: "warning" })]
        ).flatMap((each) => wrap(each, { width })),
        ...viewDiff(subject.patch, {
          width,
          isNameless: subject.target === subject.path,
          colours: coloursOf?.(subject.path),
        }),
      ];
    case "url":
      return [
        ...viewSubject({ type: "text", text: subject.text }, width),
        ...wrap(highlightHost(subject.url), { width, breakAt: "characters" }),
      ];
    case "text":
      return subject.text === "" ? [] : toLines(displayCommand(subject.text)).flatMap((each) => wrap(each, { width }));
  }
};

/** Shows a URL with its host in bold. */
const highlightHost = (address: string): StyledLine => {
  const { protocol, username, password, host } = new URL(address);
  const user = username === "" && password === "" ? "" : `${username}${password === "" ? "" : `:${password}`}@`;
  const at = `${protocol}//${user}`.length;
  return [
    span(address.slice(0, at), { tone: "muted" }),
    span(host, { bold: true, tone: "warning" }),
    span(address.slice(at + host.length), { tone: "muted" }),
  ];
};
