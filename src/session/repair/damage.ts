/** Damage to a session file, or a missing blob. */
export type SessionDamage =
  | { readonly kind: "truncated-end"; readonly bytes: number }
  | { readonly kind: "damaged"; readonly bytes: number; readonly after: number }
  | { readonly kind: "lost"; readonly records: number; readonly after: number }
  | { readonly kind: "repeated" | "out-of-order" | "shared-line"; readonly records: number }
  | { readonly kind: "no-final-newline" | "no-head" }
  | { readonly kind: "missing-blob"; readonly id: string; readonly hash: string; readonly what: string };

/** Describes damage in one sentence for the user. */
export const describeDamage = (damage: SessionDamage): string => {
  switch (damage.kind) {
    case "truncated-end":
      return `The last ${count(damage.bytes, "byte")} were not completely written.`;
    case "damaged":
      return `${count(damage.bytes, "byte")} after record ${damage.after} cannot be read.`;
    case "lost":
      return `${count(damage.records, "record")} after record ${damage.after} ${damage.records === 1 ? "is" : "are"} missing.`;
    case "repeated":
      return `${count(damage.records, "record")} appeared more than once.`;
    case "out-of-order":
      return `${count(damage.records, "record")} were out of order.`;
    case "shared-line":
      return `${count(damage.records, "record")} shared a line with another.`;
    case "no-final-newline":
      return "The last line had no newline.";
    case "no-head":
      return "The first record, with the system prompt and the tools, is missing.";
    case "missing-blob":
      return `The bytes of ${damage.what} are missing; models get its name instead.`;
  }
};

const count = (number: number, thing: string): string => `${number} ${thing}${number === 1 ? "" : "s"}`;
