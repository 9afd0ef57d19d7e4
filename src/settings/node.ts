import type { SettingsMember, SettingsNode } from "../policy/settings-json.ts";
import type { Path } from "./path.ts";

/** What a part of a settings file says, as a plain value. Where a key stands twice, the last one counts. */
export const plainOf = (node: SettingsNode): unknown => {
  switch (node.type) {
    case "object":
      // `fromEntries` makes "__proto__" a key like any other.
      return Object.fromEntries(node.members.map(({ key, value }) => [key, plainOf(value)]));
    case "list":
      return node.items.map(plainOf);
    case "value":
      return node.value;
  }
};

/** The member with this key that counts; undefined where there is none. */
export const memberOf = (node: SettingsNode, key: string): SettingsMember | undefined =>
  node.type === "object" ? node.members.findLast((member) => member.key === key) : undefined;

/** Where the value at a path begins, or the nearest thing above it that is there. */
export const offsetOf = (node: SettingsNode, [name, ...rest]: Path): number => {
  if (name === undefined) return node.start;
  const inside = node.type === "list" ? node.items[Number(name)] : memberOf(node, name)?.value;
  return inside === undefined ? node.start : offsetOf(inside, rest);
};

/** A place in a text, counted from 1 as editors do. */
export type Place = { readonly line: number; readonly column: number };

/** The line and column of an offset. */
export const placeOf = (text: string, offset: number): Place => {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf("\n") + 1;
  return {
    line: before.split("\n").length,
    column: offset - start + (start === 0 && text.startsWith("\uFEFF") ? 0 : 1),
  };
};
