/** A key, paste or focus event, or a reply of the terminal. */
export type KeyEvent =
  /** Typed text. */
  | { readonly type: "text"; readonly text: string }
  /** A key that is not text, or a letter with modifiers: `enter`, `shift+tab`, `ctrl+a`, `alt+left`. Order: ctrl, alt, shift. */
  | { readonly type: "key"; readonly chord: string }
  /** A complete paste with line feeds as line ends. */
  | { readonly type: "paste"; readonly text: string }
  | { readonly type: "focus"; readonly isFocused: boolean }
  | { readonly type: "reply"; readonly reply: TerminalReply };

/** Replies of terminals to our queries. */
export type TerminalReply =
  /** The background colour. */
  | { readonly type: "background"; readonly rgb: number }
  /** Device attributes; 4 means sixel support. Every terminal replies to this query. */
  | { readonly type: "attributes"; readonly attributes: readonly number[] }
  /** Whether the terminal supports the kitty image protocol. */
  | { readonly type: "kitty-images"; readonly isSupported: boolean }
  /** The cell size in pixels. */
  | { readonly type: "cell-size"; readonly width: number; readonly height: number }
  | { readonly type: "other" };

/** The name of a key with its modifiers, as terminals encode them: 1 shift, 2 alt, 4 ctrl. */
export const chordOf = (name: string, held: number): string =>
  `${held & 4 ? "ctrl+" : ""}${held & 2 ? "alt+" : ""}${held & 1 ? "shift+" : ""}${name}`;
