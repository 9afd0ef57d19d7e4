/** What a colour is for. A theme says which colour that is. */
export type Tone =
  | "muted"
  | "accent"
  | "heading"
  | "code"
  | "link"
  | "success"
  | "warning"
  | "error"
  | "added"
  | "removed"
  | "keyword"
  | "string"
  | "number"
  | "comment"
  | "function"
  | "type";

/** What the ground behind a text is for. */
export type Background = "added" | "removed" | "added-strong" | "removed-strong" | "focus";

/** How a text looks. Nothing set is the terminal's own look. */
export type Style = {
  readonly tone?: Tone;
  readonly background?: Background;
  readonly bold?: true;
  readonly dim?: true;
  readonly italic?: true;
  readonly underline?: true;
  readonly strike?: true;
  readonly inverse?: true;
  /** Where a click leads, on terminals that are told so. */
  readonly link?: string;
};

/** A piece of a line that looks the same throughout. */
export type StyledSpan = { readonly text: string; readonly style: Style };

/** One line of the screen. */
export type StyledLine = readonly StyledSpan[];

/** The terminal's own look. */
export const unstyled: Style = {};

/** Whether two styles look the same. */
export const sameStyle = (one: Style, other: Style): boolean =>
  one === other ||
  (one.tone === other.tone &&
    one.background === other.background &&
    one.bold === other.bold &&
    one.dim === other.dim &&
    one.italic === other.italic &&
    one.underline === other.underline &&
    one.strike === other.strike &&
    one.inverse === other.inverse &&
    one.link === other.link);
