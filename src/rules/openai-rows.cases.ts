import type { RuleCase } from "./cases.ts";
import type { RuleTarget } from "./rule.ts";

/** One line of a table of cases: what it shows, where the fault is, the broken body, the body that just passes. */
export type Row = readonly [name: string, pointer: string, breaks: unknown, passes: unknown];

/** The cases of one rule at one target. */
export const rows = (rule: string, target: RuleTarget, table: readonly Row[]): readonly RuleCase[] =>
  table.map(([name, pointer, breaks, passes]) => ({ rule, name, target, breaks, passes, pointer }));

/** Eight bytes of a picture, as an address. */
export const png = "data:image/png;base64,iVBORw0KGgo=";

/** The head of a document, as an address. */
export const pdf = "data:application/pdf;base64,JVBERi0xLjcK";

/** A sound, as bare base64. */
export const sound = "UklGRiQAAABXQVZF";

/** Parameters of one tool that every dialect takes. */
export const parameters: Readonly<Record<string, unknown>> = {
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
  additionalProperties: false,
};
