import { Ajv2020 } from "ajv/dist/2020.js";

import { describe, expect, it } from "vitest";
import { Ledger, text, type Conversation, type JsonObject, type ToolDeclaration } from "../../src/api/index.ts";
import { providers } from "../../src/providers/all.ts";
import { renderRequest } from "../../src/providers/request.ts";
import { lint } from "../../src/rules/lint.ts";
import { createOutputFormat } from "../../src/wire/schema/output.ts";
import { fc, runsPerTier } from "../support/fast-check.ts";

/* The schema of an answer in requests: enforced where the API can, and never a reason to refuse the request. */

const person: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    name: { type: "string", minLength: 1 },
    age: { type: "integer", minimum: 0 },
    role: { const: "admin" },
  },
  required: ["name", "age", "role"],
};

const enforcedPerson: JsonObject = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" }, role: { type: "string", enum: ["admin"] } },
  required: ["name", "age", "role"],
  additionalProperties: false,
};

const partial: JsonObject = { type: "object", properties: { a: { type: "string" } } };

const conversation = (tools: readonly ToolDeclaration[]): Conversation => {
  const ledger = new Ledger();
  ledger.user([text("Who?")]);
  return { version: 1, system: "Be brief.", tools, entries: ledger.entries, blobs: {} };
};
const lookUp = [{ name: "look_up", description: "Looks up.", parameters: { type: "object", properties: {} } }] as const;

const render = (to: string, schema: JsonObject, tools: readonly ToolDeclaration[]) =>
  renderRequest(conversation(tools), to, { settings: { output: createOutputFormat(schema), stream: true } });

/** Where each API family has the schema of the answer. */
const schemaIn = (body: JsonObject): unknown => {
  const at = (value: unknown, ...path: readonly string[]): unknown =>
    path.reduce<unknown>((node, key) => (node as JsonObject | undefined)?.[key], value);
  return (
    at(body, "response_format", "json_schema") ??
    at(body, "text", "format") ??
    at(body, "output_config", "format", "schema") ??
    at(body, "generationConfig", "responseJsonSchema")
  );
};

const strict = { name: "answer", strict: true, schema: enforcedPerson };
const loose = { name: "answer", strict: false, schema: partial };
const closedPartial = { ...partial, required: [], additionalProperties: false };

describe("the schema of an answer", () => {
  const rows: readonly (readonly [model: string, whole: unknown, optional: unknown, withTools: boolean])[] = [
    ["openai/gpt-5.6", { type: "json_schema", ...strict }, { type: "json_schema", ...loose }, true],
    ["azure/gpt-5.6", { type: "json_schema", ...strict }, { type: "json_schema", ...loose }, true],
    ["openai-chat/gpt-5.6", strict, loose, true],
    ["anthropic/claude-sonnet-5", enforcedPerson, closedPartial, true],
    ["anthropic/claude-opus-4-5", enforcedPerson, closedPartial, true],
    ["google/gemini-3.8-flash", enforcedPerson, closedPartial, true],
    ["vertex/gemini-3.8-flash", enforcedPerson, closedPartial, true],
    // Before Gemini 3, functions and JSON are not combined.
    ["google/gemini-2.5-flash", enforcedPerson, closedPartial, false],
    ["openai-chat/gpt-4", undefined, undefined, true],
    ["openai/gpt-4o-audio-preview", undefined, undefined, true],
    ["anthropic/claude-opus-4-1-20250805", undefined, undefined, true],
    ["anthropic/claude-opus-4-20250514", undefined, undefined, true],
    ["google/gemma-3-27b-it", undefined, undefined, true],
  ];

  it.each(rows)("is enforced by %s where it can be", (model, whole, optional, withTools) => {
    expect(schemaIn(render(model, person, []).body)).toEqual(whole);
    expect(schemaIn(render(model, partial, []).body)).toEqual(optional);
    expect(schemaIn(render(model, person, lookUp).body)).toEqual(withTools ? whole : undefined);
  });

  it("is left out elsewhere, with a note", () => {
    const enforcing = new Set(rows.map(([model]) => model.split("/")[0]));
    const others = providers.filter(({ id }) => !enforcing.has(id));
    expect(others.length).toBeGreaterThan(10);
    for (const { id } of others) {
      const { body, report } = render(id, person, lookUp);
      expect([id, JSON.stringify(body).includes("admin")]).toEqual([id, false]);
      expect([id, report.notes.map(({ kind }) => kind)]).toEqual([id, ["setting-adapted"]]);
    }
  });

  it("is beside the effort of a model that thinks", () => {
    const settings = { output: createOutputFormat(person), thinking: { effort: "low" } } as const;
    const { body } = renderRequest(conversation([]), "anthropic/claude-sonnet-5", { settings });
    expect(body["output_config"]).toEqual({ effort: "low", format: { type: "json_schema", schema: enforcedPerson } });
  });

  it.each<readonly [string, JsonObject]>([
    ["a list at the top", { type: "array", items: { type: "string" } }],
    ["a choice at the top", { anyOf: [person, partial] }],
    [
      "an open map",
      { type: "object", properties: { a: { type: "object", additionalProperties: { type: "string" } } } },
    ],
    ["anything", { type: "object", properties: { a: {} } }],
    ["itself", { type: "object", properties: { a: { $ref: "#" } } }],
    ["a cycle", { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { $ref: "#/$defs/a" } } }],
    ["combined schemas", { type: "object", properties: { a: { allOf: [{ type: "string" }] } } }],
    ["a reference elsewhere", { type: "object", properties: { a: { $ref: "https://example.com/a.json" } } }],
    ["no properties", { type: "object" }],
  ])("that has %s is not enforced by APIs with limits", (_, schema) => {
    expect(createOutputFormat(schema).enforced).toBeUndefined();
    for (const to of ["anthropic", "google"]) expect(schemaIn(render(to, schema, []).body)).toBeUndefined();
  });
});

