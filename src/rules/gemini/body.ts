import type { RuleTarget } from "../rule.ts";
import { asString, isObject, join, memoizeForTarget } from "../walk.ts";

/** A value found in the body, with the pointer to it. */
export type LocatedValue = { readonly value: unknown; readonly pointer: string };

/** One element of `contents`. */
export type GeminiBodyContent = {
  readonly index: number;
  readonly pointer: string;
  readonly value: Record<string, unknown>;
  readonly role: string;
  readonly parts: readonly GeminiBodyPart[];
};

/**
 * One part of a content. `kind` is the first data field that is set, in camelCase; `data` is its value; `role` is its
 * content's.
 */
export type GeminiBodyPart = {
  readonly pointer: string;
  /** Its place as the vendor's messages name it. */
  readonly path: string;
  readonly role: string;
  readonly value: Record<string, unknown>;
  readonly kind: string | undefined;
  readonly data: LocatedValue;
};

/** The fields of which a part has exactly one. */
export const dataFields: readonly string[] = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
  "audioTranscription",
];

/** The GenerateContentRequest: the body itself, or what the Code Assist envelope wraps. */
export const requestIn = (body: unknown, target: RuleTarget): LocatedValue => {
  const wrapped =
    isObject(body) && isObject(body["request"]) && (target.provider === "code-assist" || !("contents" in body));
  return wrapped ? { value: body["request"], pointer: "/request" } : { value: body, pointer: "" };
};

/** A field by its camelCase name, also when it is spelled in snake_case. A null counts as unset, as in protobuf's JSON. */
export const pick = (from: LocatedValue, name: string): LocatedValue | undefined => {
  if (!isObject(from.value)) return undefined;
  return (
    pickKey(from.value, name, from.pointer) ??
    pickKey(from.value, snakeSpellings.get(name) ?? snakeCase(name), from.pointer)
  );
};

const pickKey = (object: Record<string, unknown>, key: string, pointer: string): LocatedValue | undefined => {
  if (!Object.hasOwn(object, key)) return undefined;
  const value = object[key];
  return value === undefined || value === null ? undefined : { value, pointer: join(pointer, key) };
};

/** An absent field, so that a lookup can continue from it. */
export const emptyField: LocatedValue = { value: undefined, pointer: "" };

/** True for the number of an enum's value, which protobuf's JSON takes in place of the name. */
export const isEnumNumber = (value: unknown, names: ReadonlySet<string>): boolean =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value < names.size;

/** `functionCall` as `function_call`. */
export const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The snake_case names that occur in every content, computed once. */
const snakeSpellings: ReadonlyMap<string, string> = new Map(
  [
    ...dataFields,
    "contents",
    "parts",
    "role",
    "id",
    "name",
    "args",
    "response",
    "thoughtSignature",
    "mimeType",
    "fileUri",
  ].map((name) => [name, snakeCase(name)]),
);

/** `function_call` as `functionCall`. */
export const camelCase = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The elements of a repeated field; a single object counts as a list of one, as the API reads it. */
export const repeatedField = (found: LocatedValue | undefined): readonly LocatedValue[] => {
  if (found === undefined) return [];
  if (isObject(found.value)) return [found];
  return Array.isArray(found.value)
    ? found.value.map((value, index) => ({ value, pointer: join(found.pointer, index) }))
    : [];
};

/** Every content of the body that is an object, with its parts. A missing role means `user`. */
export const contentsOf: (body: unknown, target: RuleTarget) => readonly GeminiBodyContent[] = memoizeForTarget(
  (body: unknown, target: RuleTarget) => [...walkContentsOf(body, target)],
);

function* walkContentsOf(body: unknown, target: RuleTarget): Generator<GeminiBodyContent> {
  let index = 0;
  for (const found of repeatedField(pick(requestIn(body, target), "contents"))) {
    if (isObject(found.value)) yield contentAt(found, found.value, index);
    index += 1;
  }
}

const contentAt = (found: LocatedValue, value: Record<string, unknown>, index: number): GeminiBodyContent => {
  const role = asString(value["role"]) || "user";
  const parts: GeminiBodyPart[] = [];
  for (const [position, part] of repeatedField(pick(found, "parts")).entries()) {
    if (isObject(part.value)) parts.push(partAt(part, part.value, `contents[${index}].parts[${position}]`, role));
  }
  return { index, pointer: found.pointer, value, role, parts };
};

const partAt = (
  { pointer }: LocatedValue,
  value: Record<string, unknown>,
  path: string,
  role: string,
): GeminiBodyPart => {
  for (const key of Object.keys(value)) {
    const kind = kindsByField.get(key);
    const data = kind === undefined ? undefined : pickKey(value, key, pointer);
    if (data !== undefined) return { pointer, path, role, value, kind, data };
  }
  return { pointer, path, role, value, kind: undefined, data: { value: undefined, pointer } };
};

/** Both spellings of every data field. */
export const kindsByField: ReadonlyMap<string, string> = new Map(
  dataFields.flatMap((name) => [
    [name, name],
    [snakeCase(name), name],
  ]),
);

/** Every part of every content. */
export const partsOf: (body: unknown, target: RuleTarget) => readonly GeminiBodyPart[] = memoizeForTarget(
  (body: unknown, target: RuleTarget) => [...walkPartsOf(body, target)],
);

function* walkPartsOf(body: unknown, target: RuleTarget): Generator<GeminiBodyPart> {
  for (const content of contentsOf(body, target)) yield* content.parts;
}

/** The parts inside a functionResponse part. */
export const nestedParts = (part: GeminiBodyPart): readonly LocatedValue[] =>
  part.kind === "functionResponse" ? repeatedField(pick(part.data, "parts")) : [];

/** Consecutive contents of one side, in order. The role `function` counts as the user. */
export type ContentRun = { readonly side: "user" | "model"; readonly contents: readonly GeminiBodyContent[] };

/** The contents grouped into runs of one side, as the API reads them. */
export const runsOf: (body: unknown, target: RuleTarget) => readonly ContentRun[] = memoizeForTarget(
  (body: unknown, target: RuleTarget) => [...walkRunsOf(body, target)],
);

function* walkRunsOf(body: unknown, target: RuleTarget): Generator<ContentRun> {
  let run: { side: ContentRun["side"]; contents: GeminiBodyContent[] } | undefined;
  for (const content of contentsOf(body, target)) {
    const side = content.role === "model" ? "model" : "user";
    if (run?.side === side) run.contents.push(content);
    else {
      if (run !== undefined) yield run;
      run = { side, contents: [content] };
    }
  }
  if (run !== undefined) yield run;
}

/** A text field, or undefined when it is absent, empty or no text. */
export const textIn = (from: LocatedValue, name: string): string | undefined =>
  asString(pick(from, name)?.value) || undefined;
