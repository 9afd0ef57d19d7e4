import type { SettingsMember, SettingsNode } from "../../policy/trust/settings-json.ts";
import type { KeyPath } from "../schema/key-path.ts";

/** What a part of a settings file says, as a plain value. Where a key stands twice, the last one counts. */
export const toPlainValue = (node: SettingsNode): unknown => {
  switch (node.type) {
    case "object":
      // `fromEntries` makes "__proto__" a key like any other.
      return Object.fromEntries(node.members.map(({ key, value }) => [key, toPlainValue(value)]));
    case "list":
      return node.items.map(toPlainValue);
    case "value":
      return node.value;
  }
};

/** The member with this key that counts; undefined where there is none. */
export const findMember = (node: SettingsNode, key: string): SettingsMember | undefined =>
  node.type === "object" ? node.members.findLast((member) => member.key === key) : undefined;

/** Where the value at a path begins, or the nearest thing above it that is there. */
export const findOffset = (node: SettingsNode, [name, ...rest]: KeyPath): number => {
  if (name === undefined) return node.start;
  const inside = node.type === "list" ? node.items[Number(name)] : findMember(node, name)?.value;
  return inside === undefined ? node.start : findOffset(inside, rest);
};

/** A place in a text, counted from 1 as editors do. */
export type TextPosition = { readonly line: number; readonly column: number };

/** The line and column of an offset. */
export const positionAt = (text: string, offset: number): TextPosition => {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf("\n") + 1;
  return {
    line: before.split("\n").length,
    column: offset - start + (start === 0 && text.startsWith("\uFEFF") ? 0 : 1),
  };
};
