import type { TextPosition } from "./file/node.ts";

/** What can be wrong with settings. Code reads `kind`; people read the sentences. */
export type SettingsFault =
  /** The file is not JSON, not even with comments. */
  | { readonly kind: "unreadable"; readonly file: string; readonly position: TextPosition; readonly why: string }
  /** The file cannot be opened or written. */
  | { readonly kind: "no-access"; readonly file: string; readonly why: string }
  | { readonly kind: "invalid"; readonly file: string; readonly problems: readonly SettingsProblem[] }
  /** A value that was asked for, on the command line or by a program. */
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "unknown"; readonly message: string };

/** A value that does not fit, and where it stands. */
type SettingsProblem = { readonly position: TextPosition; readonly message: string };

/** Settings that cannot be used. Nothing was changed. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly fault: SettingsFault;

  constructor(fault: SettingsFault, cause?: unknown) {
    super(explainFault(fault), { cause });
    this.fault = fault;
  }
}

const explainFault = (fault: SettingsFault): string => {
  switch (fault.kind) {
    case "unreadable":
      return `${fault.file} cannot be read: ${formatPosition(fault.position)}, ${fault.why}. Mend it there; it was left as it is.`;
    case "no-access":
      return `${fault.file} cannot be used: ${fault.why}.`;
    case "invalid":
      return [
        `${fault.file} cannot be used:`,
        ...fault.problems.map(({ position: place, message }) => `  ${formatPosition(place)}: ${message}`),
        "Change it there, or with parley config set and unset.",
      ].join("\n");
    case "refused":
      return fault.message;
    case "unknown":
      return `${fault.message} See parley config list.`;
  }
};

const formatPosition = ({ line, column }: TextPosition): string => `line ${line}, column ${column}`;
