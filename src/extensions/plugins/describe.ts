import { isObject, type JsonObject } from "../../conversation/json.ts";
import { displayCommand, sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { formatPermissionRule } from "../../policy/gate/permission-rules.ts";
import { pluginCapabilities, type Plugin, type PluginCapability } from "./plugin.ts";

/** The things of one kind that a plugin brings, one line each. */
export type CapabilityReport = { readonly kind: PluginCapability; readonly lines: readonly string[] };

/** Describes what a plugin brings, by kind: names, and the whole commands of what would be run. */
export const describeCapabilities = (plugin: Plugin): readonly CapabilityReport[] =>
  pluginCapabilities
    .map((kind) => ({ kind, lines: describeKind(plugin, kind).map((line) => sanitizeForTerminal(line, "line")) }))
    .filter(({ lines }) => lines.length > 0);

/** Describes the permission rules of a plugin, one line each. */
export const describePluginRules = ({ rules }: Plugin): readonly string[] =>
  rules.map(({ list, rule, from }) => sanitizeForTerminal(`${list} ${formatPermissionRule(rule)} (${from})`, "line"));

/** The title of a plugin's permission rules, for people. */
export const pluginRulesTitle = "Permission rules: they only restrict, and apply while the plugin is enabled";

/** The meaning of consent to each kind, for people. */
export const capabilityTitles: { readonly [kind in PluginCapability]: string } = {
  skills: "Skills: instructions that models can activate",
  servers: "MCP servers: programs that are started, or services that are contacted, in every session",
  commands: "Commands: prompts that you can send",
  hooks: "Hooks: programs that run by themselves at events of a session",
  agents: "Agents: subagents that models can use",
  context: "Context: instructions added to the system prompt of every session",
  themes: "Themes: colours of the terminal UI that you can choose",
};

const describeKind = (plugin: Plugin, kind: PluginCapability): readonly string[] => {
  switch (kind) {
    case "skills":
    case "commands":
    case "agents":
    case "themes":
      return plugin[kind].map(({ name }) => name);
    case "servers":
      return Object.entries(plugin.servers).map(([name, server]) => `${name}: ${describeServer(server)}`);
    case "hooks":
      return plugin.hooks.flatMap(({ hooks }) =>
        Object.entries(hooks).flatMap(([event, groups]) =>
          (Array.isArray(groups) ? groups : []).flatMap((group) => describeGroup(event, group)),
        ),
      );
    case "context":
      return plugin.context.map(({ path, bytes }) => `${path}, ${bytes} bytes`);
  }
};

const describeServer = (server: JsonObject): string => {
  const url = server["httpUrl"] ?? server["url"];
  const variables = isObject(server["env"])
    ? Object.entries(server["env"]).map(
        ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
      )
    : [];
  const program = [server["command"] ?? [], Array.isArray(server["args"]) ? server["args"] : []].flat();
  const words = [typeof url === "string" ? url : [], program.length === 0 ? [] : [...variables, ...program]].flat();
  return words.map((word) => displayCommand(String(word))).join(" ");
};

const describeGroup = (event: string, group: unknown): readonly string[] => {
  if (!isObject(group)) return [];
  const matcher = typeof group["matcher"] === "string" && group["matcher"] !== "" ? ` ${group["matcher"]}` : "";
  return (Array.isArray(group["hooks"]) ? group["hooks"] : []).map((hook) => {
    const handler: Readonly<Record<string, unknown>> = isObject(hook) ? hook : {};
    const isHttp = handler["type"] === "http";
    const action = (isHttp ? undefined : handler["command"]) ?? handler["url"] ?? handler["prompt"] ?? handler["tool"];
    const words = [action ?? "", ...(Array.isArray(handler["args"]) && !isHttp ? handler["args"] : [])];
    return `${event}${matcher}: ${words.map((word) => displayCommand(String(word))).join(" ")}`;
  });
};
