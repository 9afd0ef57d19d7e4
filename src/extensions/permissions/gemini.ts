import { isObject } from "../../conversation/json.ts";
import type { PermissionRule } from "../../policy/gate/permission-rules.ts";
import type { RuleList } from "../../policy/trust/stored-rules.ts";
import { parseSpecifier } from "../../policy/gate/tool-specifier.ts";
import { scopeOfTool, type CallScope } from "./restrictions.ts";
import { findToolName } from "../../policy/gate/tool-names.ts";
import { mergeTranslated, translated, untranslated, type TranslatedPermissions } from "./source-rules.ts";

/**
 * Translates the rules of Gemini CLI's policy engine (`[[rule]]` of a TOML file). There the highest priority wins; here
 * deny wins over ask, and ask over allow. So a rule that one of higher priority makes an exception to is not taken over.
 */
export const translateGeminiPolicies = (files: readonly unknown[]): TranslatedPermissions => {
  const listTables = (name: string): readonly PolicyFields[] =>
    files
      .flatMap((file) => (isObject(file) && Array.isArray(file[name]) ? (file[name] as readonly unknown[]) : []))
      .filter(isObject);
  const rules = listTables("rule");
  return mergeTranslated([
    ...rules.map((rule) => translatePolicy(rule, rules)),
    ...listTables("safety_checker").map((checker) =>
      untranslated(
        `safety_checker ${describePolicy({ ...checker, decision: "" })}`,
        "it has no counterpart here",
        ...scopesOf(checker),
      ),
    ),
  ]);
};

type PolicyFields = { readonly [field: string]: unknown };

const decisions: { readonly [decision: string]: RuleList } = { allow: "allow", ask_user: "ask", deny: "deny" };

const translatePolicy = (rule: PolicyFields, all: readonly PolicyFields[]): TranslatedPermissions => {
  const list = typeof rule["decision"] === "string" ? decisions[rule["decision"]] : undefined;
  const from = describePolicy(rule);
  const rank = priorityOf(rule);
  const leaveOut = (reason: string): TranslatedPermissions =>
    untranslated(from, reason, ...(list === "allow" ? [] : scopesOf(rule).map((scope) => ({ ...scope, rank }))));
  if (list === undefined) return leaveOut("its decision is not allow, deny or ask_user");
  const condition = Object.keys(rule).find(
    (field) => !plainFields.has(field) && !(field === "modes" && hasEveryMode(rule)),
  );
  if (condition !== undefined) return leaveOut(`it depends on ${condition}, which rules cannot express here`);
  const exception =
    list === "allow"
      ? undefined
      : all.find((each) => each["decision"] === "allow" && priorityOf(each) > rank && mayOverlap(each, rule));
  if (exception !== undefined)
    return leaveOut(
      `"${describePolicy(exception)}" has a higher priority, and ${list} rules have no exceptions here; calls no rule allows are asked about`,
    );
  const results = textsOf(rule["toolName"]).flatMap((tool) =>
    (rule["commandPrefix"] === undefined ? [undefined] : textsOf(rule["commandPrefix"])).map((prefix) =>
      translateTool({ list, tool, prefix, server: rule["mcpName"] }),
    ),
  );
  const server = rule["mcpName"];
  const found =
    results.length === 0
      ? [
          typeof server === "string" && !server.includes("*")
            ? [{ type: "server", name: server } as const]
            : "it names no tool",
        ]
      : results;
  return mergeTranslated(
    found.map((each) =>
      typeof each === "string" ? leaveOut(each) : mergeTranslated(each.map((one) => translated(list, one, from, rank))),
    ),
  );
};

/** Fields that do not limit a rule to some calls. Without one that does, it would be wider. */
const plainFields = new Set([
  "toolName",
  "mcpName",
  "decision",
  "priority",
  "commandPrefix",
  // What it allows besides is asked about here.
  "allowRedirection",
  "allow_redirection",
  "denyMessage",
  "deny_message",
  "name",
  "description",
]);

const hasEveryMode = (rule: PolicyFields): boolean =>
  ["default", "autoEdit", "yolo", "plan"].every((mode) => textsOf(rule["modes"]).includes(mode));

