/** What was wrong with a session's file, or is missing beside it. */
export type SessionDamage =
  | { readonly kind: "torn-end"; readonly bytes: number }
  | { readonly kind: "damaged"; readonly bytes: number; readonly after: number }
  | { readonly kind: "lost"; readonly records: number; readonly after: number }
  | { readonly kind: "repeated" | "out-of-order" | "glued"; readonly records: number }
  | { readonly kind: "unended" | "no-head" }
  | { readonly kind: "missing-blob"; readonly id: string; readonly hash: string; readonly what: string };

/** One sentence about a finding, for the person. */
export const describeDamage = (finding: SessionDamage): string => {
  switch (finding.kind) {
    case "torn-end":
      return `The last ${count(finding.bytes, "byte")} were never completely written.`;
    case "damaged":
      return `${count(finding.bytes, "byte")} after record ${finding.after} cannot be read.`;
    case "lost":
      return `${count(finding.records, "record")} after record ${finding.after} ${finding.records === 1 ? "is" : "are"} missing.`;
    case "repeated":
      return `${count(finding.records, "record")} stood there more than once.`;
    case "out-of-order":
      return `${count(finding.records, "record")} stood in the wrong place.`;
    case "glued":
      return `${count(finding.records, "record")} stood on the line of another.`;
    case "unended":
      return "The last line had no end.";
    case "no-head":
      return "The first record, with the system prompt and the tools, is missing.";
    case "missing-blob":
      return `The bytes of ${finding.what} are gone; it is only named from now on.`;
  }
};

const count = (number: number, thing: string): string => `${number} ${thing}${number === 1 ? "" : "s"}`;
