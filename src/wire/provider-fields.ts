import type { ProviderField, ProviderFields, ToolDeclaration } from "../conversation/entry.ts";
import { isObject, toPlainJson, type JsonObject, type JsonValue } from "../conversation/json.ts";
import { note, type Note } from "../conversation/notes.ts";
import type { Target } from "../transcript/target.ts";
import type { AdaptedSchema } from "./schema/adapt.ts";

/** The fields of one API family that are carried over unchanged, by path. */
export type FieldTable = {
  /** Accepted by every model. */
  readonly carried: Readonly<Record<string, FieldShape>>;
  /** Refused by models without sampling settings. */
  readonly sampling: Readonly<Record<string, FieldShape>>;
  /** Accepted only where the request has another path. */
  readonly conditional: Readonly<Record<string, string>>;
  /**
   * Also read as settings and encoded from those. The original is written where encoding the settings left the field
   * unset and the request has the path named here; a path that names itself is never added, only compared.
   */
  readonly settings: Readonly<Record<string, string>>;
};

/** The type a field must have; other values are noted and left out. */
type FieldShape = "number" | "string" | "boolean" | "list" | "object" | "any";

const hasShape = (value: unknown, shape: FieldShape): boolean => {
  if (shape === "any") return true;
  if (shape === "list") return Array.isArray(value);
  return shape === "object" ? isObject(value) : typeof value === shape;
};

/** A field of the table found in a body, with its JSON pointer. */
export type FoundField = { readonly field: ProviderField; readonly pointer: string };

/** Finds the fields of a table in a body. Nulls are ignored. Keys are found in camelCase and snake_case. */
export const findFields = (body: Record<string, unknown>, table: FieldTable, root: string): readonly FoundField[] => [
  ...Object.entries(table.carried).flatMap(([path, shape]) => ofShape(shape, findField(body, path, root, {}))),
  ...Object.entries(table.sampling).flatMap(([path, shape]) =>
    ofShape(shape, findField(body, path, root, { sampling: true })),
  ),
  ...Object.entries(table.settings).flatMap(([path, needs]) =>
    findField(body, path, root, { needs, translated: true }),
  ),
  ...Object.entries(table.conditional).flatMap(([path, needs]) => findField(body, path, root, { needs })),
];

const ofShape = (shape: FieldShape, found: readonly FoundField[]): readonly FoundField[] =>
  found.filter(({ field }) => hasShape(field.value, shape));

const findField = (
  body: Record<string, unknown>,
  path: string,
  root: string,
  when: Pick<ProviderField, "needs" | "sampling" | "translated">,
): readonly FoundField[] => {
  let holder: unknown = body;
  let at = "";
  const keys = path.split("/");
  const last = keys.pop()!;
  for (const key of keys) {
    holder = isObject(holder) ? holder[findKey(holder, key) ?? key] : undefined;
    at += `${key}/`;
  }
  if (!isObject(holder)) return [];
  const key = findKey(holder, last);
  const value = key === undefined ? undefined : holder[key];
  if (value === undefined || value === null) return [];
  const place = at + last;
  const loss = lossMessage(`${root}/${place}`);
  return [{ field: { at: place, value: toPlainJson(value).value, ...when, loss }, pointer: `${root}/${at}${key}` }];
};

/** The note message for a field that is not written. */
export const lossMessage = (pointer: string): string => `The field ${pointer} is not carried over.`;

/** Finds the key for `name` in an object: camelCase or snake_case. */
const findKey = (holder: Record<string, unknown>, name: string): string | undefined => {
  if (Object.hasOwn(holder, name)) return name;
  const other = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.hasOwn(holder, other) ? other : undefined;
};

/** Whether a target is the model the fields were read from. */
export const isForTarget = ({ provider, model }: ProviderFields, target: Target): boolean =>
  provider === target.provider && (model === "" || model === target.model);

/** Returns the notes for fields that are left out because the target is another model. */
export const lossNotes = ({ fields }: ProviderFields): readonly Note[] =>
  fields.filter(({ translated }) => translated !== true).map(lossNote);

/** The note for an answer whose schema the API does not enforce. */
export const unenforcedNote: Note = note(
  "setting-adapted",
  "This model cannot be held to the schema of the answer here; the answer is checked when it has arrived.",
);

const lossNote = ({ kind, loss }: ProviderField): Note => note(kind ?? "unread-field", loss);

/**
 * Adds carried-over fields to a body. Fields the body has already win; what cannot be added leaves a note. The body's
 * last key, its messages, stays last.
 */
export const addProviderFields = (
  body: JsonObject,
  extra: ProviderFields | undefined,
  { takes, notes }: { readonly takes: (field: ProviderField) => boolean; readonly notes: Note[] },
): JsonObject => {
  if (extra === undefined) return body;
  let extended = body;
  for (const field of extra.fields) {
    const isTaken = takes(field) && (field.needs === undefined || hasPath(extended, field.needs.split("/")));
    const next = isTaken ? addField(extended, field.at.split("/"), field.value) : undefined;
    if (next === undefined) notes.push(lossNote(field));
    else extended = next;
  }
  return keepLastKey(body, extended);
};

/** Adds carried-over fields to a declared tool. `strict` is kept only for an unchanged schema without additional properties. */
export const addToolFields = (
  declared: JsonObject,
  { extra }: ToolDeclaration,
  { adapted, notes }: { readonly adapted: AdaptedSchema | undefined; readonly notes: Note[] },
): JsonObject => {
  const isClosed = adapted?.changed === undefined && adapted?.schema["additionalProperties"] === false;
  return addProviderFields(declared, extra, {
    takes: ({ at, value }) => isClosed || at !== "strict" || value !== true,
    notes,
  });
};

const hasPath = (value: JsonValue | undefined, [key, ...rest]: readonly string[]): boolean => {
  if (key === undefined) return value !== undefined;
  return isObject(value) && hasPath((value as JsonObject)[key], rest);
};

/** Returns the object with a value set at a path; undefined where another value is there already. */
const addField = (
  holder: JsonObject,
  [key = "", ...rest]: readonly string[],
  value: JsonValue,
): JsonObject | undefined => {
  const existing = holder[key];
  if (rest.length === 0)
    return existing === undefined ? { ...holder, [key]: value } : isSame(existing, value) ? holder : undefined;
  if (rest[0] === "-") {
    if (existing !== undefined && !Array.isArray(existing)) return undefined;
    const list = (existing ?? []) as readonly JsonValue[];
    return list.some((item) => isSame(item, value)) ? holder : { ...holder, [key]: [...list, value] };
  }
  if (existing !== undefined && !isObject(existing)) return undefined;
  const below = addField((existing ?? {}) as JsonObject, rest, value);
  return below === undefined ? undefined : { ...holder, [key]: below };
};

const isSame = (one: JsonValue, other: JsonValue): boolean => JSON.stringify(one) === JSON.stringify(other);

const keepLastKey = (body: JsonObject, extended: JsonObject): JsonObject => {
  const last = Object.keys(body).at(-1);
  if (last === undefined || extended === body) return extended;
  const { [last]: messages, ...rest } = extended;
  return { ...rest, [last]: messages! };
};
