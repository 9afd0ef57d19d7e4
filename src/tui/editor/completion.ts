import type { EditAction } from "./action.ts";
import { type FuzzyMatch, rankMatches } from "./fuzzy.ts";
import type { Editor } from "./state.ts";

/** What can be completed at the cursor: a command after `/` at the beginning, a word after a command, or something named after `@`. */
export type CompletionQuery = CompletionRange &
  (
    | { readonly kind: "command" | "mention" }
    /** With the words before it; the first is the command. */
    | { readonly kind: "argument"; readonly words: readonly string[] }
  );

type CompletionRange = {
  readonly query: string;
  /** The part of the text that a choice takes the place of, with its sign. */
  readonly start: number;
  readonly end: number;
};

/** Something to choose. */
export type CompletionChoice = {
  readonly label: string;
  readonly detail?: string;
  readonly insert: string;
  /** What is written may be meant as it stands, so only who goes to this choice takes it. */
  readonly isOptional?: boolean;
};

/** What can be chosen now, best first, and which has the focus. */
export type CompletionMenu = {
  readonly query: CompletionQuery;
  readonly choices: readonly FuzzyMatch<CompletionChoice>[];
  readonly focus: number;
  /** Whether the person went to the choice in focus. */
  readonly isMoved: boolean;
};

/** What can be completed where the cursor stands, if anything can. */
export const findCompletion = ({ text, cursor, search }: Editor): CompletionQuery | undefined => {
  if (search !== undefined) return undefined;
  const before = text.slice(0, cursor);
  const command = /^\/([\w:-]*)$/.exec(before);
  if (command !== null) return { kind: "command", query: command[1] ?? "", start: 0, end: cursor };
  const mention = /(?:^|[\s([{"'])@([^\s@]*)$/.exec(before);
  if (mention !== null) {
    const query = mention[1] ?? "";
    return { kind: "mention", query, start: cursor - query.length - 1, end: cursor };
  }
  const [, words, query] = /^\/(\S[^\n]*[ \t])(\S*)$/.exec(before) ?? [];
  if (words === undefined || query === undefined) return undefined;
  return { kind: "argument", words: words.trim().split(/\s+/), query, start: cursor - query.length, end: cursor };
};

/** The choices that fit what is written so far. */
export const createMenu = (
  completing: CompletionQuery,
  choices: readonly CompletionChoice[],
): CompletionMenu | undefined => {
  const ranked = rankMatches(completing.query, choices, ({ label }) => label);
  return ranked.length === 0
    ? undefined
    : { query: completing, choices: ranked.slice(0, 50), focus: 0, isMoved: false };
};

/** The menu with the focus moved; from the last choice to the first and back. */
export const moveFocus = (menu: CompletionMenu, by: number): CompletionMenu => ({
  ...menu,
  focus: (menu.focus + by + menu.choices.length) % menu.choices.length,
  isMoved: true,
});

/** Whether Enter takes the choice in focus, or what is written as it stands. */
export const acceptsOnEnter = ({ query: { kind, query }, choices, focus, isMoved }: CompletionMenu): boolean =>
  kind !== "argument" || isMoved || (query !== "" && choices[focus]?.item.isOptional !== true);

/** What choosing does to the text: a space follows, unless the choice is a folder to go into. */
export const completeAction = ({
  query: { start, end, kind },
  choices,
  focus,
}: CompletionMenu): EditAction | undefined => {
  const choice = choices[focus]?.item;
  if (choice === undefined) return undefined;
  const sign = { command: "/", mention: "@", argument: "" }[kind];
  const text = `${sign}${choice.insert}${choice.insert.endsWith("/") ? "" : " "}`;
  return { type: "complete", start, end, text };
};
