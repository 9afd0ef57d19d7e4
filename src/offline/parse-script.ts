import { isObject } from "./json.ts";
import { patternOf, type OfflineScript } from "./script.ts";

/** A value that is no script. The message names each wrong place and what is expected there, line by line. */
export class OfflineScriptError extends Error {}

/** A script from parsed JSON. Throws an `OfflineScriptError`. */
export const parseOfflineScript = (value: unknown): OfflineScript => {
  const wrong = wrongIn(value, "the whole", scriptShape);
  if (wrong.length > 0) throw new OfflineScriptError(wrong.join("\n"));
  return value as OfflineScript;
};

/** What a value may be: a check with its words, a list of something, or an object of known fields. */
type Shape =
  | { readonly is: (value: unknown) => boolean; readonly expected: string }
  | { readonly each: Shape; readonly orOne?: true }
  | { readonly fields: Readonly<Record<string, Shape>>; readonly required?: readonly string[] };

const wrongIn = (value: unknown, place: string, shape: Shape): readonly string[] => {
  if ("is" in shape) return shape.is(value) ? [] : [`${place}: expected ${shape.expected}`];
  if ("each" in shape) {
    if (Array.isArray(value)) return value.flatMap((each, index) => wrongIn(each, `${place}[${index}]`, shape.each));
    return shape.orOne === true ? wrongIn(value, place, shape.each) : [`${place}: expected a list`];
  }
  if (!isObject(value)) return [`${place}: expected an object`];
  const prefix = place === "the whole" ? "" : `${place}.`;
  const absent = (shape.required ?? []).filter((name) => !Object.hasOwn(value, name));
  return [
    ...absent.map((name) => `${prefix}${name}: expected, but not there`),
    ...Object.entries(value).flatMap(([name, field]) => {
      const known = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
      return known === undefined
        ? [`${prefix}${name}: unknown; there are ${Object.keys(shape.fields).join(", ")}`]
        : wrongIn(field, `${prefix}${name}`, known);
    }),
  ];
};

const text: Shape = { is: (value) => typeof value === "string", expected: "a text" };

const isPattern = (value: unknown): boolean => {
  try {
    if (typeof value === "string") patternOf(value);
    return typeof value === "string";
  } catch {
    return false;
  }
};

const words: Shape = { is: isPattern, expected: "words to find, or a valid /pattern/flags" };

const callShape: Shape = {
  fields: {
    tool: { is: (value) => typeof value === "string" && value !== "", expected: "the name of a tool" },
    input: { is: isObject, expected: "an object" },
  },
  required: ["tool", "input"],
};

const errorShape: Shape = {
  fields: {
    status: {
      is: (value) => Number.isInteger(value) && Number(value) >= 400 && Number(value) <= 599,
      expected: "a number from 400 to 599",
    },
    message: text,
  },
  required: ["status", "message"],
};

const replyShape: Shape = {
  fields: { think: text, say: text, call: { each: callShape, orOne: true }, error: errorShape },
};

const ruleShape: Shape = {
  fields: { asked: words, system: words, tool: text, model: words, replies: { each: replyShape } },
  required: ["replies"],
};

const scriptShape: Shape = {
  fields: { rules: { each: ruleShape }, replies: { each: replyShape }, otherwise: replyShape },
};
