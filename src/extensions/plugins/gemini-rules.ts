import { isObject, type JsonObject } from "../../conversation/json.ts";
import { isToolName } from "../../policy/gate/tool-names.ts";
import { translateGeminiPolicies } from "../permissions/gemini.ts";
import type { TranslatedPermissions } from "../permissions/source-rules.ts";
import { readText } from "./manifest.ts";
import type { PluginRule } from "./plugin.ts";
import type { PluginTree } from "./tree.ts";

/** The rules of an extension, and what of them cannot be applied. */
type ExtensionRules = { readonly rules: readonly PluginRule[]; readonly problems: readonly string[] };

/**
 * Reads what an extension restricts: `excludeTools`, and the policies in `policies/`. Its allow rules are left out, as
 * in Gemini CLI.
 */
export const readGeminiRules = async (
  tree: PluginTree,
  manifest: JsonObject,
  servers: readonly string[],
): Promise<ExtensionRules> => {
  const policies = await Promise.all(
    tree.files
      .filter(({ path }) => /^policies\/[^/]+\.toml$/.test(path))
      .map(({ path }) => readPolicyFile(tree, path, servers)),
  );
  const all = [...readExcludedTools(manifest["excludeTools"], servers), ...policies];
  return {
    rules: uniqueRules(all.flatMap(({ rules }) => rules)),
    problems: all.flatMap(({ problems }) => problems),
  };
};

const readExcludedTools = (given: unknown, servers: readonly string[]): readonly ExtensionRules[] => {
  if (given === undefined) return [];
  if (!Array.isArray(given)) return [{ rules: [], problems: ["excludeTools is not applied: it is not a list."] }];
  return given.map((entry: unknown) => {
    const [, toolName, commandPrefix] = typeof entry === "string" ? (/^([^()]+)(?:\((.*)\))?$/s.exec(entry) ?? []) : [];
    if (toolName === undefined)
      return { rules: [], problems: [`excludeTools: ${JSON.stringify(entry).slice(0, 100)} is not a tool.`] };
    const policy = { decision: "deny", toolName, ...(commandPrefix === undefined ? {} : { commandPrefix }) };
    return toExtensionRules("excludeTools", translateGeminiPolicies([{ rule: nameServers(policy, servers) }]));
  });
};

const readPolicyFile = async (tree: PluginTree, path: string, servers: readonly string[]): Promise<ExtensionRules> => {
  const text = await readText(tree, path);
  if (typeof text !== "string") return { rules: [], problems: [text.problem] };
  const { parse } = await import("smol-toml");
  try {
    const { rule = [], ...rest } = parse(text);
    const policies = (Array.isArray(rule) ? rule : [rule]) as readonly unknown[];
    // An allow rule of an extension counts for nothing, so it makes no exception to the others either.
    const isAllowed = (policy: unknown): boolean => isObject(policy) && policy["decision"] === "allow";
    const restricting = policies.filter((policy) => isObject(policy) && !isAllowed(policy)) as readonly JsonObject[];
    const { rules, problems } = toExtensionRules(
      path,
      translateGeminiPolicies([{ rule: restricting.flatMap((policy) => nameServers(policy, servers)) }]),
    );
    return {
      rules,
      problems: [
        ...problems,
        ...policies.flatMap((policy) =>
          isObject(policy) ? [] : [`${path}: ${JSON.stringify(policy).slice(0, 100)} is not a rule.`],
        ),
        ...(policies.some(isAllowed) ? [`${path}: allow rules of extensions are not applied.`] : []),
        ...Object.keys(rest).map((field) => `${path}: ${field.slice(0, 64)} is not applied.`),
      ],
    };
  } catch {
    return { rules: [], problems: [`${path} is not applied: it is not valid TOML.`] };
  }
};

/**
 * Adds the extension's own servers to a policy for a tool that is not built in: Gemini CLI knows the tools of servers as
 * `TOOL` and as `mcp_SERVER_TOOL`.
 */
const nameServers = (policy: JsonObject, servers: readonly string[]): readonly JsonObject[] => {
  const { toolName } = policy;
  if (Array.isArray(toolName)) return toolName.flatMap((name) => nameServers({ ...policy, toolName: name }, servers));
  if (typeof toolName !== "string" || policy["mcpName"] !== undefined || isToolName(toolName)) return [policy];
  const owner = servers.find((server) => toolName.startsWith(`mcp_${server}_`));
  if (owner !== undefined)
    return [{ ...policy, mcpName: owner, toolName: toolName.slice(`mcp_${owner}_`.length) || "*" }];
  return [policy, ...(/^\w[\w.-]*$/.test(toolName) ? servers.map((server) => ({ ...policy, mcpName: server })) : [])];
};

const toExtensionRules = (from: string, { rules, untranslated }: TranslatedPermissions): ExtensionRules => ({
  rules: rules.flatMap(({ list, rule }) => (list === "allow" ? [] : [{ list, rule, from }])),
  problems: untranslated.map((each) => `${from}: "${each.from}" is not applied: ${each.reason}.`),
});

const uniqueRules = (rules: readonly PluginRule[]): readonly PluginRule[] => [
  ...new Map(rules.map((each) => [JSON.stringify([each.list, each.rule]), each])).values(),
];
