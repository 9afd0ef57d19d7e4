import { parseSettings } from "../../policy/trust/settings-json.ts";
import { checkValue, hasNoErrors } from "../schema/check.ts";
import { toPlainValue } from "../file/node.ts";
import type { Shape } from "../schema/shape.ts";

/**
 * Parses a command-line argument as a setting of a shape: a string is taken as it is, a list can have commas instead of
 * brackets, everything else is JSON. Does not validate; use `checkValue`.
 */
export const parseCliValue = async (shape: Shape, argument: string): Promise<unknown> => {
  switch (shape.type) {
    case "string":
    case "enum":
      return argument;
    case "boolean":
      return argument === "on" ? true : argument === "off" ? false : parseLenientJson(argument);
    case "number":
      return parseLenientJson(argument);
    case "list":
      return argument.trimStart().startsWith("[") ? parseLenientJson(argument) : parseItems(shape.of, argument);
    case "record":
    case "object":
      return parseLenientJson(argument);
    case "union": {
      const values = await Promise.all(shape.of.map((one) => parseCliValue(one, argument)));
      return values.find((value) => hasNoErrors(checkValue(shape, value, []))) ?? argument;
    }
  }
};

/** Splits at commas outside parentheses: `run_shell_command(a,b)` is one rule. */
const parseItems = (shape: Shape, argument: string): Promise<readonly unknown[]> =>
  Promise.all(
    (argument.match(/(?:\([^)]*\)|[^,])+/g) ?? [])
      .map((item) => item.trim())
      .filter((item) => item !== "")
      .map((item) => parseCliValue(shape, item)),
  );

const parseLenientJson = async (argument: string): Promise<unknown> => {
  const parsed = await parseSettings(argument);
  return parsed.ok ? toPlainValue(parsed.node) : argument;
};
