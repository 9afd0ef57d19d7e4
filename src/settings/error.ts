import type { Place } from "./node.ts";

/** What can be wrong with settings. Code reads `kind`; people read the sentences. */
export type Fault =
  /** The file is not JSON, not even with comments. */
  | { readonly kind: "unreadable"; readonly file: string; readonly place: Place; readonly why: string }
  /** The file cannot be opened or written. */
  | { readonly kind: "no-access"; readonly file: string; readonly why: string }
  | { readonly kind: "invalid"; readonly file: string; readonly problems: readonly Problem[] }
  /** A value that was asked for, on the command line or by a program. */
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "unknown"; readonly message: string };

/** A value that does not fit, and where it stands. */
type Problem = { readonly place: Place; readonly message: string };

/** Settings that cannot be used. Nothing was changed. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly fault: Fault;

  constructor(fault: Fault, cause?: unknown) {
    super(explain(fault), { cause });
    this.fault = fault;
  }
}

const explain = (fault: Fault): string => {
  switch (fault.kind) {
    case "unreadable":
      return `${fault.file} cannot be read: ${at(fault.place)}, ${fault.why}. Mend it there; it was left as it is.`;
    case "no-access":
      return `${fault.file} cannot be used: ${fault.why}.`;
    case "invalid":
      return [
        `${fault.file} cannot be used:`,
        ...fault.problems.map(({ place, message }) => `  ${at(place)}: ${message}`),
        "Change it there, or with parley config set and unset.",
      ].join("\n");
    case "refused":
      return fault.message;
    case "unknown":
      return `${fault.message} See parley config list.`;
  }
};

const at = ({ line, column }: Place): string => `line ${line}, column ${column}`;
