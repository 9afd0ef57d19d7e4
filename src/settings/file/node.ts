import type { LocatedMember, LocatedNode, SettingsNode } from "../../policy/trust/settings-json.ts";
import type { KeyPath } from "../schema/key-path.ts";

/** Converts a node to a plain value. The last of repeated keys wins. */
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

/** Finds the last member with a key, which is the one in effect. */
export const findMember = (node: LocatedNode, key: string): LocatedMember | undefined =>
  node.type === "object" ? node.members.findLast((member) => member.key === key) : undefined;

/** Returns the offset of the value at a path, or of its nearest existing parent. */
export const findOffset = (node: LocatedNode, [name, ...rest]: KeyPath): number => {
  if (name === undefined) return node.start;
  const inside = node.type === "list" ? node.items[Number(name)] : findMember(node, name)?.value;
  return inside === undefined ? node.start : findOffset(inside, rest);
};

/** A line and column, counted from 1. */
export type TextPosition = { readonly line: number; readonly column: number };

/** Returns the line and column of an offset. */
export const positionAt = (text: string, offset: number): TextPosition => {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf("\n") + 1;
  return {
    line: before.split("\n").length,
    column: offset - start + (start === 0 && text.startsWith("\uFEFF") ? 0 : 1),
  };
};
