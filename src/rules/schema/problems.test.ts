import { describe, expect, it } from "vitest";
import { closed, object } from "../openai/rows.cases.ts";
import { schemaProblems, type SchemaDialect } from "./problems.ts";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";

const dialects: readonly SchemaDialect[] = [
  "gemini-json",
  "gemini-openapi",
  "anthropic",
  "bedrock",
  "openai",
  "openai-strict",
  "kimi",
  "mistral",
];

describe("schemaProblems", () => {
  it.each(dialects)("finds no problem in the common subset, in %s", (dialect) => {
    const schema = object(
      {
        path: { type: "string", description: "Path inside the workspace" },
        depth: { anyOf: [{ type: "integer" }, { type: "null" }] },
        names: { type: "array", items: { type: "string", enum: ["a", "b"] } },
      },
      dialect === "openai-strict"
        ? { required: ["path", "depth", "names"], additionalProperties: false }
        : { required: ["path"] },
    );

    expect(schemaProblems(schema, dialect, "")).toEqual([]);
  });

  it.each<readonly [SchemaDialect, string, unknown, string]>([
    ["gemini-openapi", "a closed object", object({}, { additionalProperties: false }), "/additionalProperties"],
    ["gemini-openapi", "a constant", object({ a: { const: "x" } }), "/properties/a/const"],
    ["gemini-openapi", "a reference", object({ a: { $ref: "#/$defs/a" } }), "/properties/a/$ref"],
    ["gemini-openapi", "two types", object({ a: { type: ["string", "null"] } }), "/properties/a/type"],
    ["gemini-openapi", "a number in an enum", object({ a: { type: "integer", enum: [1] } }), "/properties/a/enum"],
    ["gemini-openapi", "a schema that is true", object({ a: true }), "/properties/a"],
    ["gemini-json", "a bound in quotes", object({ a: { type: "integer", minimum: "1" } }), "/properties/a/minimum"],
    ["gemini-json", "a keyword that is null", object({ a: { type: "string", format: null } }), "/properties/a/format"],
    ["gemini-json", "required as a word", object({ a: {} }, { required: "a" }), "/required"],
    ["gemini-json", "nullable in quotes", object({ a: { nullable: "yes" } }), "/properties/a/nullable"],
    ["gemini-json", "a string at the top", { type: "string" }, ""],
    ["anthropic", "no type at the top", { properties: {} }, ""],
    ["anthropic", "a list at the top", { type: "array", items: {} }, "/type"],
    ["anthropic", "anyOf at the top level", object({}, { oneOf: [{}] }), "/oneOf"],
    ["anthropic", "a type that is none", object({ a: { type: "text" } }), "/properties/a/type"],
    ["bedrock", "no type at the top", { properties: {} }, ""],
    ["openai", "no type at the top", { properties: {} }, ""],
    [
      "openai",
      "a list of nothing, two levels down",
      object({ a: { anyOf: [{ type: "array" }] } }),
      "/properties/a/anyOf/0",
    ],
    ["openai", "a property that is null", object({ a: null }), "/properties/a"],
    [
      "openai-strict",
      "an open object in a list",
      closed({ a: { type: "array", items: object({}) } }),
      "/properties/a/items",
    ],
    ["openai-strict", "an open definition", { ...closed({}), $defs: { a: object({}) } }, "/$defs/a"],
    [
      "openai-strict",
      "a name with a slash",
      closed({ "a/b": { type: "array", items: { type: "string" }, uniqueItems: true } }),
      "/properties/a~1b/uniqueItems",
    ],
    ["kimi", "definitions below the top", object({ a: object({}, { $defs: {} }) }), "/properties/a/$defs"],
    [
      "kimi",
      "a word beside anyOf",
      object({ a: { anyOf: [{ type: "string" }], default: 1 } }),
      "/properties/a/default",
    ],
    ["kimi", "true and false as values", object({ a: { enum: [true] } }), "/properties/a/enum"],
    ["mistral", "properties as a list", { type: "object", properties: [] }, "/properties"],
    ["mistral", "a length below zero", object({ a: { minLength: -1 } }), "/properties/a/minLength"],
    ["mistral", "a pattern that is a number", object({ a: { pattern: 1 } }), "/properties/a/pattern"],
    ["mistral", "a required name that is a number", object({}, { required: [1] }), "/required/0"],
  ])("refuses in %s: %s", (dialect, _name, schema, pointer) => {
    expect(schemaProblems(schema, dialect, "").map((problem) => problem.pointer)).toEqual([pointer]);
  });

  it("describes the place of a problem as the vendor does", () => {
    const schema = object({ a: { type: "array" } });

    expect(schemaProblems(schema, "openai", "/tools/0/parameters")).toEqual([
      {
        pointer: "/tools/0/parameters/properties/a",
        message: "In context=('properties', 'a'), array schema missing items.",
      },
    ]);
    expect(schemaProblems(object({ a: {} }), "kimi", "")).toEqual([
      { pointer: "/properties/a", message: "At path 'properties.a': type is not defined" },
    ]);
  });

  it("checks properties named like keywords", () => {
    const schema = closed({ type: { type: "string" }, properties: { type: "string" }, $ref: { type: "string" } });

    expect(dialects.map((dialect) => schemaProblems(schema, dialect, "").length)).toEqual([0, 1, 0, 0, 0, 0, 0, 0]);
  });

  it.each(dialects)("never throws for any value in place of a schema, in %s", (dialect) => {
    const keyword = fc.constantFrom(
      "type",
      "properties",
      "items",
      "anyOf",
      "required",
      "enum",
      "$ref",
      "$defs",
      "allOf",
      "format",
    );
    const schema = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 5 },
        fc.jsonValue({ maxDepth: 1 }),
        fc.dictionary(keyword, tie("node")),
        fc.array(tie("node")),
      ),
    })).node;
    fc.assert(
      fc.property(schema, (value) =>
        schemaProblems(value, dialect, "/at").every(({ pointer }) => pointer.startsWith("/at")),
      ),
      { numRuns: runsPerTier(300) },
    );
  });
});
