import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../conversation/json.ts";
import { checkChoices, checkText, type FieldCheck } from "./form-check.ts";
import { readForm, type FieldKind, type FormField } from "./form.ts";

const read = (properties: JsonObject, required: readonly string[] = []): readonly FormField[] | string =>
  readForm({ type: "object", properties, required: [...required] });

const kinds = (properties: JsonObject): unknown => {
  const fields = read(properties);
  return typeof fields === "string" ? fields : fields.map(({ kind }) => kind);
};

const field = (kind: FieldKind, more: Partial<FormField> = {}): FormField => ({
  name: "f",
  title: "F",
  description: "",
  isRequired: false,
  isSecret: false,
  kind,
  ...more,
});

const cat = { value: "c", title: "Cat" };
const dog = { value: "d", title: "Dog" };

describe("a form of a server", () => {
  it("has sanitized fields, and marks required and secret ones", () => {
    expect(
      read(
        {
          "n\u001b[2J": { type: "string", title: "Your\nname", description: "In \u202efull" },
          apiKey: { type: "string" },
          other: { type: "string", title: "Access token" },
        },
        ["n\u001b[2J"],
      ),
    ).toEqual([
      {
        name: "n\u001b[2J",
        title: "Your␊name",
        description: "In <U+202E>full",
        isRequired: true,
        isSecret: false,
        kind: { type: "text" },
      },
      { name: "apiKey", title: "apiKey", description: "", isRequired: false, isSecret: true, kind: { type: "text" } },
      {
        name: "other",
        title: "Access token",
        description: "",
        isRequired: false,
        isSecret: true,
        kind: { type: "text" },
      },
    ]);
  });

  it("supports every kind of field of the protocol, with its limits and its default", () => {
    expect(
      kinds({
        text: { type: "string", minLength: 1, maxLength: 9, pattern: "^a", format: "email", default: "a@b" },
        odd: { type: "string", format: "hostname", default: 7 },
        whole: { type: "integer", minimum: 1, maximum: 5, default: 2 },
        number: { type: "number", default: "x" },
        flag: { type: "boolean", default: true },
        one: { type: "string", enum: ["c", "d"], default: "d" },
        named: { type: "string", enum: ["c", "d"], enumNames: ["Cat", "Dog"], default: "x" },
        titled: {
          type: "string",
          oneOf: [
            { const: "c", title: "Cat" },
            { const: "d", title: "Dog" },
          ],
        },
        many: { type: "array", items: { enum: ["c", "d"] }, minItems: 1, maxItems: 2, default: ["c"] },
        manyTitled: { type: "array", items: { anyOf: [{ const: "c", title: "Cat" }] }, default: ["x"] },
      }),
    ).toEqual([
      { type: "text", min: 1, max: 9, pattern: "^a", format: "email", defaultValue: "a@b" },
      { type: "text" },
      { type: "number", isWhole: true, min: 1, max: 5, defaultValue: 2 },
      { type: "number", isWhole: false },
      { type: "switch", defaultValue: true },
      {
        type: "choice",
        choices: [
          { value: "c", title: "c" },
          { value: "d", title: "d" },
        ],
        defaultValue: "d",
      },
      { type: "choice", choices: [cat, dog] },
      { type: "choice", choices: [cat, dog] },
      {
        type: "choices",
        choices: [
          { value: "c", title: "c" },
          { value: "d", title: "d" },
        ],
        min: 1,
        max: 2,
        defaultValue: ["c"],
      },
      { type: "choices", choices: [cat] },
    ]);
  });

  it("that cannot be shown says why", () => {
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`f${at}`, { type: "string" }]));
    expect([
      read({ a: { type: "object" } }),
      read({ a: { type: "array", items: { type: "string" } } }),
      read({ a: { type: "string", enum: [] } }),
      read({ "a\nb": 7 }),
      read(many),
      readForm({}),
    ]).toEqual([
      "The field a is of a kind that cannot be asked for.",
      "The field a is of a kind that cannot be asked for.",
      "The field a is of a kind that cannot be asked for.",
      "The field a␊b is of a kind that cannot be asked for.",
      "It has 51 fields, and at most 50 are asked for.",
      [],
    ]);
  });
});

