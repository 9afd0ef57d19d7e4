/** The role of a foreground colour. A theme maps it to a colour. */
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

/** The role of a background colour. */
export type Background = "added" | "removed" | "added-strong" | "removed-strong" | "focus" | "user";

/** The style of a text. Unset properties use the terminal's default. */
export type Style = {
  readonly tone?: Tone;
  readonly background?: Background;
  readonly bold?: true;
  readonly dim?: true;
  readonly italic?: true;
  readonly underline?: true;
  readonly strike?: true;
  readonly inverse?: true;
  /** Link target, on terminals with links enabled. */
  readonly link?: string;
};

/** A piece of a line in one style. */
export type StyledSpan = { readonly text: string; readonly style: Style };

/** One line of the screen. */
export type StyledLine = readonly StyledSpan[];

/** The terminal's default style. */
export const unstyled: Style = {};

/** Whether two styles are equal. */
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
