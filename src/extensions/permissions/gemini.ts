import { isObject } from "../../conversation/json.ts";
import type { PermissionRule } from "../../policy/gate/permission-rules.ts";
import type { RuleList } from "../../policy/trust/stored-rules.ts";
import { parseSpecifier } from "../../policy/gate/tool-specifier.ts";
import { findToolName } from "../../policy/gate/tool-names.ts";
import { mergeTranslated, translated, untranslated, type TranslatedPermissions } from "./source-rules.ts";

/**
 * Translates the rules of Gemini CLI's policy engine (`[[rule]]` of a TOML file). There the highest priority wins; here
 * deny wins over ask, and ask over allow. So a rule that one of higher priority makes an exception to is not taken over.
 */
export const translateGeminiPolicies = (files: readonly unknown[]): TranslatedPermissions => {
  const rules = files
    .flatMap((file) => (isObject(file) && Array.isArray(file["rule"]) ? (file["rule"] as readonly unknown[]) : []))
    .filter(isObject);
  return mergeTranslated(rules.map((rule) => translatePolicy(rule, rules)));
};

type PolicyFields = { readonly [field: string]: unknown };

const decisions: { readonly [decision: string]: RuleList } = { allow: "allow", ask_user: "ask", deny: "deny" };

const translatePolicy = (rule: PolicyFields, all: readonly PolicyFields[]): TranslatedPermissions => {
  const list = typeof rule["decision"] === "string" ? decisions[rule["decision"]] : undefined;
  const from = describePolicy(rule);
  if (list === undefined) return untranslated(from, "its decision is not allow, deny or ask_user");
  const condition = conditions.find((field) => rule[field] !== undefined);
  if (condition !== undefined) return untranslated(from, `it depends on ${condition}, which rules cannot express here`);
  const exception =
    list === "allow"
      ? undefined
      : all.find(
          (each) => each["decision"] === "allow" && priorityOf(each) > priorityOf(rule) && mayOverlap(each, rule),
        );
  if (exception !== undefined)
    return untranslated(
      from,
      `"${describePolicy(exception)}" has a higher priority, and ${list} rules have no exceptions here; calls no rule allows are asked about`,
    );
  const results = textsOf(rule["toolName"]).flatMap((tool) =>
    (rule["commandPrefix"] === undefined ? [undefined] : textsOf(rule["commandPrefix"])).map((prefix) =>
      translateTool({ list, from, tool, prefix, server: rule["mcpName"] }),
    ),
  );
  if (results.length > 0) return mergeTranslated(results);
  return typeof rule["mcpName"] === "string" && !rule["mcpName"].includes("*")
    ? translated(list, { type: "server", name: rule["mcpName"] }, from)
    : untranslated(from, "it names no tool");
};

/** Fields that limit a rule to some calls. Without them it would be wider. */
const conditions = ["argsPattern", "commandRegex", "modes", "interactive", "subagent", "toolAnnotations"];

type PolicyTool = {
  readonly list: RuleList;
  readonly from: string;
  readonly tool: string;
  readonly prefix: string | undefined;
  readonly server: unknown;
};

const translateTool = ({ list, from, tool, prefix, server }: PolicyTool): TranslatedPermissions => {
  if (typeof server === "string") {
    if (server.includes("*")) return untranslated(from, "rules cannot name servers by a pattern");
    if (tool !== "*" && tool.includes("*")) return untranslated(from, "rules cannot name tools by a pattern");
    const rule: PermissionRule = tool === "*" ? { type: "server", name: server } : { type: "tool", name: tool, server };
    return prefix === undefined ? translated(list, rule, from) : untranslated(from, "a server has no commands");
  }
  if (!/^[A-Za-z_][\w.-]*$/.test(tool))
    return untranslated(from, tool === "*" ? "rules cannot name every tool" : "rules cannot name tools by a pattern");
  const name = findToolName(tool) ?? tool;
  if (prefix === undefined)
    return mergeTranslated(toolsNamed(name, list).map((each) => translated(list, { type: "tool", name: each }, from)));
  if (name !== "run_shell_command") return untranslated(from, "commandPrefix needs run_shell_command");
  const parsed = parseSpecifier(`Bash(${prefix.trim()}:*)`);
  if (parsed === undefined || "problem" in parsed || prefix.includes("*"))
    return untranslated(from, parsed !== undefined && "problem" in parsed ? parsed.problem : "* is literal there");
  return translated(list, parsed.rule, from);
};

/** Both of our edit tools are `replace` there. Allowing it allows the one of that name only. */
const toolsNamed = (name: string, list: RuleList): readonly string[] =>
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
