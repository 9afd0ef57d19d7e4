import { describe, expect, it } from "vitest";
import { hasSchemaCycle } from "./schema-cycle.ts";

describe("a schema that refers to itself", () => {
  it.each([
    ["its root", { type: "object", properties: { child: { $ref: "#" } } }, true],
    [
      "a definition that holds itself",
      { $ref: "#/$defs/node", $defs: { node: { properties: { next: { $ref: "#/$defs/node" } } } } },
      true,
    ],
    [
      "two definitions that hold each other",
      {
        properties: { a: { $ref: "#/$defs/a" } },
        $defs: { a: { items: { $ref: "#/$defs/b" } }, b: { anyOf: [{ type: "null" }, { $ref: "#/$defs/a" }] } },
      },
      true,
    ],
    [
      "one definition twice",
      { properties: { a: { $ref: "#/$defs/x" }, b: { $ref: "#/$defs/x" } }, $defs: { x: { type: "string" } } },
      false,
    ],
    ["nothing", { type: "object", properties: { a: { type: "string" } } }, false],
    ["a place that is not there", { $ref: "#/$defs/none" }, false],
    ["a place elsewhere", { $ref: "https://example.com/schema" }, false],
    ["no schema at all", undefined, false],
  ])("is recognized: %s", (_, schema, expected) => {
    expect(hasSchemaCycle(schema)).toBe(expected);
  });

  it("may be an object that holds itself", () => {
    const schema: Record<string, unknown> = { type: "object" };
    schema["properties"] = { self: schema };
    expect(hasSchemaCycle(schema)).toBe(true);
  });
});
