import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../conversation/json.ts";
import { schemaProblems, type SchemaDialect } from "../../rules/schema/problems.ts";
import { anthropicSchema, geminiSchema, kimiSchema, mistralSchema, openaiSchema, type AdaptedSchema } from "./adapt.ts";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";

const text = { type: "string" } as const;
const empty: JsonObject = { type: "object", properties: {} };

const choice: JsonObject = {
  oneOf: [
    { type: "object", properties: { kind: { const: "file" }, path: text }, required: ["kind", "path"] },
    { type: "object", properties: { kind: { const: "url" }, url: text, wait: text }, required: ["kind", "url"] },
  ],
};

const tree: JsonObject = {
  type: "object",
  properties: { root: { $ref: "#/$defs/Node" } },
  $defs: { Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" } } } },
};

describe("every dialect", () => {
  it.each(Object.entries(dialects()))("%s: no schema is an object without properties", (_, adapt) => {
    expect([adapt(undefined), adapt({})]).toEqual([{ schema: empty }, { schema: empty }]);
  });

  it.each(Object.entries(dialects()))("%s: a schema that fits stays the very same object", (_, adapt) => {
    const schema: JsonObject = {
      type: "object",
      description: "What to read.",
      properties: { path: { ...text, description: "Where" }, lines: { type: "array", items: { type: "integer" } } },
      required: ["path"],
    };
    const adapted = adapt(schema);
    expect(adapted.schema).toBe(schema);
    expect(adapted.changed).toBeUndefined();
  });

  it.each(Object.entries(dialects()))("%s: malformed keywords are mended", (_, adapt) => {
    const schema = {
      type: "OBJECT",
      title: null,
      properties: { n: { type: "integer", minimum: "3", maxLength: -1, required: true }, s: "string" },
      required: "s",
    };
    expect(adapt(schema).schema).toEqual({
      type: "object",
      properties: { n: { type: "integer", minimum: 3 }, s: text },
      required: ["s", "n"],
    });
  });

  it.each(Object.entries(dialects()))("%s: bounds at the edge of the safe integers are left out", (_, adapt) => {
    const n = { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
    expect(adapt({ type: "object", properties: { n } })).toEqual({
      schema: { type: "object", properties: { n: { type: "integer" } } },
      changed: "bounds that bind nothing were left out",
    });
  });

  it.each(Object.entries(dialects()))("%s: a schema nested without end is cut", (_, adapt) => {
    let schema: JsonObject = text;
    for (let depth = 0; depth < 5000; depth++) schema = { type: "object", properties: { a: schema } };
    const adapted = adapt(schema);
    expect(adapted.changed).toContain("what lies too deep was cut");
    expect(adapt(adapted.schema)).toEqual({ schema: adapted.schema });
  });
});

describe("anthropicSchema", () => {
  it("merges a choice at the top into one object and says which fields belong together", () => {
    expect(anthropicSchema(choice)).toEqual({
      schema: {
        type: "object",
        properties: { kind: { enum: ["file", "url"] }, path: text, url: text, wait: text },
        required: ["kind"],
        description: 'Exactly one of these forms: {kind: "file", path} or {kind: "url", url, wait?}.',
      },
      changed: "the shapes at the top became one object",
    });
  });

  it("keeps what is demanded beside a choice of what else is", () => {
    const properties = { a: text, b: text, c: text };
    const schema: JsonObject = {
      type: "object",
      description: "Look up.",
      properties,
      required: ["c"],
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    };
    expect(anthropicSchema(schema).schema).toEqual({
      type: "object",
      description: "Look up. At least one of these forms: {a} or {b}.",
      properties,
      required: ["c"],
    });
  });

  it("merges what must all hold at the top, through references", () => {
    const schema: JsonObject = {
      allOf: [{ $ref: "#/$defs/Base" }, { properties: { b: text }, required: ["b"] }],
      $defs: { Base: { type: "object", properties: { a: text }, required: ["a"] } },
    };
    expect(anthropicSchema(schema).schema).toEqual({
      type: "object",
      properties: { a: text, b: text },
      required: ["a", "b"],
      $defs: { Base: { type: "object", properties: { a: text }, required: ["a"] } },
    });
  });

  it("moves to $defs what a reference into the merged choice pointed at", () => {
    const schema: JsonObject = {
      anyOf: [
        { type: "object", properties: { a: text } },
        { type: "object", properties: { b: { $ref: "#/anyOf/0" } } },
      ],
    };
    expect(anthropicSchema(schema).schema).toEqual({
      type: "object",
      properties: { a: text, b: { $ref: "#/$defs/0" } },
      description: "At least one of these forms: {a?} or {b?}.",
      $defs: { 0: { type: "object", properties: { a: text } } },
    });
  });

  it("gives arguments plain names, wherever the top speaks of them", () => {
    const team = { type: "string" } as const;
    const adapted = anthropicSchema({
      type: "object",
      properties: { "team:": team, team_: team, [`$${"x".repeat(80)}`]: team, inner: { $ref: "#" } },
      required: ["team:", "team_"],
      dependentRequired: { team_: ["team:"] },
    });
    expect(adapted.schema).toMatchObject({
      properties: { team__2: team, team_: team, [`_${"x".repeat(55)}`]: team, inner: { $ref: "#/$defs/of_the_whole" } },
      required: ["team__2", "team_"],
      dependentRequired: { team_: ["team__2"] },
    });
    expect(adapted.renamed?.get("team:")).toBe("team__2");
    expect(adapted.changed).toContain('the argument "team:" is called team__2');
  });

  it("leaves the names of arguments inside arguments, and of every plain one, as they are", () => {
    const schema = {
      type: "object",
      properties: { "a.b-c_1": { type: "object", properties: { "team:": {} } } },
    } as const;
    expect(anthropicSchema(schema)).toEqual({ schema });
  });

  it("leaves choices and references below the top alone", () => {
    const schema: JsonObject = { ...tree, properties: { root: { anyOf: [{ $ref: "#/$defs/Node" }, text] } } };
    expect(anthropicSchema(schema).schema).toBe(schema);
  });

  it("writes a list by position as draft 2020-12 does", () => {
    const pair = { type: "array", items: [text, { type: "number" }], additionalItems: false };
    expect(anthropicSchema({ type: "object", properties: { pair } }).schema).toEqual({
      type: "object",
      properties: { pair: { type: "array", prefixItems: [text, { type: "number" }], items: false } },
    });
  });
});

describe("geminiSchema", () => {
  it("takes every keyword, and asks only for an object at the top", () => {
    expect(geminiSchema(choice)).toEqual({
      schema: { type: "object", ...choice },
      changed: "the top became an object",
    });
  });

  it("keeps recursive references", () => {
    expect(geminiSchema(tree).schema).toBe(tree);
  });
});

describe("openaiSchema", () => {
  it("gives every object properties and every array items", () => {
    const schema: JsonObject = {
      type: "object",
      properties: { map: { type: "object", additionalProperties: text }, list: { type: "array" } },
    };
    expect(openaiSchema(schema)).toEqual({
      schema: {
        type: "object",
        properties: {
          map: { type: "object", additionalProperties: text, properties: {} },
          list: { type: "array", items: {} },
        },
      },
      changed: "objects have properties and arrays items",
    });
  });

  it("says in words what may not narrow the top", () => {
    expect(openaiSchema({ ...empty, not: { required: ["a"] } })).toEqual({
      schema: { ...empty, description: '(not: {"required":["a"]})' },
      changed: "not moved into descriptions",
    });
  });
});

describe("kimiSchema", () => {
  const inside = (schema: JsonObject): JsonObject => {
    const adapted = kimiSchema({ type: "object", properties: { x: schema } }).schema;
    return (adapted["properties"] as JsonObject)["x"] as JsonObject;
  };

  it("says in the description what it has no keyword for", () => {
    expect(inside({ ...text, description: "Day.", format: "date", pattern: "^2" })).toEqual({
      ...text,
      description: "Day. (format: date; pattern: ^2)",
    });
  });

  it("writes const as enum, with its type", () => {
    expect(inside({ const: "a" })).toEqual({ ...text, enum: ["a"] });
  });

  it("gives values of several types a branch each", () => {
    expect(inside({ enum: ["a", 1, null, true] })).toEqual({
      anyOf: [
        { ...text, enum: ["a"] },
        { type: "number", enum: [1] },
        { type: "null" },
        { type: "boolean", description: "(enum: [true])" },
      ],
    });
    expect(inside({ type: ["string", "integer"], minLength: 2, minimum: 1, title: "T" })).toEqual({
      title: "T",
      anyOf: [
        { ...text, minLength: 2 },
        { type: "integer", minimum: 1 },
      ],
    });
  });

  it("lets nothing but words stand beside a choice", () => {
    expect(inside({ type: "string", oneOf: [{ minLength: 9 }, { enum: ["a"] }], default: "a" })).toEqual({
      anyOf: [
        { ...text, minLength: 9 },
        { ...text, enum: ["a"] },
      ],
      description: "(default: a)",
    });
  });

  it("merges a choice between forms of an object into the object", () => {
    const properties = { a: text, b: text };
    expect(inside({ type: "object", properties, anyOf: [{ required: ["a"] }, { required: ["b"] }] })).toEqual({
      type: "object",
      properties,
      description: "At least one of these forms: {a} or {b}.",
    });
  });

  it("merges allOf, and keeps one that is only a reference as that", () => {
    const defs = { D: { type: "object", properties: { a: text } } };
    expect(
      kimiSchema({
        type: "object",
        properties: {
          one: { allOf: [{ $ref: "#/$defs/D" }], description: "One" },
          two: { allOf: [{ $ref: "#/$defs/D" }, { properties: { b: text } }] },
        },
        $defs: defs,
      }).schema,
    ).toEqual({
      type: "object",
      properties: {
        one: { $ref: "#/$defs/D", description: "One" },
        two: { type: "object", properties: { a: text, b: text } },
      },
      $defs: defs,
    });
  });

  it("infers the types that were left out", () => {
    expect(inside({ properties: { a: text } })["type"]).toBe("object");
    expect(inside({ minItems: 1 })["type"]).toBe("array");
    expect(inside({ description: "Anything" })["type"]).toEqual([
      "string",
      "number",
      "boolean",
      "object",
      "array",
      "null",
    ]);
  });

  it("keeps recursive references, all of them into $defs", () => {
    expect(kimiSchema(tree).schema).toBe(tree);
    const { $defs: definitions, ...rest } = tree;
    const older = JSON.parse(JSON.stringify({ ...rest, definitions }).replaceAll("$defs", "definitions")) as JsonObject;
    expect(kimiSchema(older).schema).toEqual(tree);
  });

  it("replaces a reference to another document", () => {
    expect(inside({ $ref: "https://example.com/Thing" })).toEqual({
      type: "object",
      description: "The shape Thing, not written out here.",
    });
  });
});

describe("mistralSchema", () => {
  it("inlines references and leaves out what its validator trips over", () => {
    const schema: JsonObject = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        strict: { $ref: "#/$defs/D", description: "Mine" },
        pair: { type: "array", prefixItems: [text], items: false },
      },
      additionalProperties: false,
      $defs: { D: { type: "object", properties: { a: text }, additionalProperties: false, description: "Theirs" } },
    };
    expect(mistralSchema(schema).schema).toEqual({
      type: "object",
      properties: {
        strict: { type: "object", properties: { a: text }, description: "Mine" },
        pair: { type: "array", items: [text], additionalItems: false },
      },
    });
  });

  it("cuts a shape that holds itself", () => {
    expect(mistralSchema(tree).schema).toEqual({
      type: "object",
      properties: {
        root: {
          type: "object",
          properties: { next: { type: "object", description: "The shape Node, not written out here." } },
        },
      },
    });
  });

  it("does not multiply shapes that share shapes", () => {
    const defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => {
        const next = { $ref: `#/$defs/d${at + 1}` };
        return [`d${at}`, { type: "object", properties: { a: next, b: next } }];
      }),
    );
    const schema: JsonObject = { type: "object", properties: { top: { $ref: "#/$defs/d0" } }, $defs: defs };
    expect(JSON.stringify(mistralSchema(schema).schema).length).toBeLessThan(100_000);
  });
});

