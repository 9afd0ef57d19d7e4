import { describing, having, sonnet } from "./bodies.cases.ts";
import type { RuleCase } from "../rule.cases.ts";

const closed = { type: "object", properties: {}, additionalProperties: false };
const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `p${index}`);
const optional = (count: number): object => ({
  ...closed,
  properties: Object.fromEntries(names(count).map((name) => [name, { type: "string" }])),
});
const unions = (count: number): object => ({
  ...closed,
  properties: Object.fromEntries(names(count).map((name) => [name, { type: ["string", "null"] }])),
  required: names(count),
});
const strictTools = (count: number, schema: object = closed): object =>
  having({ tools: names(count).map((name) => ({ name, strict: true, input_schema: schema })) });
const referring = (...defs: readonly (readonly [string, string])[]): object => ({
  ...closed,
  $defs: Object.fromEntries(
    defs.map(([name, to]) => [name, { ...closed, properties: { next: { $ref: `#/$defs/${to}` } } }]),
  ),
});

/** Bodies for the checks in `anthropic-strict.ts`. */
export const strictCases: readonly RuleCase[] = [
  {
    rule: "anthropic/strict-schema",
    name: "an open object",
    target: sonnet,
    breaks: describing({ type: "object", properties: {} }, { strict: true }),
    passes: describing(closed, { strict: true }),
    pointer: "/tools/0/input_schema",
  },
  {
    rule: "anthropic/strict-schema",
    name: "a bound",
    target: sonnet,
    breaks: describing({ ...closed, properties: { n: { type: "integer", minimum: 1 } } }, { strict: true }),
    passes: describing({ ...closed, properties: { n: { type: "integer", minimum: 1 } } }),
    pointer: "/tools/0/input_schema/properties/n/minimum",
  },
  {
    rule: "anthropic/strict-schema",
    name: "a property that may be anything",
    target: sonnet,
    breaks: describing({ ...closed, properties: { value: true } }, { strict: true }),
    passes: describing({ ...closed, properties: { value: { type: "string" } } }, { strict: true }),
    pointer: "/tools/0/input_schema/properties",
  },
  {
    rule: "anthropic/strict-schema",
    name: "a list of nodes",
    target: sonnet,
    breaks: describing(referring(["Node", "Node"]), { strict: true }),
    passes: describing(referring(["Node", "Leaf"]), { strict: true }),
    pointer: "/tools/0/input_schema",
  },
  {
    rule: "anthropic/strict-schema",
    name: "two definitions in a cycle",
    target: sonnet,
    breaks: describing(referring(["A", "B"], ["B", "A"]), { strict: true }),
    passes: describing(referring(["A", "B"], ["B", "A"])),
    pointer: "/tools/0/input_schema",
  },
  {
    rule: "anthropic/strict-limits",
    name: "too many strict tools",
    target: sonnet,
    breaks: strictTools(21),
    passes: strictTools(20),
    pointer: "/tools",
  },
  {
    rule: "anthropic/strict-limits",
    name: "too many optional parameters",
    target: sonnet,
    breaks: strictTools(2, optional(13)),
    passes: strictTools(2, optional(12)),
    pointer: "/tools",
  },
  {
    rule: "anthropic/strict-limits",
    name: "too many unions",
    target: sonnet,
    breaks: strictTools(2, unions(9)),
    passes: strictTools(2, unions(8)),
    pointer: "/tools",
  },
  {
    rule: "anthropic/strict-limits",
    name: "a limit used up by one schema",
    target: sonnet,
    breaks: describing(optional(24), { strict: true }),
    passes: describing(optional(24)),
    pointer: "/tools/0",
  },
  {
    rule: "anthropic/output-schema",
    name: "a bound in the schema of the answer",
    target: sonnet,
    breaks: having({
      output_config: {
        format: { type: "json_schema", schema: { ...closed, properties: { n: { type: "integer", minimum: 1 } } } },
      },
    }),
    passes: having({ output_config: { format: { type: "json_schema", schema: closed } } }),
    pointer: "/output_config/format/schema/properties/n/minimum",
  },
  {
    rule: "anthropic/output-schema",
    name: "the form of another API",
    target: sonnet,
    breaks: having({ output_format: { type: "json_schema", json_schema: { schema: closed } } }),
    passes: having({ output_format: { type: "json_schema", schema: closed } }),
    pointer: "/output_format",
  },
];
