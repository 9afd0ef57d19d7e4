import { parseSettings } from "../../policy/trust/settings-json.ts";
import { checkValue, hasNoErrors } from "../schema/check.ts";
import { toPlainValue } from "../file/node.ts";
import type { Shape } from "../schema/shape.ts";

/**
 * The value a person means by a word of the command line: what must be a text is taken as it is, a list may have
 * commas instead of brackets, and all else is JSON. Whether it fits is for `findingsIn` to say.
 */
export const parseCliValue = (shape: Shape, word: string): unknown => {
  switch (shape.type) {
    case "text":
    case "choice":
      return word;
    case "switch":
      return word === "on" ? true : word === "off" ? false : parseLenientJson(word);
    case "number":
      return parseLenientJson(word);
    case "list":
      return word.trimStart().startsWith("[") ? parseLenientJson(word) : splitItems(shape.of, word);
    case "names":
    case "fields":
      return parseLenientJson(word);
    case "either":
      return (
        shape.of.map((one) => parseCliValue(one, word)).find((value) => hasNoErrors(checkValue(shape, value, []))) ??
        word
      );
  }
};

/** Commas within brackets separate nothing: `run_shell_command(a,b)` is one rule. */
const splitItems = (shape: Shape, word: string): readonly unknown[] =>
  (word.match(/(?:\([^)]*\)|[^,])+/g) ?? [])
    .map((item) => item.trim())
    .filter((item) => item !== "")
    .map((item) => parseCliValue(shape, item));

const parseLenientJson = (word: string): unknown => {
  const parsed = parseSettings(word);
  return parsed.ok ? toPlainValue(parsed.node) : word;
};