describe("any schema, in any dialect", () => {
  it.each(Object.entries(dialects()))("%s: becomes one the API takes, once and for all", (dialect, adapt) => {
    fc.assert(
      fc.property(fc.oneof(randomSchema, fc.jsonValue({ maxDepth: 3 })), (given) => {
        const schema = deepFreeze(given) as JsonObject;
        const adapted = adapt(schema);
        expect(schemaProblems(adapted.schema, dialect as SchemaDialect, "")).toEqual([]);
        const again = adapt(adapted.schema);
        expect(again.schema).toBe(adapted.schema);
        expect(again.changed).toBeUndefined();
        expect(adapt(structuredClone(schema))).toEqual(adapted);
      }),
      { numRuns: runsPerTier(1000) },
    );
  });
});

function dialects(): Record<string, (schema: JsonObject | undefined) => AdaptedSchema> {
  return {
    anthropic: anthropicSchema,
    bedrock: anthropicSchema,
    "gemini-json": geminiSchema,
    openai: openaiSchema,
    kimi: kimiSchema,
    mistral: mistralSchema,
  };
}

const deepFreeze = <Value>(value: Value): Value => {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
};

/** Schemas as careless people write them: most keywords hold what they should, some hold anything. */
const randomSchema: fc.Arbitrary<unknown> = fc.letrec((tie) => {
  const junk = fc.jsonValue({ maxDepth: 1 });
  const name = fc.constantFrom("a", "b", "", "a/b", "type", "__proto__", "constructor");
  const type = fc.constantFrom("string", "number", "integer", "boolean", "object", "array", "null", "STRING", "any");
  const value = fc.oneof(fc.constantFrom("a", "b", 1, 2, 1.5, true, null), junk);
  const leaf = fc.constantFrom<unknown>(text, { $ref: "#/$defs/a" }, { $ref: "#" }, {}, true, false, null, "string");
  const inner = fc.oneof(
    { maxDepth: 3, depthIdentifier: "schema" },
    { weight: 1, arbitrary: leaf },
    { weight: 6, arbitrary: tie("schema") },
  );
  const map = fc.dictionary(name, inner, { maxKeys: 3 });
  const list = fc.array(inner, { maxLength: 3 });
  const reference = fc.constantFrom(
    ..."# #/$defs/a #/$defs/a~1b #/definitions/a #/anyOf/0 #/properties/a http://x/y #/$defs/".split(" "),
  );
  const keywords: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.oneof(type, fc.array(type, { maxLength: 3 })),
    $ref: reference,
    ...Object.fromEntries(["$id", "$schema", "title", "description", "pattern"].map((key) => [key, fc.string()])),
    ...Object.fromEntries(["properties", "patternProperties", "$defs", "definitions"].map((key) => [key, map])),
    ...Object.fromEntries(["anyOf", "oneOf", "allOf", "prefixItems"].map((key) => [key, list])),
    ...Object.fromEntries(["not", "if", "then", "contains", "propertyNames"].map((key) => [key, inner])),
    items: fc.oneof(inner, list),
    additionalProperties: fc.oneof(inner, fc.boolean()),
    required: fc.oneof(fc.array(name, { maxLength: 3 }), name, fc.boolean()),
    enum: fc.array(value, { maxLength: 4 }),
    const: value,
    default: value,
    minimum: fc.constantFrom<unknown>(0, Number.MIN_SAFE_INTEGER, "3", 1.5),
    exclusiveMinimum: fc.constantFrom<unknown>(0, true, false),
    multipleOf: fc.constantFrom<unknown>(0, 2, "0.5"),
    maxLength: fc.constantFrom<unknown>(5, "6", 1.5, -1),
    minItems: fc.nat(3),
    uniqueItems: fc.boolean(),
    nullable: fc.boolean(),
    format: fc.constantFrom("date", "uuid"),
    strict: fc.boolean(),
    "x-own": junk,
  };
  const sloppy = Object.fromEntries(
    Object.entries(keywords).map(([key, right]) => [
      key,
      fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: junk }),
    ]),
  );
  return {
    schema: fc
      .subarray(Object.keys(sloppy), { maxLength: 5 })
      .chain((keys) => fc.record(Object.fromEntries(keys.map((key) => [key, sloppy[key]!])))),
  };
}).schema;
