import { describe, expect, it } from "vitest";
import { z, type ZodType } from "zod";
import { fc } from "../../test/support/fast-check.ts";
import { toPlainJson, type JsonObject } from "../conversation/json.ts";
import { describeMismatches } from "../scheduler/call/describe-mismatch.ts";
import { builtinTools } from "./builtins.ts";
import { list, object, optional, string } from "./schema.ts";
import type { InputSchema } from "./tool.ts";

/*
 * Schemas of built-in tools against Zod types made from the JSON Schema that models see: both accept the same inputs,
 * return the same values and describe the same mismatches.
 */

/** Tools whose text is trimmed first, with their own message for an empty one. A JSON Schema says neither. */
const trimmed: Readonly<Record<string, string>> = {
  web_fetch: "The 'prompt' parameter cannot be empty and must contain URL(s) and instructions.",
  google_web_search: "The 'query' parameter cannot be empty.",
};

/** The keywords that built-in tools use. */
type Keywords = {
  readonly type: "string" | "integer" | "number" | "boolean" | "array" | "object";
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: JsonObject;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, JsonObject>>;
  readonly required?: readonly string[];
};

const keywordsOf = (schema: JsonObject): Keywords => schema as unknown as Keywords;

const knownKeywords: Readonly<Record<Keywords["type"], readonly (keyof Keywords)[]>> = {
  string: ["enum", "minLength"],
  integer: ["minimum", "maximum"],
  number: ["minimum", "maximum"],
  boolean: [],
  array: ["items", "minItems", "maxItems"],
  object: ["properties", "required"],
};

/** Creates the Zod type of a JSON Schema. Fails for a keyword that this test does not know. */
const toZod = (schema: JsonObject, emptyMessage?: string): ZodType => {
  const { type, items = {}, properties = {}, required = [], ...limits } = keywordsOf(schema);
  expect(["type", "description", ...knownKeywords[type]]).toEqual(expect.arrayContaining(Object.keys(schema)));
  const { minimum = -Infinity, maximum = Infinity, minItems = 0, maxItems = Infinity, minLength = 0 } = limits;
  switch (type) {
    case "string":
      if (limits.enum !== undefined) return z.enum(limits.enum as string[]);
      return emptyMessage === undefined ? z.string().min(minLength) : z.string().trim().min(minLength, emptyMessage);
    case "integer":
      return z.int().min(minimum).max(maximum);
    case "number":
      return z.number().min(minimum).max(maximum);
    case "boolean":
      return z.boolean();
    case "array":
      return z.array(toZod(items)).min(minItems).max(maxItems);
    case "object":
      return z.object(
        Object.fromEntries(
          Object.entries(properties).map(([name, each]) => {
            const property = toZod(each, emptyMessage);
            return [name, required.includes(name) ? property : property.optional()];
          }),
        ),
      );
  }
};

/** Values that fit a schema, nearly fit, or do not. */
const valuesFor = (schema: JsonObject): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 8, arbitrary: fittingValues(keywordsOf(schema)) }, fc.jsonValue());

const fittingValues = ({ type, items = {}, properties = {}, enum: options }: Keywords): fc.Arbitrary<unknown> => {
  if (options !== undefined) return fc.constantFrom(...options);
  switch (type) {
    case "string":
      return fc.oneof(fc.string(), fc.constantFrom("", " ", "\n a \u{FEFF}", "https://a.example"));
    case "integer":
    case "number":
      return fc.oneof(fc.integer(), fc.double(), fc.constantFrom(-1, 0, 1, 0.5, 600, 601, 2 ** 53, -(2 ** 53), -0));
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(valuesFor(items), { maxLength: 10 });
    case "object": {
      const shape = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, valuesFor(each)]));
      const own = fc.record(shape, { requiredKeys: [] });
      const withOthers = fc.tuple(own, fc.object()).map(([one, others]) => ({ ...others, ...one }));
      return fc.oneof({ weight: 4, arbitrary: own }, withOthers);
    }
  }
};

/** How a schema reads a value: the value, or the lines that the model gets. */
const readingOf = async (schema: InputSchema, raw: unknown): Promise<unknown> => {
  const result = await schema.safeParseAsync(raw);
  if (result.success) return { data: result.data };
  // Zod checks the length of a list where it expected a text, and a too small number twice: the first of these counts.
  const paths = new Set<string>();
  const first = result.error.issues.filter(({ path }) => {
    const key = JSON.stringify(path);
    return !paths.has(key) && paths.add(key);
  });
  return { lines: describeMismatches(first, raw) };
};

describe("the schemas of built-in tools", () => {
  it.each(builtinTools.map((tool) => [tool.name, tool] as const))("%s reads what Zod reads", async (name, tool) => {
    const { jsonSchema } = tool.input;
    const zod = toZod(jsonSchema ?? {}, trimmed[name]);
    await fc.assert(
      fc.asyncProperty(valuesFor(jsonSchema ?? {}), async (value) => {
        const raw = toPlainJson(value).value;
        expect(await readingOf(tool.input, raw)).toStrictEqual(await readingOf(zod, raw));
      }),
    );
  });

  it("report each part that does not fit, once", async () => {
    const schema = object({ names: list(string({ minLength: 1 }), { minItems: 1 }), note: optional(string()) });
    const result = await schema.safeParseAsync({ names: ["a", "", 3], note: null, more: true });
    expect(result.error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`)).toEqual([
      "names.1: expected string to have >=1 characters",
      "names.2: expected string",
      "note: expected string",
    ]);
  });

  it("drop other properties, and read none of a prototype", async () => {
    const schema = object({ name: string() });
    const raw: unknown = JSON.parse('{"name":"a","more":1,"__proto__":{"name":"b"}}');
    expect((await schema.safeParseAsync(raw)).data).toStrictEqual({ name: "a" });
    expect((await schema.safeParseAsync(Object.create({ name: "b" }))).success).toBe(false);
  });
});
