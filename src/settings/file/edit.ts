import { parseSettings, type SettingsMember, type SettingsNode } from "../../policy/trust/settings-json.ts";
import { findMember } from "./node.ts";
import type { KeyPath } from "../schema/key-path.ts";

/**
 * The text of a settings file with a value set, all else as it was: comments, order, indentation, even commas at
 * the end. The text must be a readable object, or empty.
 */
export const setValueInText = (text: string, path: KeyPath, value: unknown): string => {
  const root = parseRoot(text);
  if (root === undefined) return setValueInText("{}\n", path, value);
  const { node, rest } = findDeepest(root, path);
  const lines = detectLineStyle(text);
  const wanted = rest.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  if (rest.length === 0 || node.type !== "object")
    return replaceRange(text, node.start, node.end, lines.write(wanted, lines.indentAt(node.start)));
  const [name = "", ...below] = rest;
  const inside = below.reduceRight<unknown>((inner, each) => ({ [each]: inner }), value);
  return insertMember(text, lines, node, (indent) => `${JSON.stringify(name)}: ${lines.write(inside, indent)}`);
};

/** The text without a value, and without the objects above it that would be left empty. */
export const removeValueFromText = (text: string, path: KeyPath): string => {
  const root = parseRoot(text);
  const found = root === undefined ? undefined : findMemberToRemove(text, root, path);
  // What stands twice must go twice, or the first would count again.
  return found === undefined ? text : removeValueFromText(removeMember(text, found), path);
};

const parseRoot = (text: string): SettingsNode | undefined => {
  const parsed = parseSettings(text);
  return parsed.ok ? parsed.node : undefined;
};

/** The last thing on the way to a path that is there, and what is left of the path. */
const findDeepest = (node: SettingsNode, path: KeyPath): { readonly node: SettingsNode; readonly rest: KeyPath } => {
  const [name, ...rest] = path;
  const inside = name === undefined ? undefined : findMember(node, name);
  return inside === undefined ? { node, rest: path } : findDeepest(inside.value, rest);
};

type LineStyle = {
  /** The white space a line begins with. */
  readonly indentAt: (offset: number) => string;
  readonly write: (value: unknown, indent: string) => string;
  readonly unit: string;
  readonly end: string;
};

/** How this file writes its lines. */
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

const replaceRange = (text: string, start: number, end: number, by: string): string =>
  text.slice(0, start) + by + text.slice(end);

type ObjectNode = Extract<SettingsNode, { readonly type: "object" }>;

/** Puts a member at the end of an object: after the comments that stand there, and with a comma before it. */
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

/** The place of the comma that follows, if only comments and white space stand before it. */
const findCommaAfter = (text: string, from: number): number | undefined => {
  const trivia = /(?:[ \t\r\n]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
  trivia.lastIndex = from;
  const at = from + (trivia.exec(text)?.[0].length ?? 0);
  return text[at] === "," ? at : undefined;
};

/** A member to remove, and the one before it in its object. */
type MemberToRemove = { readonly member: SettingsMember; readonly before: SettingsMember | undefined };

/** The member at a path, or the highest one above it that holds nothing else, not even a comment. */
const findMemberToRemove = (text: string, node: SettingsNode, [name, ...rest]: KeyPath): MemberToRemove | undefined => {
  if (node.type !== "object") return undefined;
  const index = node.members.findLastIndex((member) => member.key === name);
  const member = node.members[index];
  if (member === undefined) return undefined;
  const doomed = { member, before: node.members[index - 1] };
  if (rest.length === 0) return doomed;
  const below = findMemberToRemove(text, member.value, rest);
  return below !== undefined && holdsOnly(text, member.value, below.member) ? doomed : below;
};

const holdsOnly = (text: string, { start, end }: SettingsNode, { start: from, end: to }: SettingsMember): boolean =>
  /^\{\s*$/.test(text.slice(start, from)) && /^\s*,?\s*\}$/.test(text.slice(to, end));

/** Takes a member out with its comma, and with its line where it has one of its own. */
const removeMember = (text: string, { member, before }: MemberToRemove): string => {
  const after = findCommaAfter(text, member.end);
  const lead = after === undefined && before !== undefined ? findCommaAfter(text, before.end) : undefined;
  const end = after === undefined ? member.end : after + 1;
  const around = [text.slice(0, member.start), text.slice(end)] as const;
  const [head, tail] = trimLine(...around) ?? trimGap(...around);
  return (lead === undefined ? head : replaceRange(head, lead, lead + 1, "")) + tail;
};

/** White space on one side of what is taken out is enough. */
const trimGap = (head: string, tail: string): readonly [string, string] =>
  /\n[ \t]*$/.test(head) ? [head, tail.replace(/^[ \t]+/, "")] : [head.replace(/[ \t]+$/, ""), tail];

/** What stands before and after a line, where nothing else but a comment stands on it. */
const trimLine = (head: string, tail: string): readonly [string, string] | undefined => {
  const begin = head.lastIndexOf("\n") + 1;
  const rest = /^[ \t]*(?:\/\/[^\n]*|\/\*[^\n]*?\*\/[ \t]*)?\r?\n/.exec(tail)?.[0];
  return begin === 0 || rest === undefined || head.slice(begin).trim() !== ""
    ? undefined
    : [head.slice(0, begin), tail.slice(rest.length)];
};
