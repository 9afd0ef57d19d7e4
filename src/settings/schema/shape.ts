/** What a value may be. The check, the schema for editors and the words of the documents are all made from it. */
export type Shape =
  | { readonly type: "text"; readonly format?: SettingTextFormat }
  | { readonly type: "choice"; readonly of: readonly string[] }
  | { readonly type: "switch" }
  | { readonly type: "number"; readonly min: number; readonly max?: number; readonly isInteger?: true }
  /** Where it is `lenient`, one item may stand without brackets. */
  | { readonly type: "list"; readonly of: Shape; readonly isNonEmpty?: true; readonly allowsSingle?: true }
  /** An object with names of the person's choice. `named` says what they name. */
  | { readonly type: "names"; readonly entries: string; readonly of: Shape; readonly format?: SettingTextFormat }
  /** An object with known fields. Of `oneOf`, at least one must be there. */
  | { readonly type: "fields"; readonly fields: SettingFields; readonly oneOf?: readonly string[] }
  | { readonly type: "either"; readonly of: readonly Shape[] };

/** A shape of one type. */
export type ShapeOf<Type extends Shape["type"]> = Extract<Shape, { readonly type: Type }>;

export type SettingFields = { readonly [name: string]: SettingField };

/** A field. What is `secret` is never printed. */
export type SettingField = {
  readonly shape: Shape;
  readonly description: string;
  readonly required?: true;
  readonly secret?: true;
  readonly default?: unknown;
};

/** Texts that mean something: a rule of policy/, an http address, `provider/model`, or a name without a slash. */
export type SettingTextFormat = "rule" | "address" | "model" | "name";

/** What a value may be, in words. */
export const describeShape = (shape: Shape): string => {
  switch (shape.type) {
    case "text":
      return shape.format === undefined ? "a text" : formatDescriptions[shape.format];
    case "choice":
      return shape.of.map((word) => JSON.stringify(word)).join(" or ");
    case "switch":
      return "true or false";
    case "number":
      return `${shape.isInteger ? "a whole number" : "a number"} ${shape.max === undefined ? `of ${shape.min} or more` : `from ${shape.min} to ${shape.max}`}`;
    case "list":
      return `${shape.isNonEmpty ? "a filled list" : "a list"}, each ${describeShape(shape.of)}`;
    case "names":
      return `an object with ${shape.entries}`;
    case "fields":
      return `an object with ${Object.keys(shape.fields).join(", ")}`;
    case "either":
      return shape.of.map(describeShape).join(" or ");
  }
};

const formatDescriptions: Readonly<Record<SettingTextFormat, string>> = {
  rule: "a rule such as write_file, run_shell_command(npm test), server:NAME, host:NAME or path:NAME",
  address: "an http or https address",
  model: "a model such as anthropic/claude-sonnet-5",
  name: "a name without spaces",
};
