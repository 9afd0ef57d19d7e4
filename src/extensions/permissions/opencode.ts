import { isObject } from "../../conversation/json.ts";
import type { PermissionRule } from "../../policy/gate/permission-rules.ts";
import { scopeOfCommand, scopeOfTool, type CallScope } from "./restrictions.ts";
import { parseSpecifier } from "../../policy/gate/tool-specifier.ts";
import { findToolName } from "../../policy/gate/tool-names.ts";
import {
  findAllowProblem,
  mergeTranslated,
  noPermissions,
  translated,
  untranslated,
  type TranslatedPermissions,
} from "./source-rules.ts";

/**
 * Translates the `permission` map of an opencode configuration. There the last matching pattern wins; here deny wins
 * over ask, and ask over allow. So a pattern that a later one makes an exception to is not taken over. A project's file
 * comes after that of the home folder.
 */
export const translateOpencodePermissions = (
  config: unknown,
  scope: "user" | "project" = "user",
): TranslatedPermissions => {
  const permission = isObject(config) ? config["permission"] : undefined;
  const entries = listPatterns(typeof permission === "string" ? { "*": permission } : permission);
  const first = scope === "project" ? maxRank : 0;
  return mergeTranslated([
    ...entries.map((entry, at) => translatePattern(entry, entries.slice(at + 1), first + at)),
    ...listDisabledTools(config).map((tool) => translateDisabled(tool)),
    ...listAgents(config).map((agent) =>
      // The agents that a session of the person uses.
      untranslated(`agent ${agent}`, "rules cannot depend on the agent", ...(agent === "build" ? [{ tool: "*" }] : [])),
    ),
  ]);
};

/** More than the patterns of any file. */
const maxRank = 1_000_000;

type PatternRule = { readonly tool: string; readonly pattern: string; readonly action: unknown };

const listPatterns = (permission: unknown): readonly PatternRule[] =>
  Object.entries(isObject(permission) ? permission : {}).flatMap(([tool, value]) =>
    Object.entries(isObject(value) ? value : { "*": value }).map(([pattern, action]) => ({ tool, pattern, action })),
  );

/** The tools an older form switches off: `"tools": { "bash": false }`. */
const listDisabledTools = (config: unknown): readonly string[] => {
  const tools = isObject(config) ? config["tools"] : undefined;
  return Object.entries(isObject(tools) ? tools : {}).flatMap(([tool, isOn]) => (isOn === false ? [tool] : []));
};

const translateDisabled = (tool: string): TranslatedPermissions => {
  const rule = toRule(tool === "write" || tool === "patch" ? "edit" : tool, "*");
  const from = `tools.${tool} false`;
  return typeof rule === "string"
    ? untranslated(from, rule, scopeOfPattern(tool, "*"))
    : translated("deny", rule, from);
};

/** The agents that have permissions or tools of their own. */
const listAgents = (config: unknown): readonly string[] => {
  const agents = isObject(config) ? (config["agent"] ?? config["mode"]) : undefined;
  return Object.entries(isObject(agents) ? agents : {}).flatMap(([name, agent]) =>
    isObject(agent) && (agent["permission"] !== undefined || agent["tools"] !== undefined) ? [name] : [],
  );
};

const translatePattern = (
  { tool, pattern, action }: PatternRule,
  later: readonly PatternRule[],
  rank: number,
): TranslatedPermissions => {
  const restricted = { ...scopeOfPattern(tool, pattern), rank };
  if (action !== "allow" && action !== "ask" && action !== "deny")
    return untranslated(`${tool} ${pattern}`, "its value is not allow, ask or deny", restricted);
  const from = `${action} ${tool}${pattern === "*" ? "" : ` ${pattern}`}`;
  const leaveOut = (reason: string): TranslatedPermissions =>
    untranslated(from, reason, ...(action === "allow" ? [] : [restricted]));
  const exception =
    action === "allow"
      ? undefined
      : later.find((each) => each.action === "allow" && mayOverlap(each, { tool, pattern, action }));
  if (exception !== undefined) {
    const name = exception.tool === tool ? exception.pattern : `${exception.tool} ${exception.pattern}`;
    return leaveOut(
      `"${name}" after it is an exception, and ${action} rules have none here; calls no rule allows are asked about`,
    );
  }
  const rule = toRule(tool, pattern);
  if (typeof rule === "string") return leaveOut(rule);
  // What no rule allows is asked about here anyway; but what an earlier rule allows is asked about there.
  if (action === "ask" && pattern === "*") return { ...noPermissions, restrictions: [{ ...restricted, from }] };
  const problem = action === "allow" ? findAllowProblem(rule) : undefined;
  return problem === undefined ? translated(action, rule, from, rank) : leaveOut(problem);
};

const scopeOfPattern = (tool: string, pattern: string): CallScope => {
  const [start = ""] = tool.split("*", 1);
  // Tools of servers are named after them there: `server_tool`.
  if (start !== tool) return { tool: namedTools.some((name) => name.startsWith(start)) ? "*" : "mcp" };
  return tool === "bash" ? scopeOfCommand(pattern) : scopeOfTool(tool);
};

/** The tools that translated rules can name. */
const namedTools: readonly string[] = [
  "bash",
  "edit",
  "read",
  "grep",
  "webfetch",
  "websearch",
  "todowrite",
  "list",
  "write",
];

/** Whether some call may match both patterns, by what stands before their first `*`. */
const mayOverlap = (one: PatternRule, other: PatternRule): boolean =>
  mayShare(one.tool, other.tool) && mayShare(one.pattern, other.pattern);

const mayShare = (one: string, other: string): boolean => {
  const [a = "", b = ""] = [one, other].map((pattern) => pattern.split(/[*?]/, 1)[0]);
  const [hasStar, otherHasStar] = [one, other].map((pattern) => /[*?]/.test(pattern));
  if (hasStar !== true && otherHasStar !== true) return one === other;
  return a.startsWith(b) || b.startsWith(a);
};

/** Our rule, or why there is none. */
const toRule = (tool: string, pattern: string): PermissionRule | string => {
  const specifier = specifierNames[tool];
  if (pattern.includes("?")) return "? in patterns is not supported";
  if (specifier !== undefined) {
    const parsed = parseSpecifier(pattern === "*" ? specifier : `${specifier}(${pattern})`);
    if (parsed === undefined) return "it names a tool that Parley does not have";
    return "problem" in parsed ? parsed.problem : parsed.rule;
  }
  const name = findToolName(tool);
  if (name === undefined) return "it has no counterpart here";
  return pattern === "*" ? { type: "tool", name } : "patterns are not supported for this tool";
};

const specifierNames: { readonly [tool: string]: string | undefined } = { bash: "Bash", edit: "Edit", read: "Read" };
