import { isObject } from "../json.ts";
import { patternOf, type DemoScript } from "./script.ts";

/** Reports an invalid script: one line for each wrong place, with what is expected there. */
export class DemoScriptError extends Error {}

/** Parses a script from a JSON value. Throws a `DemoScriptError`. */
export const parseDemoScript = (value: unknown): DemoScript => {
  const wrong = findProblems(value, "the script", scriptShape);
  if (wrong.length > 0) throw new DemoScriptError(wrong.join("\n"));
  return value as DemoScript;
};

/** The expected shape of a value: a check with its description, a list, or an object of known fields. */
type ScriptShape =
  | { readonly is: (value: unknown) => boolean; readonly expected: string }
  | { readonly each: ScriptShape; readonly orOne?: true }
  | { readonly fields: Readonly<Record<string, ScriptShape>>; readonly required?: readonly string[] };

const findProblems = (value: unknown, place: string, shape: ScriptShape): readonly string[] => {
  if ("is" in shape) return shape.is(value) ? [] : [`${place}: expected ${shape.expected}`];
  if ("each" in shape) {
    if (Array.isArray(value))
      return value.flatMap((each, index) => findProblems(each, `${place}[${index}]`, shape.each));
    return shape.orOne === true ? findProblems(value, place, shape.each) : [`${place}: expected a list`];
  }
  if (!isObject(value)) return [`${place}: expected an object`];
  const prefix = place === "the script" ? "" : `${place}.`;
  const absent = (shape.required ?? []).filter((name) => !Object.hasOwn(value, name));
  return [
    ...absent.map((name) => `${prefix}${name}: required, but missing`),
    ...Object.entries(value).flatMap(([name, field]) => {
      const known = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
      return known === undefined
        ? [`${prefix}${name}: unknown; there are ${Object.keys(shape.fields).join(", ")}`]
        : findProblems(field, `${prefix}${name}`, known);
    }),
  ];
};

const textShape: ScriptShape = { is: (value) => typeof value === "string", expected: "a text" };

const isPattern = (value: unknown): boolean => {
  try {
    if (typeof value === "string") patternOf(value);
    return typeof value === "string";
  } catch {
    return false;
  }
};

const patternShape: ScriptShape = { is: isPattern, expected: "text to find, or a valid /pattern/flags" };

const callShape: ScriptShape = {
  fields: {
    tool: { is: (value) => typeof value === "string" && value !== "", expected: "the name of a tool" },
    input: { is: isObject, expected: "an object" },
  },
  required: ["tool", "input"],
};

const errorShape: ScriptShape = {
  fields: {
    status: {
      is: (value) => Number.isInteger(value) && Number(value) >= 400 && Number(value) <= 599,
      expected: "a number from 400 to 599",
    },
    message: textShape,
  },
  required: ["status", "message"],
};

const replyShape: ScriptShape = {
  fields: { think: textShape, say: textShape, call: { each: callShape, orOne: true }, error: errorShape },
};

const ruleShape: ScriptShape = {
  fields: {
    prompt: patternShape,
    system: patternShape,
    tool: textShape,
    model: patternShape,
    replies: { each: replyShape },
  },
  required: ["replies"],
};

const scriptShape: ScriptShape = {
  fields: { rules: { each: ruleShape }, replies: { each: replyShape }, otherwise: replyShape },
};