/** The calls a rule is about, at most. */
const scopesOf = (rule: PolicyFields): readonly CallScope[] => {
  if (typeof rule["mcpName"] === "string")
    return [{ tool: rule["mcpName"].includes("*") ? "*" : `mcp__${rule["mcpName"]}` }];
  const tools = textsOf(rule["toolName"]);
  if (tools.length === 0 || tools.some((tool) => tool.includes("*"))) return [{ tool: "*" }];
  const prefixes = textsOf(rule["commandPrefix"]);
  return tools.flatMap((tool): readonly CallScope[] =>
    prefixes.length === 0 || (findToolName(tool) !== undefined && findToolName(tool) !== "run_shell_command")
      ? [scopeOfTool(tool)]
      : prefixes.map((prefix) => ({ ...scopeOfTool(tool), prefix: prefix.trim() })),
  );
};

type PolicyTool = {
  readonly list: RuleList;
  readonly tool: string;
  readonly prefix: string | undefined;
  readonly server: unknown;
};

/** Our rules, or why there are none. */
const translateTool = ({ list, tool, prefix, server }: PolicyTool): readonly PermissionRule[] | string => {
  if (typeof server === "string") {
    if (server.includes("*")) return "rules cannot name servers by a pattern";
    if (tool !== "*" && tool.includes("*")) return "rules cannot name tools by a pattern";
    if (prefix !== undefined) return "a server has no commands";
    return [tool === "*" ? { type: "server", name: server } : { type: "tool", name: tool, server }];
  }
  if (!/^[A-Za-z_][\w.-]*$/.test(tool))
    return tool === "*" ? "rules cannot name every tool" : "rules cannot name tools by a pattern";
  const name = findToolName(tool) ?? tool;
  if (prefix === undefined) return toolsNamed(name, list).map((each) => ({ type: "tool", name: each }));
  if (name !== "run_shell_command") return "commandPrefix needs run_shell_command";
  const parsed = parseSpecifier(`Bash(${prefix.trim()}:*)`);
  if (parsed !== undefined && "problem" in parsed) return parsed.problem;
  return parsed === undefined || prefix.includes("*") ? "* is literal there" : [parsed.rule];
};

/** Both of our edit tools are `replace` there. Allowing it allows the one of that name only. */
export const toolsNamed = (name: string, list: RuleList): readonly string[] =>
  name === "replace" && list !== "allow" ? ["replace", "smart_edit"] : [name];

const priorityOf = (rule: PolicyFields): number => (typeof rule["priority"] === "number" ? rule["priority"] : 0);

/** Whether some call may match both rules. Conditions are not looked at. */
const mayOverlap = (one: PolicyFields, other: PolicyFields): boolean =>
  mayShare(
    one["mcpName"] ?? (hasEveryTool(one) ? undefined : ""),
    other["mcpName"] ?? (hasEveryTool(other) ? undefined : ""),
  ) &&
  mayShare(hasEveryTool(one) ? undefined : one["toolName"], hasEveryTool(other) ? undefined : other["toolName"]) &&
  mayShare(one["commandPrefix"], other["commandPrefix"]);

const hasEveryTool = (rule: PolicyFields): boolean => textsOf(rule["toolName"]).includes("*");

/** Whether two fields may name the same: absent ones name everything, commands also what begins with them. */
const mayShare = (one: unknown, other: unknown): boolean => {
  const [texts, others] = [textsOf(one), textsOf(other)];
  return (
    texts.length === 0 ||
    others.length === 0 ||
    texts.some((text) =>
      others.some((each) => each === text || each.startsWith(`${text} `) || text.startsWith(`${each} `)),
    )
  );
};

const describePolicy = (rule: PolicyFields): string =>
  [
    textsOf(rule["decision"])[0] ?? "?",
    ...textsOf(rule["mcpName"]),
    textsOf(rule["toolName"]).join("|"),
    ...textsOf(rule["commandPrefix"]),
  ]
    .filter((text) => text !== "")
    .join(" ");

const textsOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? (value as readonly unknown[]) : [value]).filter((item) => typeof item === "string");
