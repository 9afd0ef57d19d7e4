import { parseSettings } from "../policy/settings-json.ts";
import { findingsIn, isFree } from "./check.ts";
import { plainOf } from "./node.ts";
import type { Shape } from "./shape.ts";

/**
 * The value a person means by a word of the command line: what must be a text is taken as it is, a list may have
 * commas instead of brackets, and all else is JSON. Whether it fits is for `findingsIn` to say.
 */
export const valueOfWord = (shape: Shape, word: string): unknown => {
  switch (shape.type) {
    case "text":
    case "choice":
      return word;
    case "switch":
      return word === "on" ? true : word === "off" ? false : jsonIn(word);
    case "number":
      return jsonIn(word);
    case "list":
      return word.trimStart().startsWith("[") ? jsonIn(word) : itemsIn(shape.of, word);
    case "names":
    case "fields":
      return jsonIn(word);
    case "either":
      return (
        shape.of.map((one) => valueOfWord(one, word)).find((value) => isFree(findingsIn(shape, value, []))) ?? word
      );
  }
};

/** Commas within brackets separate nothing: `run_shell_command(a,b)` is one rule. */
const itemsIn = (shape: Shape, word: string): readonly unknown[] =>
  (word.match(/(?:\([^)]*\)|[^,])+/g) ?? [])
    .map((item) => item.trim())
    .filter((item) => item !== "")
    .map((item) => valueOfWord(shape, item));

const jsonIn = (word: string): unknown => {
  const parsed = parseSettings(word);
  return parsed.ok ? plainOf(parsed.node) : word;
};
