import type { TextPosition } from "./file/node.ts";

/** Why settings cannot be used. Code reads `kind`; people read the message. */
export type SettingsFault =
  /** A syntax error. */
  | { readonly kind: "unreadable"; readonly file: string; readonly position: TextPosition; readonly why: string }
  /** The file cannot be opened or written. */
  | { readonly kind: "no-access"; readonly file: string; readonly why: string }
  | { readonly kind: "invalid"; readonly file: string; readonly problems: readonly SettingsProblem[] }
  /** An invalid value, from the command line or a program. */
  | { readonly kind: "refused"; readonly message: string; readonly flag?: string }
  | { readonly kind: "unknown"; readonly message: string };

/** An invalid value and its position. */
export type SettingsProblem = { readonly position: TextPosition; readonly message: string };

/** Settings that cannot be used. No file was changed. */
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
      return `Cannot read ${fault.file}: ${formatPosition(fault.position)}: ${fault.why} Correct it there; the file was not changed.`;
    case "no-access":
      return `Cannot use ${fault.file}: ${fault.why}.`;
    case "invalid":
      return [
        `Invalid settings in ${fault.file}:`,
        ...fault.problems.map(({ position: place, message }) => `  ${formatPosition(place)}: ${message}`),
        "Correct the file, or use parley config set and unset.",
      ].join("\n");
    case "refused":
      return fault.message;
    case "unknown":
      return `${fault.message} "parley config list" shows all settings.`;
  }
};

const formatPosition = ({ line, column }: TextPosition): string => `line ${line}, column ${column}`;
