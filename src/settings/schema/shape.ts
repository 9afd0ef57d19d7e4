/** The type of a setting's value. Validation, the JSON Schema and the documentation are generated from it. */
export type Shape =
  | { readonly type: "string"; readonly format?: SettingTextFormat }
  | { readonly type: "enum"; readonly of: readonly string[] }
  | { readonly type: "boolean" }
  | { readonly type: "number"; readonly min: number; readonly max?: number; readonly isInteger?: true }
  /** With `allowsSingle`, one item can be written without brackets. */
  | { readonly type: "list"; readonly of: Shape; readonly isNonEmpty?: true; readonly allowsSingle?: true }
  /** An object with arbitrary keys. `entries` says what they name. */
  | { readonly type: "record"; readonly entries: string; readonly of: Shape; readonly format?: SettingTextFormat }
  /** An object with known fields. At least one of `oneOf` is required. */
  | { readonly type: "object"; readonly fields: SettingFields; readonly oneOf?: readonly string[] }
  | { readonly type: "union"; readonly of: readonly Shape[] };

/** A shape of one type. */
export type ShapeOf<Type extends Shape["type"]> = Extract<Shape, { readonly type: Type }>;

export type SettingFields = { readonly [name: string]: SettingField };

/** A field of an object. A `secret` field is never printed. */
export type SettingField = {
  readonly shape: Shape;
  readonly description: string;
  readonly required?: true;
  readonly secret?: true;
  readonly default?: unknown;
};

/** Formats of strings: a permission rule, an HTTP URL, `provider/model`, or a name without spaces. */
export type SettingTextFormat = "rule" | "url" | "model" | "name";

/** Describes a shape in words. */
export const describeShape = (shape: Shape): string => {
  switch (shape.type) {
    case "string":
      return shape.format === undefined ? "a string" : formatDescriptions[shape.format];
    case "enum":
      return shape.of.map((word) => JSON.stringify(word)).join(" or ");
    case "boolean":
      return "true or false";
    case "number":
      return `${shape.isInteger ? "a whole number" : "a number"} ${shape.max === undefined ? `of ${shape.min} or more` : `from ${shape.min} to ${shape.max}`}`;
    case "list":
      return `${shape.isNonEmpty ? "a non-empty list" : "a list"}, each ${describeShape(shape.of)}`;
    case "record":
      return `an object with ${shape.entries}`;
    case "object":
      return `an object with ${Object.keys(shape.fields).join(", ")}`;
    case "union":
      return shape.of.map(describeShape).join(" or ");
  }
};

const formatDescriptions: Readonly<Record<SettingTextFormat, string>> = {
  rule: "a permission rule such as write_file, run_shell_command(npm test), server:NAME, agent:NAME, host:NAME or path:NAME",
  url: "an http or https URL",
  model: "a model such as anthropic/claude-sonnet-5",
  name: "a name without spaces",
};
