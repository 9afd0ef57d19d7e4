import type { EditAction } from "./action.ts";
import { type FuzzyMatch, putUsableFirst, rankMatches } from "./fuzzy.ts";
import type { Editor } from "./state.ts";

/** A completion at the cursor: a command after `/` at the start, an argument after a command, or a mention after `@`. */
export type CompletionQuery = CompletionRange &
  (
    | { readonly kind: "command" | "mention" }
    /** The words before it; the first is the command. */
    | { readonly kind: "argument"; readonly words: readonly string[] }
  );

type CompletionRange = {
  readonly query: string;
  /** The range a choice replaces, including its sign. */
  readonly start: number;
  readonly end: number;
};

/** A completion choice. */
export type CompletionChoice = {
  readonly label: string;
  readonly detail?: string;
  readonly insert: string;
  /** The typed text may be meant as it is, so the choice is taken only if the user moved to it. */
  readonly isOptional?: boolean;
  /** It cannot be used yet, so usable choices come first. */
  readonly isUnusable?: boolean;
};

/** The completion menu: choices, best first, and the focus. */
export type CompletionMenu = {
  readonly query: CompletionQuery;
  readonly choices: readonly FuzzyMatch<CompletionChoice>[];
  readonly focus: number;
  /** Whether the user moved the focus. */
  readonly isMoved: boolean;
};

/** Finds what can be completed at the cursor, if anything. */
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

/** Creates a menu of the choices that match the typed text. */
export const createMenu = (
  completing: CompletionQuery,
  choices: readonly CompletionChoice[],
): CompletionMenu | undefined => {
  const textOf = ({ label }: CompletionChoice): string => label;
  const ranked = putUsableFirst(completing.query, rankMatches(completing.query, choices, textOf), {
    textOf,
    isUsable: ({ isUnusable = false }) => !isUnusable,
  });
  return ranked.length === 0
    ? undefined
    : { query: completing, choices: ranked.slice(0, 50), focus: 0, isMoved: false };
};

/** Moves the focus, wrapping around at the ends. */
export const moveFocus = (menu: CompletionMenu, by: number): CompletionMenu => ({
  ...menu,
  focus: (menu.focus + by + menu.choices.length) % menu.choices.length,
  isMoved: true,
});

/** Whether Enter takes the focused choice rather than the typed text. */
export const acceptsOnEnter = ({ query: { kind, query }, choices, focus, isMoved }: CompletionMenu): boolean =>
  kind !== "argument" || isMoved || (query !== "" && choices[focus]?.item.isOptional !== true);

/** The edit that inserts the choice: a space follows, unless the choice is a folder. */
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
