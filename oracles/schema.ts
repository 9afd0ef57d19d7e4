/** The part of JSON Schema (draft 07) that the committed schemas use. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
};

/** One committed file: the request type and everything it refers to, by the vendor's own names. */
export type SchemaFile = { readonly $ref: string; readonly definitions: { readonly [name: string]: Schema } };

/** Follows `$ref` to the definition. */
export const resolveReference = (schema: Schema, file: SchemaFile): Schema => {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.replace("#/definitions/", "");
  const found = file.definitions[name];
  if (found === undefined) throw new Error(`The schema refers to ${name}, which it does not define`);
  return resolveReference(found, file);
};
