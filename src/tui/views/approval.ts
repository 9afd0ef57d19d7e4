import { shownCommand } from "../../policy/plain.ts";
import type { KeyEvent } from "../keys/event.ts";
import { line, linesOf, span } from "../text/line.ts";
import type { Line, Style } from "../text/style.ts";
import { columnsOf, graphemesOf } from "../text/width.ts";
import { wrap } from "../text/wrap.ts";
import { viewDiff } from "./diff.ts";

/** What a person is asked to allow. */
export type Approval = {
  /** Who asks: a tool, and for which server or subagent. */
  readonly who: string;
  readonly what:
    | { readonly type: "command"; readonly command: string; readonly folder: string }
    /** `target` is where the path really leads. */
    | { readonly type: "diff"; readonly path: string; readonly target: string; readonly patch: string }
    /** Whose the address is stands out in it. */
    | { readonly type: "address"; readonly text: string; readonly url: string }
    | { readonly type: "text"; readonly text: string };
  /** Why it is asked about. */
  readonly reasons: readonly string[];
  /** What can be answered besides no, in order. */
  readonly choices: readonly ApprovalChoice[];
  /** What "no" says where no reason can be given with it. */
  readonly no?: string;
  /** How many more wait behind this one. */
  readonly waiting: number;
};

/** An answer: the key that picks it, and what it says. */
export type ApprovalChoice = { readonly id: string; readonly key: string; readonly label: string };

/** An approval on the screen: what has the focus, and the reason being typed. */
export type ApprovalBox = {
  readonly approval: Approval;
  readonly focus: number;
  readonly reason: string;
  readonly isTyping: boolean;
};

/** A box with "no" in focus: Enter alone never allows anything. */
export const createApproval = (approval: Approval): ApprovalBox => ({
  approval,
  focus: 0,
  reason: "",
  isTyping: false,
});

/** What became of a box after a key. */
export type Approving =
  | { readonly type: "open"; readonly box: ApprovalBox }
  | { readonly type: "refused"; readonly reason: string }
  | { readonly type: "chosen"; readonly id: string }
  | { readonly type: "cancelled" };

/** The box after a key. Pasted text never answers. */
export const pressApproval = (box: ApprovalBox, event: KeyEvent): Approving => {
  const { approval, focus, reason, isTyping } = box;
  const open = (change: Partial<ApprovalBox>): Approving => ({ type: "open", box: { ...box, ...change } });
  if (event.type === "paste") return isTyping ? open({ reason: reason + event.text }) : open({});
  if (event.type === "text") return isTyping ? open({ reason: reason + event.text }) : byKey(box, event.text);
  if (event.type !== "key") return open({});
  const count = approval.choices.length + 1;
  switch (event.chord) {
    case "up":
    case "shift+tab":
      return open({ focus: (focus + count - 1) % count, isTyping: false });
    case "down":
      return open({ focus: (focus + 1) % count, isTyping: false });
    case "tab":
      return focus === 0 && approval.no === undefined
        ? open({ isTyping: !isTyping })
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
      const choice = approval.choices[focus - 1];
      return choice === undefined ? { type: "refused", reason: reason.trim() } : { type: "chosen", id: choice.id };
    }
  }
  return open({});
};

const byKey = (box: ApprovalBox, key: string): Approving => {
  if (key === "n" && box.approval.no !== undefined) return { type: "refused", reason: "" };
  if (key === "n") return { type: "open", box: { ...box, focus: 0, isTyping: true } };
  const choice = box.approval.choices.find((each) => each.key === key);
  return choice === undefined ? { type: "open", box } : { type: "chosen", id: choice.id };
};

/** The whole question as lines, nothing of it left out or out of sight; and where the reason is being typed. */
export const viewApproval = (
  { approval, focus, reason, isTyping }: ApprovalBox,
  width: number,
): {
  readonly lines: readonly Line[];
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
} => {
  const { who, reasons, choices, waiting } = approval;
  const more = waiting === 0 ? "" : ` (${waiting} more ${waiting === 1 ? "waits" : "wait"})`;
  const above: readonly Line[] = [
    ...wrap([span(`${who} asks`, { bold: true, tone: "warning" }), span(more, { tone: "muted" })], { width }),
    ...viewSubject(approval.what, width),
    ...reasons.flatMap((each) => wrap([span(`! ${each}`, { tone: "warning" })], { width })),
  ];
  const no = wrap(
    [
      ...label("n", approval.no ?? "No", focus === 0),
      span(approval.no === undefined ? reasonWords(reason, isTyping) : "", { tone: "muted" }),
    ],
    { width },
  );
  const typed = no.at(-1) ?? [];
  return {
    lines: [
      ...above,
      ...no,
      ...choices.flatMap(({ key, label: text }, at) => wrap(label(key, text, focus === at + 1), { width })),
    ],
    cursor: isTyping
      ? {
          row: above.length + no.length - 1,
          column: Math.min(width - 1, columnsOf(typed.map(({ text }) => text).join(""))),
        }
      : undefined,
  };
};

const reasonWords = (reason: string, isTyping: boolean): string =>
  reason === "" ? (isTyping ? ": " : "  (Tab to say why)") : `: ${reason}`;

const label = (key: string, text: string, isFocused: boolean): Line => {
  const ground: Style = isFocused ? { ground: "focus", bold: true } : {};
  return [span(isFocused ? "› " : "  ", ground), span(`${key} `, { ...ground, tone: "accent" }), span(text, ground)];
};

/** What is asked about, all of it. */
export const viewSubject = (what: Approval["what"], width: number): readonly Line[] => {
  switch (what.type) {
    case "command":
      return [
        ...linesOf(shownCommand(what.command)).flatMap((each) =>
          wrap(each, { width, at: "letters", first: [span("$ ", { tone: "accent" })], rest: [span("  ")] }),
        ),
        ...wrap([span(`in ${shownCommand(what.folder)}`, { tone: "muted" })], { width, at: "letters" }),
      ];
    case "diff":
      return [
        ...(what.target === what.path
          ? []
          : [line(`${shownCommand(what.path)} leads to ${shownCommand(what.target)}`, { tone: "warning" })]
        ).flatMap((each) => wrap(each, { width })),
        ...viewDiff(what.patch, { width }),
      ];
    case "address":
      return [
        ...viewSubject({ type: "text", text: what.text }, width),
        ...wrap(withHost(what.url), { width, at: "letters" }),
      ];
    case "text":
      return linesOf(shownCommand(what.text)).flatMap((each) => wrap(each, { width }));
  }
};

/** An address as a URL writes itself, with the part in bold that says whose it is. */
const withHost = (address: string): Line => {
  const { protocol, username, password, host } = new URL(address);
  const user = username === "" && password === "" ? "" : `${username}${password === "" ? "" : `:${password}`}@`;
  const at = `${protocol}//${user}`.length;
  return [
    span(address.slice(0, at), { tone: "muted" }),
    span(host, { bold: true, tone: "warning" }),
    span(address.slice(at + host.length), { tone: "muted" }),
  ];
};
