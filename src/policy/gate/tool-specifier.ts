import { parseHostRule } from "./host-rule.ts";
import type { PermissionRule } from "./permission-rules.ts";
import { findToolName } from "./tool-names.ts";

/** The rule a text in the form of Claude Code means, or why it means none. */
export type ParsedSpecifier = { readonly rule: PermissionRule } | { readonly problem: string };

/**
 * Parses a rule in the form of Claude Code: `Tool`, `Tool(specifier)`, `mcp__server__tool`. Undefined if the text does
 * not have that form.
 */
export const parseSpecifier = (text: string): ParsedSpecifier | undefined => {
  const [, server, tool] = /^mcp__(.+?)(?:__(.+))?$/.exec(text) ?? [];
  if (server !== undefined)
    return server.includes("*") || (tool !== "*" && tool?.includes("*") === true)
      ? { problem: "rules cannot name servers or their tools by a pattern" }
      : { rule: serverRule(server, tool) };
  const [, name = "", specifier] = /^([A-Za-z_][\w.-]*)(?:\((.*)\))?$/s.exec(text) ?? [];
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (kind === undefined) return undefined;
  const inner = specifier?.trim();
  if (inner === undefined || inner === "*" || inner === "**") return { rule: toolRule(name, kind) };
  switch (kind) {
    case "command":
      return parseCommandSpecifier(inner);
    case "read":
    case "edit":
      return parsePathSpecifier(name, kind, inner);
    case "host":
      return parseDomain(inner);
    case "tool":
      return { problem: `${name} takes no specifier here` };
  }
};

/** Formats a rule that only this form can express. */
export const formatSpecifier = (rule: Extract<PermissionRule, { readonly type: "files" | "command" }>): string => {
  if (rule.type === "command") return `Bash(${rule.words.join(" ")})`;
  return `${rule.access === "read" ? "Read" : "Edit"}(${rule.pattern})`;
};

/** How the specifier of a tool is read. */
type SpecifierKind = "command" | "read" | "edit" | "host" | "tool";

const kinds: { readonly [tool: string]: SpecifierKind | undefined } = {
  Bash: "command",
  Read: "read",
  Grep: "read",
  Glob: "read",
  LS: "read",
  Edit: "edit",
  MultiEdit: "edit",
  Write: "edit",
  NotebookEdit: "edit",
  WebFetch: "host",
  WebSearch: "tool",
};

/** The tools whose names take a specifier, for suggestions. */
export const specifierTools: readonly string[] = Object.keys(kinds);

const serverRule = (server: string, tool: string | undefined): PermissionRule =>
  tool === undefined || tool === "*" ? { type: "server", name: server } : { type: "tool", name: tool, server };

/** A tool without a specifier. Reading and editing mean files, whichever tool does it. */
const toolRule = (name: string, kind: SpecifierKind): PermissionRule => {
  if (kind === "edit") return { type: "edits" };
  if (name === "Read") return { type: "files", access: "read", pattern: "**" };
  return { type: "tool", name: findToolName(name) ?? name };
};

/** `npm test` means exactly that, `npm test:*` and `npm test *` what begins with it; any other `*` stands for any text. */
const parseCommandSpecifier = (text: string): ParsedSpecifier => {
  const prefix = /^(.*?)(?::\*|\s+\*)$/s.exec(text)?.[1];
  // Other white space is part of a word, as for the shell: a rule with it is not understood.
  const words = (prefix ?? text).trim().split(/[ \t]+/);
  const illegal = words.find((word) => !/^[\w./:@%+=,*-]+$/.test(word));
  if (illegal !== undefined)
    return {
      problem: `${JSON.stringify(illegal)} has quotes, variables or operators, whose meaning would be ambiguous`,
    };
  const hasStar = words.some((word) => word.includes("*"));
  if (hasStar && text.endsWith(":*"))
    return { problem: `"*" before ":*" is no pattern. Did you mean ${text.slice(0, -2)} *?` };
  if (prefix !== undefined && !hasStar) return { rule: { type: "command", words } };
  if (!hasStar) return { rule: { type: "command", words, exact: true } };
  return { rule: { type: "command", words: prefix === undefined ? words : [...words, "*"], isPattern: true } };
};

const parsePathSpecifier = (name: string, access: "read" | "edit", text: string): ParsedSpecifier => {
  if (/[[\]{}?!\\\0]/.test(text)) return { problem: "only * and ** are supported in patterns" };
  if (text.split("/").includes("..")) return { problem: '".." is not supported in patterns' };
  if (/^\/(?!\/)/.test(text))
    return { problem: `a single "/" at the start is ambiguous. Did you mean ${name}(.${text}) or ${name}(/${text})?` };
  const pattern = text.replace(/\/{2,}/g, "/").replace(/^\/(?=.)/, "//");
  return pattern === "/" || pattern === "."
    ? { problem: "the pattern names no file" }
    : { rule: { type: "files", access, pattern } };
};

const parseDomain = (text: string): ParsedSpecifier => {
  const host = /^domain:(.+)$/s.exec(text)?.[1];
  if (host === undefined) return { problem: `Did you mean WebFetch(domain:${text})?` };
  const rule = host.includes("/") ? undefined : parseHostRule(host);
  return rule === undefined ? { problem: `${JSON.stringify(host)} is not a host name` } : { rule };
};
