import type { RuleCase } from "../rule.cases.ts";
import type { RuleTarget, RuleWire } from "../rule.ts";

/** One row of a table of cases: its name, the pointer of the finding, the broken body, and a body that just passes. */
export type CaseRow = readonly [name: string, pointer: string, breaks: unknown, passes: unknown];

/** The cases of one rule at one target. */
export const casesFromRows = (rule: string, target: RuleTarget, table: readonly CaseRow[]): readonly RuleCase[] =>
  table.map(([name, pointer, breaks, passes]) => ({ rule, name, target, breaks, passes, pointer }));

/** Creates targets of one family, with an optional provider and model. */
export const targetsOf =
  (wire: RuleWire): ((provider?: string, model?: string) => RuleTarget) =>
  (provider, model) => ({
    wire,
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
  });

/** The first eight bytes of a PNG, as a data URL. */
export const png = "data:image/png;base64,iVBORw0KGgo=";

/** The first bytes of a PDF, as a data URL. */
export const pdf = "data:application/pdf;base64,JVBERi0xLjcK";

/** The first bytes of a WAV file, as bare base64. */
export const sound = "UklGRiQAAABXQVZF";

/** The schema of an object with these properties. */
export const object = (
  properties: unknown,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> => ({ type: "object", properties, ...more });

/** The schema of an object with exactly these properties, as `strict` wants it. */
export const closed = (properties: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  object(properties, { required: Object.keys(properties), additionalProperties: false });

/** Parameters of one tool that every dialect accepts. */
export const parameters: Readonly<Record<string, unknown>> = closed({ path: { type: "string" } });