describe("an answer to a field", () => {
  const text = (more: object): FormField => field({ type: "text", ...more });
  const number = (more: object): FormField => field({ type: "number", isWhole: false, ...more });
  const value = (given: unknown): unknown => ({ type: "value", value: given });
  const wrong = (says: string): FieldCheck => ({ type: "wrong", says });

  it.each<readonly [FormField, string, unknown]>([
    [text({}), " Ada ", value(" Ada ")],
    [text({ min: 3 }), "ab", wrong("This must have at least 3 characters; it has 2.")],
    [text({ max: 1 }), "😀", value("😀")],
    [text({ max: 1 }), "ab", wrong("This must have at most 1 character; it has 2.")],
    [text({ format: "email" }), "a@b", value("a@b")],
    [text({ format: "email" }), "a b@c", wrong("This must be an email address, such as someone@example.com.")],
    [text({ format: "uri" }), "https://a.test", value("https://a.test")],
    [text({ format: "uri" }), "a.test", wrong("This must be a URL, such as https://example.com/page.")],
    [text({ format: "date" }), "2028-02-29", value("2028-02-29")],
    [text({ format: "date" }), "2027-02-29", wrong("This must be a date, such as 2026-03-28.")],
    [text({ format: "date-time" }), "2026-03-28T14:30:00+02:00", value("2026-03-28T14:30:00+02:00")],
    [
      text({ format: "date-time" }),
      "2026-03-28T25:30:00Z",
      wrong("This must be a date and time, such as 2026-03-28T14:30:00Z."),
    ],
    [text({ pattern: "^[a-c]+$" }), "abc", value("abc")],
    [text({ pattern: "^[a-c]+$" }), "abd", wrong("This does not match the server's pattern: ^[a-c]+$")],
    [text({ pattern: "(" }), "abd", value("abd")],
    [number({}), "-1.5e2", value(-150)],
    [number({}), "0x10", wrong("This must be a number.")],
    [number({ isWhole: true }), "1.5", wrong("This must be a whole number.")],
    [number({ min: 2 }), "1", wrong("This must be at least 2.")],
    [number({ max: 2 }), " 3 ", wrong("This must be at most 2.")],
    [number({ min: 2, max: 2 }), "2", value(2)],
    [field({ type: "switch" }), "Yes", value(true)],
    [field({ type: "switch" }), "n", value(false)],
    [field({ type: "switch" }), "maybe", wrong("This must be yes or no.")],
    [field({ type: "choice", choices: [cat, dog] }), "2", value("d")],
    [field({ type: "choice", choices: [cat, dog] }), "c", value("c")],
    [field({ type: "choice", choices: [cat, dog] }), "3", wrong("This must be a number from 1 to 2.")],
    [field({ type: "choices", choices: [cat, dog] }), "2, 1", value(["c", "d"])],
    [
      field({ type: "choices", choices: [cat, dog] }),
      "1 3",
      wrong("These must be numbers from 1 to 2, with commas between them."),
    ],
    [field({ type: "choices", choices: [cat, dog], max: 1 }), "1 2", wrong("At most 1 may be chosen.")],
    [field({ type: "choices", choices: [cat, dog], min: 2 }), "1", wrong("At least 2 must be chosen.")],
  ])("%o, %o", (options, typed, checked) => {
    expect(checkText(options, typed)).toEqual(checked);
  });

  it("that is empty means the default, leaves the field out, or is missing", () => {
    expect([
      checkText(field({ type: "text", defaultValue: "x" }), ""),
      checkText(field({ type: "switch", defaultValue: false }, { isRequired: true }), " "),
      checkText(field({ type: "text" }), ""),
      checkText(field({ type: "text" }, { isRequired: true }), " "),
      checkChoices(field({ type: "choices", choices: [cat] }), []),
      checkChoices(field({ type: "choices", choices: [cat], min: 1 }, { isRequired: true }), []),
      checkChoices(field({ type: "choices", choices: [cat], defaultValue: ["c"] }), []),
    ]).toEqual([
      { type: "value", value: "x" },
      { type: "value", value: false },
      { type: "left-out" },
      { type: "wrong", says: "This is required." },
      { type: "left-out" },
      { type: "wrong", says: "At least 1 must be chosen." },
      { type: "value", value: [] },
    ]);
  });

  it("is not blocked by a pattern with exponential backtracking", () => {
    const evil = field({ type: "text", pattern: "^(a+)+$" });
    expect(checkText(evil, `${"a".repeat(60)}!`)).toEqual({ type: "value", value: `${"a".repeat(60)}!` });
  });
});