const { schema: randomSchema } = fc.letrec<{ schema: JsonObject; node: JsonObject }>((tie) => ({
  schema: fc
    .record({
      properties: fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), tie("node"), { maxKeys: 4 }),
      closed: fc.constantFrom(undefined, false, true),
      required: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .map(({ properties, closed, required }): JsonObject => ({
      type: "object",
      properties,
      required: Object.keys(properties).filter((_, index) => index < required * 4),
      ...(closed === undefined ? {} : { additionalProperties: closed }),
    })),
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<JsonObject>(
      { type: "string", pattern: "^a(?=b)", format: "uri", maxLength: 3 },
      { type: "number", multipleOf: 2, exclusiveMinimum: 1 },
      { type: ["string", "null"], default: null },
      { enum: ["a", 1, null] },
      { const: 7 },
      { type: "array", uniqueItems: true, items: { type: "boolean" }, minItems: 3 },
      { type: "array" },
      { not: { type: "string" } },
      { description: "Anything." },
    ),
    fc.array(tie("node"), { minLength: 1, maxLength: 3 }).map((anyOf): JsonObject => ({ anyOf })),
    tie("node").map((items): JsonObject => ({ type: "array", items })),
    tie("schema"),
  ),
}));

describe("any schema of an answer", () => {
  const models = [
    ...providers.map(({ id, defaultModel }) => `${id}/${defaultModel}`),
    "google/gemini-2.5-flash",
    "google/gemini-flash-latest",
    "openai-chat/gpt-4",
    "anthropic/claude-opus-4-5",
  ];

  it("makes a request that every API takes, with and without tools", () => {
    fc.assert(
      fc.property(randomSchema, fc.boolean(), (schema, hasTools) => {
        for (const to of models) {
          const [provider = "", ...model] = to.split("/");
          const { wire } = providers.find(({ id }) => id === provider)!;
          const { body } = render(to, schema, hasTools ? lookUp : []);
          const findings = lint(body, { wire, provider, model: model.join("/") });
          expect(findings.filter(({ level }) => level === "error")).toEqual([]);
        }
      }),
      { numRuns: runsPerTier(100) },
    );
  });

  it("is enforced as a valid schema, without the keywords that some API refuses", () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    fc.assert(
      fc.property(randomSchema, (schema) => {
        const { enforced } = createOutputFormat(schema);
        fc.pre(enforced !== undefined);
        expect(ajv.validateSchema(enforced!)).toBe(true);
        expect(JSON.stringify(enforced)).not.toMatch(/"(pattern|format|multipleOf|not|minItems|default)":/);
      }),
      { numRuns: 100 },
    );
  });
});
