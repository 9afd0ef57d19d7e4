import type { Action } from "./action.ts";
import { type Match, rank } from "./fuzzy.ts";
import type { Editor } from "./state.ts";

/** What can be completed at the cursor: a command after `/` at the beginning, or something named after `@`. */
export type Completing = {
  readonly kind: "command" | "mention";
  readonly query: string;
  /** The part of the text that a choice takes the place of, with its sign. */
  readonly start: number;
  readonly end: number;
};

/** Something to choose. */
export type Choice = { readonly label: string; readonly detail?: string; readonly insert: string };

/** What can be chosen now, best first, and which has the focus. */
export type Menu = {
  readonly completing: Completing;
  readonly choices: readonly Match<Choice>[];
  readonly focus: number;
};

/** Who knows the choices: files and resources, or commands. */
export type ChoiceSource = (completing: Completing) => readonly Choice[] | Promise<readonly Choice[]>;

/** What can be completed where the cursor stands, if anything can. */
export const completingAt = ({ text, cursor, search }: Editor): Completing | undefined => {
  if (search !== undefined) return undefined;
  const before = text.slice(0, cursor);
  const command = /^\/([\w:-]*)$/.exec(before);
  if (command !== null) return { kind: "command", query: command[1] ?? "", start: 0, end: cursor };
  const mention = /(?:^|[\s([{"'])@([^\s@]*)$/.exec(before);
  if (mention === null) return undefined;
  const query = mention[1] ?? "";
  return { kind: "mention", query, start: cursor - query.length - 1, end: cursor };
};

/** The choices that fit what is written so far. */
export const menuFor = (completing: Completing, choices: readonly Choice[]): Menu | undefined => {
  const ranked = rank(completing.query, choices, ({ label }) => label);
  return ranked.length === 0 ? undefined : { completing, choices: ranked.slice(0, 50), focus: 0 };
};

/** The menu with the focus moved; from the last choice to the first and back. */
export const moveFocus = (menu: Menu, by: number): Menu => ({
  ...menu,
  focus: (menu.focus + by + menu.choices.length) % menu.choices.length,
});

/** What choosing does to the text: a space follows, unless the choice is a folder to go into. */
export const chosen = ({ completing: { start, end, kind }, choices, focus }: Menu): Action | undefined => {
  const choice = choices[focus]?.item;
  if (choice === undefined) return undefined;
  const sign = kind === "command" ? "/" : "@";
  const text = `${sign}${choice.insert}${choice.insert.endsWith("/") ? "" : " "}`;
  return { type: "complete", start, end, text };
};
