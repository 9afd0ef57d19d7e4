import type { Rule } from "./rule.ts";

/** A check without a rule id. Takes any body and never throws. */
export type Check = Rule<unknown>["check"];

/** Creates a rule whose violation the API answers with 400. */
export const rejectedRule = (id: string, check: Check): Rule<unknown> => ({
  id,
  level: "error",
  effect: "rejected",
  check,
});

/** Creates a rule whose violation the API accepts, silently losing or misreading something. */
export const ignoredRule = (id: string, check: Check): Rule<unknown> => ({
  id,
  level: "error",
  effect: "ignored",
  check,
});

/** Creates a rule whose violation the API accepts, though another API, version or model would not. */
export const adviceRule = (id: string, check: Check): Rule<unknown> => ({
  id,
  level: "advice",
  effect: "accepted",
  check,
});

/** Narrows to a JSON object: not null, not an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value when it is an array, else an empty one. */
export const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The value when it is an object, else an empty one. */
export const asObject = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

/** The value when it is a string. */
export const asString = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** True when the object has the key as its own property, so that no inherited name counts as a field. */
export const has = (value: unknown, key: string): boolean => isObject(value) && Object.hasOwn(value, key);

/** A JSON pointer one or more keys deeper, each key escaped as RFC 6901 asks. */
export const join = (pointer: string, ...keys: readonly (string | number)[]): string => {
  let deeper = pointer;
  for (const key of keys) deeper += `/${typeof key === "number" ? key : escapeKey(key)}`;
  return deeper;
};

const escapeKey = (key: string): string =>
  key.includes("~") || key.includes("/") ? key.replaceAll("~", "~0").replaceAll("/", "~1") : key;

/**
 * Memoizes a walk per body. About sixty rules use the same walk. `lint` copies the body for each run, so a body changed
 * in between is walked again.
 */
export const memoize = <Value, Made>(walk: (value: Value) => Made): ((value: Value) => Made) => {
  const known = new WeakMap<object, Made>();
  return (value) => {
    if (typeof value !== "object" || value === null) return walk(value);
    let made = known.get(value);
    if (made === undefined) {
      made = walk(value);
      known.set(value, made);
    }
    return made;
  };
};

/** Memoizes a walk per body and target. */
export const memoizeForTarget = <Target extends object, Made>(
  walk: (body: unknown, target: Target) => Made,
): ((body: unknown, target: Target) => Made) => {
  const byTarget = memoize((target: Target) => memoize((body: unknown) => walk(body, target)));
  return (body, target) => byTarget(target)(body);
};

/** True for text of nothing but white space, the empty text included. */
export const isBlank = (text: string): boolean => text.trim() === "";

/**
 * True when the text can be base64, in the standard or the URL alphabet.
 *
 * Missing padding passes, as servers are lenient about it; a data URL, a path, prose or an impossible length does not.
 */
export const looksBase64 = (text: string): boolean => {
  const compact = whiteSpace.test(text) ? text.replaceAll(everyWhiteSpace, "") : text;
  const padding = compact.endsWith("==") ? 2 : compact.endsWith("=") ? 1 : 0;
  const letters = compact.length - padding;
  return letters > 0 && letters % 4 !== 1 && (standardAlphabet.test(compact) || urlAlphabet.test(compact));
};

const whiteSpace = /\s/;
const everyWhiteSpace = /\s+/g;
const standardAlphabet = /^[A-Za-z0-9+/]*={0,2}$/;
const urlAlphabet = /^[A-Za-z0-9_-]*={0,2}$/;

/** True when the text is JSON whose top value is an object, as arguments of a call have to be. */
export const isJsonObjectText = (text: string): boolean => {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
};

/** One object met while walking a value, with the key it was found under (undefined at the top and inside arrays). */
export type VisitedObject = {
  readonly value: Record<string, unknown>;
  readonly pointer: string;
  readonly key: string | undefined;
};

/** Every object inside a value, outermost first. Keeps its own stack, so depth cannot overflow; `skip` names keys not entered. */
export function* objectsIn(
  top: unknown,
  pointer: string,
  skip: ReadonlySet<string> = new Set(),
): Generator<VisitedObject> {
  const pending: { readonly value: unknown; readonly pointer: string; readonly key: string | undefined }[] = [
    { value: top, pointer, key: undefined },
  ];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, pointer: here, key } = next;
    if (Array.isArray(value))
      value.forEach((item, index) => pending.push({ value: item, pointer: join(here, index), key: undefined }));
    if (!isObject(value)) continue;
    yield { value, pointer: here, key };
    for (const [name, item] of Object.entries(value)) {
      if (!skip.has(name)) pending.push({ value: item, pointer: join(here, name), key: name });
    }
  }
}
