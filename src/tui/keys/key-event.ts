/** What a person does at the keyboard, or what the terminal answers. */
export type KeyEvent =
  /** Letters, as typed. */
  | { readonly type: "text"; readonly text: string }
  /** A key that is no letter, or a letter with others held: `enter`, `shift+tab`, `ctrl+a`, `alt+left`. Order: ctrl, alt, shift. */
  | { readonly type: "key"; readonly chord: string }
  /** A whole paste. Its line ends are line feeds. */
  | { readonly type: "paste"; readonly text: string }
  | { readonly type: "focus"; readonly isFocused: boolean }
  | { readonly type: "reply"; readonly reply: TerminalReply };

/** What terminals answer to our questions. */
export type TerminalReply =
  /** The colour of the ground behind the text. */
  | { readonly type: "ground"; readonly rgb: number }
  /** What the terminal is; 4 among its attributes means sixel pictures. Every terminal sends this. */
  | { readonly type: "attributes"; readonly attributes: readonly number[] }
  /** Whether the terminal takes pictures in kitty's way. */
  | { readonly type: "pictures"; readonly isKitty: boolean }
  /** How large a letter is, in pixels. */
  | { readonly type: "letter"; readonly width: number; readonly height: number }
  | { readonly type: "other" };

/** The name of a key with what was held: bits as terminals count them, 1 shift, 2 alt, 4 ctrl. */
export const chordOf = (name: string, held: number): string =>
  `${held & 4 ? "ctrl+" : ""}${held & 2 ? "alt+" : ""}${held & 1 ? "shift+" : ""}${name}`;
