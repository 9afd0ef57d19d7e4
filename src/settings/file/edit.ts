import { parseLocatedSettings, type LocatedMember, type LocatedNode } from "../../policy/trust/settings-json.ts";
import { findMember } from "./node.ts";
import type { KeyPath } from "../schema/key-path.ts";

/**
 * Sets a value in the text of a settings file and keeps everything else: comments, order, indentation, trailing commas.
 * The text must be a valid object, or empty. (`modify` of jsonc-parser moves comments and breaks trailing commas.)
 */
export const setValueInText = async (text: string, path: KeyPath, value: unknown): Promise<string> => {
  const root = await parseRoot(text);
  if (root === undefined) return setValueInText("{}\n", path, value);
  const { node, rest } = findDeepest(root, path);
  const lines = detectLineStyle(text);
  const newValue = rest.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  if (rest.length === 0 || node.type !== "object")
    return replaceRange(text, node.start, node.end, lines.write(newValue, lines.indentAt(node.start)));
  const [name = "", ...below] = rest;
  const inside = below.reduceRight<unknown>((inner, each) => ({ [each]: inner }), value);
  return insertMember(text, lines, node, (indent) => `${JSON.stringify(name)}: ${lines.write(inside, indent)}`);
};

/** Removes a value from the text, and the objects around it that would be left empty. */
export const removeValueFromText = async (text: string, path: KeyPath): Promise<string> => {
  const root = await parseRoot(text);
  const found = root === undefined ? undefined : findMemberToRemove(text, root, path);
  // A repeated key is removed every time, or the previous value would take effect again.
  return found === undefined ? text : removeValueFromText(removeMember(text, found), path);
};

const parseRoot = async (text: string): Promise<LocatedNode | undefined> => {
  const parsed = await parseLocatedSettings(text);
  return parsed.ok ? parsed.node : undefined;
};

/** Follows a path as far as it exists. Returns the last node and the rest of the path. */
const findDeepest = (node: LocatedNode, path: KeyPath): { readonly node: LocatedNode; readonly rest: KeyPath } => {
  const [name, ...rest] = path;
  const inside = name === undefined ? undefined : findMember(node, name);
  return inside === undefined ? { node, rest: path } : findDeepest(inside.value, rest);
};

type LineStyle = {
  /** The indentation of the line at an offset. */
  readonly indentAt: (offset: number) => string;
  readonly write: (value: unknown, indent: string) => string;
  readonly unit: string;
  readonly end: string;
};

/** Detects the line ends and indentation of a file. */
const detectLineStyle = (text: string): LineStyle => {
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const unit = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  return {
    unit,
    end,
    indentAt: (offset) => /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1))?.[0] ?? "",
    write: (value, indent) => JSON.stringify(value, undefined, unit).replaceAll("\n", `${end}${indent}`),
  };
};

const replaceRange = (text: string, start: number, end: number, replacement: string): string =>
  text.slice(0, start) + replacement + text.slice(end);

type ObjectNode = Extract<LocatedNode, { readonly type: "object" }>;

/** Inserts a member at the end of an object, after comments, with a comma before it. */
const insertMember = (text: string, lines: LineStyle, node: ObjectNode, write: (indent: string) => string): string => {
  const last = node.members.at(-1);
  const close = node.end - 1;
  const comma = last === undefined ? undefined : findCommaAfter(text, last.end);
  const body = text.slice(node.start + 1, close);
  const at = node.start + 1 + body.replace(/[ \t\r\n]+$/, "").length;
  const head = last === undefined || comma !== undefined ? text.slice(0, at) : insertComma(text, last.end, at);
  const tail = comma === undefined ? "" : ",";
  if (last !== undefined && !body.includes("\n"))
    return `${head} ${write(lines.indentAt(node.start))}${tail}${text.slice(at)}`;
  const outer = lines.indentAt(node.start);
  const indent = last === undefined ? outer + lines.unit : lines.indentAt(last.start);
  const rest = /^[ \t\r]*\n/.test(text.slice(at, close)) ? text.slice(at) : lines.end + outer + text.slice(close);
  return `${head}${lines.end}${indent}${write(indent)}${tail}${rest}`;
};

const insertComma = (text: string, after: number, end: number): string =>
  `${text.slice(0, after)},${text.slice(after, end)}`;

/** The offset of the next comma, if only comments and white space precede it. */
const findCommaAfter = (text: string, from: number): number | undefined => {
  const trivia = /(?:[ \t\r\n]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
  trivia.lastIndex = from;
  const at = from + (trivia.exec(text)?.[0].length ?? 0);
  return text[at] === "," ? at : undefined;
};

/** A member to remove, and the member before it. */
type MemberToRemove = { readonly member: LocatedMember; readonly before: LocatedMember | undefined };

/** Finds the member at a path, or its outermost parent that contains nothing else, not even a comment. */
const findMemberToRemove = (text: string, node: LocatedNode, [name, ...rest]: KeyPath): MemberToRemove | undefined => {
  if (node.type !== "object") return undefined;
  const index = node.members.findLastIndex((member) => member.key === name);
  const member = node.members[index];
  if (member === undefined) return undefined;
  const toRemove = { member, before: node.members[index - 1] };
  if (rest.length === 0) return toRemove;
  const below = findMemberToRemove(text, member.value, rest);
  return below !== undefined && holdsOnly(text, member.value, below.member) ? toRemove : below;
};

const holdsOnly = (text: string, { start, end }: LocatedNode, { start: from, end: to }: LocatedMember): boolean =>
  /^\{\s*$/.test(text.slice(start, from)) && /^\s*,?\s*\}$/.test(text.slice(to, end));

/** Removes a member with its comma, and its line if nothing else is on it. */
const removeMember = (text: string, { member, before }: MemberToRemove): string => {
  const after = findCommaAfter(text, member.end);
  const lead = after === undefined && before !== undefined ? findCommaAfter(text, before.end) : undefined;
  const end = after === undefined ? member.end : after + 1;
  const around = [text.slice(0, member.start), text.slice(end)] as const;
  const [head, tail] = trimLine(...around) ?? trimGap(...around);
  return (lead === undefined ? head : replaceRange(head, lead, lead + 1, "")) + tail;
};

/** Keeps white space on one side only. */
const trimGap = (head: string, tail: string): readonly [string, string] =>
  /\n[ \t]*$/.test(head) ? [head, tail.replace(/^[ \t]+/, "")] : [head.replace(/[ \t]+$/, ""), tail];

/** Returns the text before and after a line if nothing but a comment is left on it. */
const trimLine = (head: string, tail: string): readonly [string, string] | undefined => {
  const begin = head.lastIndexOf("\n") + 1;
  const rest = /^[ \t]*(?:\/\/[^\n]*|\/\*[^\n]*?\*\/[ \t]*)?\r?\n/.exec(tail)?.[0];
  return begin === 0 || rest === undefined || head.slice(begin).trim() !== ""
    ? undefined
    : [head.slice(0, begin), tail.slice(rest.length)];
};
