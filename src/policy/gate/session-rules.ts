import type { RuleList } from "../trust/stored-rules.ts";
import type { PermissionRule } from "./permission-rules.ts";

/** A rule that holds for the session. */
export type SessionRule = { readonly list: RuleList; readonly rule: PermissionRule };

/** A rule of the session that was added or taken back. */
export type SessionRuleChange = SessionRule & { readonly change: "add" | "remove" };

/** The rules of a session that hold from the start, and the recorder of changes to them. */
export type SessionRules = {
  readonly initial: readonly SessionRule[];
  readonly record: (change: SessionRuleChange) => Promise<void>;
};

/**
 * Whether a rule means the same in a later run. A tool, server or agent that is allowed by its name alone may be another one by
 * then; an answer to a question is bound to what was shown.
 */
export const isBoundToContent = ({ list, rule }: SessionRule): boolean =>
  list !== "allow" ||
  (rule.type !== "tool" && rule.type !== "server" && rule.type !== "agent") ||
  rule.identity !== undefined;

/** Reads a rule from JSON. Undefined for one with other fields: a newer version may have written it, and one may restrict it. */
export const readSessionRule = (value: object): PermissionRule | undefined => {
  const { type, ...fields } = value as { readonly [field: string]: unknown };
  const shape = typeof type === "string" && Object.hasOwn(shapes, type) ? shapes[type as RuleType] : undefined;
  if (shape === undefined || Object.keys(fields).some((name) => !Object.hasOwn(shape, name))) return undefined;
  const isValid = Object.entries(shape).every(([name, check]) => check(fields[name]));
  return isValid ? (value as PermissionRule) : undefined;
};

type RuleType = PermissionRule["type"];
type FieldCheck = (value: unknown) => boolean;

const isText: FieldCheck = (value) => typeof value === "string" && value !== "";
const isTrue: FieldCheck = (value) => value === true;
const isWords: FieldCheck = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string");
const optional =
  (check: FieldCheck): FieldCheck =>
  (value) =>
    value === undefined || check(value);

const shapes: { readonly [type in RuleType]: { readonly [field: string]: FieldCheck } } = {
  edits: {},
  tool: { name: isText, server: optional(isText), identity: optional(isText) },
  server: { name: isText, identity: optional(isText) },
  agent: { name: isText, identity: optional(isText) },
  command: { words: isWords, exact: optional(isTrue), isPattern: optional(isTrue) },
  host: { host: isText, path: optional(isText) },
  path: { path: isText },
  files: { access: (value) => value === "read" || value === "edit", pattern: isText },
};
