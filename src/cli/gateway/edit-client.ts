import { isObject } from "../../conversation/json.ts";
import { removeValueFromText, setValueInText } from "../../settings/file/edit.ts";
import type { ClientChanges } from "./clients.ts";

/** The values a client's file had before, by path; `isSet` is false for those it did not have. */
export type PreviousValues = readonly {
  readonly path: readonly string[];
  readonly isSet: boolean;
  readonly value?: unknown;
}[];

/** The changed text of a client's file, and what is needed to restore it. */
export type ClientEdit = { readonly text: string; readonly previous: PreviousValues };

/** Applies changes to the text of a client's settings file. Comments and everything else in it stay. */
export const applyChanges = async (text: string, changes: ClientChanges): Promise<ClientEdit> => {
  if (changes.type === "lines") return { text: addLines(removeLines(text), changes), previous: [] };
  const { parse } = await import("jsonc-parser");
  const before: unknown = text.trim() === "" ? {} : parse(text, [], { allowTrailingComma: true });
  let changed = text;
  for (const { path, value } of changes.values) changed = await setValueInText(changed, path, value);
  return { text: changed, previous: changes.values.map(({ path }) => ({ path, ...valueAt(before, path) })) };
};

/** Restores the text of a client's settings file. What was changed since then stays. */
export const undoChanges = async (text: string, previous: PreviousValues): Promise<string> => {
  if (previous.length === 0) return removeLines(text);
  let restored = text;
  for (const { path, isSet, value } of previous)
    restored = await (isSet ? setValueInText(restored, path, value) : removeValueFromText(restored, path));
  return restored;
};

const valueAt = (value: unknown, path: readonly string[]): { readonly isSet: boolean; readonly value?: unknown } => {
  const found = path.reduce<unknown>((holder, key) => (isObject(holder) ? holder[key] : undefined), value);
  return found === undefined ? { isSet: false } : { isSet: true, value: found };
};

const begin = "# >>> parley gateway";
const end = "# <<< parley gateway";
const disabled = "# parley gateway: ";

const addLines = (text: string, { top = [], bottom = [] }: Extract<ClientChanges, { type: "lines" }>): string => {
  const names = [...top, ...bottom].flatMap((line) => /^\s*([\w.]+)\s*=/.exec(line)?.[1] ?? []);
  const own = new Set(top.length > 0 ? names.slice(0, top.length) : names);
  let isTop = true;
  // A name may stand only once, so an older line is turned into a comment.
  const kept = text.split("\n").map((line) => {
    if (/^\s*\[/.test(line)) isTop = false;
    const name = /^\s*([\w.]+)\s*=/.exec(line)?.[1];
    return name !== undefined && own.has(name) && (isTop || top.length === 0) ? disabled + line : line;
  });
  const block = (lines: readonly string[]): readonly string[] => (lines.length === 0 ? [] : [begin, ...lines, end]);
  const rest = kept.join("\n").replace(/\n+$/, "");
  return [...block(top), ...(rest === "" ? [] : [rest]), ...block(bottom), ""].join("\n");
};

const removeLines = (text: string): string => {
  let isOurs = false;
  const kept = text.split("\n").flatMap((line) => {
    if (line === begin) isOurs = true;
    const isKept = !isOurs;
    if (line === end) isOurs = false;
    return isKept ? [line.startsWith(disabled) ? line.slice(disabled.length) : line] : [];
  });
  return kept.join("\n");
};
