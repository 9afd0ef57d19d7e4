import type { RuleCase } from "../rule.cases.ts";
import type { RuleTarget, RuleWire } from "../rule.ts";

/** One line of a table of cases: what it shows, where the fault is, the broken body, the body that just passes. */
export type CaseRow = readonly [name: string, pointer: string, breaks: unknown, passes: unknown];

/** The cases of one rule at one target. */
export const casesFromRows = (rule: string, target: RuleTarget, table: readonly CaseRow[]): readonly RuleCase[] =>
  table.map(([name, pointer, breaks, passes]) => ({ rule, name, target, breaks, passes, pointer }));

/** Makes targets of one family: a provider and a model, as far as they are given. */
export const targetsOf =
  (wire: RuleWire): ((provider?: string, model?: string) => RuleTarget) =>
  (provider, model) => ({
    wire,
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
  });

/** Eight bytes of a picture, as an address. */
export const png = "data:image/png;base64,iVBORw0KGgo=";

/** The head of a document, as an address. */
export const pdf = "data:application/pdf;base64,JVBERi0xLjcK";

/** A sound, as bare base64. */
export const sound = "UklGRiQAAABXQVZF";

/** The schema of an object with these properties. */
export const object = (
  properties: unknown,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> => ({ type: "object", properties, ...more });

/** The schema of an object with exactly these properties, as `strict` wants it. */
export const closed = (properties: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  object(properties, { required: Object.keys(properties), additionalProperties: false });

/** Parameters of one tool that every dialect takes. */
export const parameters: Readonly<Record<string, unknown>> = closed({ path: { type: "string" } });
