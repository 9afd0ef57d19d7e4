/** What a value may be. The check, the schema for editors and the words of the documents are all made from it. */
export type Shape =
  | { readonly type: "text"; readonly format?: TextFormat }
  | { readonly type: "choice"; readonly of: readonly string[] }
  | { readonly type: "switch" }
  | { readonly type: "number"; readonly least: number; readonly most?: number; readonly whole?: true }
  /** Where it is `lenient`, one item may stand without brackets. */
  | { readonly type: "list"; readonly of: Shape; readonly filled?: true; readonly lenient?: true }
  /** An object with names of the person's choice. `named` says what they name. */
  | { readonly type: "names"; readonly named: string; readonly of: Shape; readonly format?: TextFormat }
  /** An object with known fields. Of `oneOf`, at least one must be there. */
  | { readonly type: "fields"; readonly fields: Fields; readonly oneOf?: readonly string[] }
  | { readonly type: "either"; readonly of: readonly Shape[] };

/** A shape of one type. */
export type ShapeOf<Type extends Shape["type"]> = Extract<Shape, { readonly type: Type }>;

export type Fields = { readonly [name: string]: Field };

/** A field. What is `secret` is never printed. */
export type Field = {
  readonly shape: Shape;
  readonly about: string;
  readonly required?: true;
  readonly secret?: true;
  readonly default?: unknown;
};

/** Texts that mean something: a rule of policy/, an http address, `provider/model`, or a name without a slash. */
export type TextFormat = "rule" | "address" | "model" | "name";

/** What a value may be, in words. */
export const wordsOf = (shape: Shape): string => {
  switch (shape.type) {
    case "text":
      return shape.format === undefined ? "a text" : formatWords[shape.format];
    case "choice":
      return shape.of.map((word) => JSON.stringify(word)).join(" or ");
    case "switch":
      return "true or false";
    case "number":
      return `${shape.whole ? "a whole number" : "a number"} ${shape.most === undefined ? `of ${shape.least} or more` : `from ${shape.least} to ${shape.most}`}`;
    case "list":
      return `${shape.filled ? "a filled list" : "a list"}, each ${wordsOf(shape.of)}`;
    case "names":
      return `an object with ${shape.named}`;
    case "fields":
      return `an object with ${Object.keys(shape.fields).join(", ")}`;
    case "either":
      return shape.of.map(wordsOf).join(" or ");
  }
};

const formatWords: Readonly<Record<TextFormat, string>> = {
  rule: "a rule such as write_file, run_shell_command(npm test), server:NAME, host:NAME or path:NAME",
  address: "an http or https address",
  model: "a model such as anthropic/claude-sonnet-5",
  name: "a name without spaces",
};
