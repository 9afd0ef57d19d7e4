import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../conversation/json.ts";
import { findMismatches } from "./check-input.ts";
import { findSchemaProblem } from "./check-schema.ts";

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: "object", properties, ...more });
const string = { type: "string" };

const nested = (depth: number): JsonObject => (depth === 0 ? string : { type: "array", items: nested(depth - 1) });

describe("parameters", () => {
  it.each<[string, unknown]>([
    ["nothing at all", { type: "object" }],
    ["typed ones", object({ a: string, b: { type: ["string", "null"] }, c: { type: "array", items: string } })],
    ["a list of anything", object({ a: { type: "array" } })],
    ["a combination of typed members", object({ a: { anyOf: [string, { type: "null" }] } })],
    ["a combination at the top", { oneOf: [object({ a: string }), object({ b: string })] }],
    ["conditions beside a type", object({ a: string }, { anyOf: [{ required: ["a"] }, { required: ["b"] }] })],
    ["a reference within", object({ a: { $ref: "#/$defs/a~1b" } }, { $defs: { "a/b": string } })],
    [
      "one that refers to itself",
      object({ a: { $ref: "#/$defs/n" } }, { $defs: { n: object({ next: { $ref: "#/$defs/n" } }) } }),
    ],
    ["one that refers to all of itself", object({ a: { $ref: "#" } })],
    ["anything, said outright", object({ a: true as never })],
  ])("can be sent to models: %s", (_, schema) => {
    expect(findSchemaProblem(schema)).toBeUndefined();
  });

  it.each<[string, unknown, string]>([
    ["none", undefined, "its parameters are not described by an object"],
    ["a list", [], "its parameters are not described by an object"],
    ["no type at the top", { properties: {} }, "its parameters have no type"],
    ["one without a type", object({ param1: { description: "no type" } }), "the parameter param1 has no type"],
    [
      "one without a type, deep inside",
      object({ a: { type: "array", items: object({ b: {} }) } }),
      "the parameter a[].b has no type",
    ],
    [
      "a combination with a member without a type",
      object({ a: { anyOf: [string, {}] } }),
      "the parameter a has no type",
    ],
    [
      "a reference to another place",
      object({ a: { $ref: "http://evil.test/x" } }),
      "its parameters refer to http://evil.test/x, which is outside the schema",
    ],
    [
      "such a reference where no type is looked for",
      object({ a: string }, { if: { not: { $ref: "file:///x" } } }),
      "its parameters refer to file:///x, which is outside the schema",
    ],
    [
      "a reference to nothing",
      object({ a: { $ref: "#/$defs/x" } }),
      "the parameter a has a reference to #/$defs/x, which does not exist",
    ],
    [
      "a reference to what every object has",
      object({ a: { $ref: "#/constructor" } }),
      "the parameter a has a reference to #/constructor, which does not exist",
    ],
    ["too deep", object({ a: nested(60) }), "its parameters are nested too deeply"],
    [
      "too long",
      object({ a: { ...string, description: "x".repeat(300_000) } }),
      "the description of its parameters is too long",
    ],
  ])("cannot be sent to models: %s", (_, schema, problem) => {
    expect(findSchemaProblem(schema)).toBe(problem);
  });
});

describe("arguments", () => {
  const schema = object(
    {
      name: string,
      count: { type: "integer" },
      mode: { type: "string", enum: ["a", "b"] },
      list: { type: "array", items: { type: "number" } },
      inner: object({ x: { type: ["boolean", "null"] } }, { required: ["x"], additionalProperties: false }),
      any: true as never,
      pattern: { type: "string", pattern: "^(a+)+$" },
    },
    { required: ["name"] },
  );

  it.each<[string, unknown, ReturnType<typeof findMismatches>]>([
    ["all as described", { name: "n", count: 2, mode: "a", list: [1, 2.5], inner: { x: null }, any: [] }, []],
    ["more than described", { name: "n", other: 1 }, []],
    ["something missing", {}, [{ path: ["name"], expected: "string" }]],
    [
      "wrong types",
      { name: 7, count: 1.5, list: [1, "2"] },
      [
        { path: ["name"], expected: "string" },
        { path: ["count"], expected: "integer" },
        { path: ["list", 1], expected: "number" },
      ],
    ],
    ["none of the choices", { name: "n", mode: "c" }, [{ path: ["mode"], expected: 'one of "a", "b"' }]],
    [
      "inside",
      { name: "n", inner: { y: 1 } },
      [
        { path: ["inner", "x"], expected: "boolean or null" },
        { path: ["inner", "y"], expected: "no such parameter" },
      ],
    ],
    ["no object", "text", [{ path: [], expected: "object" }]],
    ["what only the server can judge", { name: "n", pattern: `${"a".repeat(50)}!` }, []],
    ["names every object has", { name: "n", constructor: 1, toString: 2 }, []],
  ])("are checked: %s", (_, value, expected) => {
    expect(findMismatches(schema, value)).toEqual(expected);
  });
});
