import { isObject } from "../../conversation/json.ts";
import type { PermissionRule } from "../../policy/gate/permission-rules.ts";
import type { RuleList } from "../../policy/trust/stored-rules.ts";
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
 * over ask, and ask over allow. So a pattern that a later one makes an exception to is not taken over.
 */
export const translateOpencodePermissions = (config: unknown): TranslatedPermissions => {
  const permission = isObject(config) ? config["permission"] : undefined;
  if (typeof permission === "string") return translatePatterns("*", { "*": permission });
  if (!isObject(permission)) return noPermissions;
  return mergeTranslated(
    Object.entries(permission).map(([tool, value]) =>
      translatePatterns(tool, isObject(value) ? value : { "*": value }),
    ),
  );
};

type PatternRule = { readonly pattern: string; readonly list: RuleList };

const translatePatterns = (tool: string, patterns: { readonly [pattern: string]: unknown }): TranslatedPermissions => {
  const entries = Object.entries(patterns);
  const rules = entries.flatMap(([pattern, action]): readonly PatternRule[] =>
    action === "allow" || action === "ask" || action === "deny" ? [{ pattern, list: action }] : [],
  );
  const invalid = entries.filter(([, action]) => action !== "allow" && action !== "ask" && action !== "deny");
  return mergeTranslated([
    ...rules.map((rule, at) => translatePattern(tool, rule, rules.slice(at + 1))),
    ...invalid.map(([pattern]) => untranslated(`${tool} ${pattern}`, "its value is not allow, ask or deny")),
  ]);
};

const translatePattern = (
  tool: string,
  { pattern, list }: PatternRule,
  later: readonly PatternRule[],
): TranslatedPermissions => {
  const from = `${list} ${tool}${pattern === "*" ? "" : ` ${pattern}`}`;
  const exception =
    list === "allow" ? undefined : later.find((each) => each.list === "allow" && mayOverlap(each.pattern, pattern));
  if (exception !== undefined)
    return untranslated(
      from,
      `"${exception.pattern}" after it is an exception, and ${list} rules have none here; calls no rule allows are asked about`,
    );
  const rule = toRule(tool, pattern);
  if (typeof rule === "string") return untranslated(from, rule);
  if (list === "ask" && pattern === "*" && tool !== "*") return noPermissions;
  const problem = list === "allow" ? findAllowProblem(rule) : undefined;
  return problem === undefined ? translated(list, rule, from) : untranslated(from, problem);
};

/** Whether some text may match both patterns, by what stands before their first `*`. */
const mayOverlap = (one: string, other: string): boolean => {
  const [a = "", b = ""] = [one, other].map((pattern) => pattern.split(/[*?]/, 1)[0]);
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
