import {
  capabilityTitles,
  describeCapabilities,
  describePluginRules,
  pluginRulesTitle,
} from "../../extensions/plugins/describe.ts";
import type { Plugin, PluginCapability } from "../../extensions/plugins/plugin.ts";

/** Formats everything a plugin brings. Kinds without agreement are marked, if a list of agreed ones is given. */
export const formatReport = (plugin: Plugin, agreed?: readonly PluginCapability[]): readonly string[] => [
  [plugin.name, plugin.version, plugin.description].filter((part) => part !== undefined && part !== "").join(" - "),
  ...describeCapabilities(plugin).flatMap(({ kind, lines }) => [
    `${capabilityTitles[kind]}${agreed === undefined || agreed.includes(kind) ? "" : " (not agreed, not used)"}`,
    ...lines.map((line) => `  ${line}`),
  ]),
  ...(plugin.rules.length === 0 ? [] : [pluginRulesTitle, ...describePluginRules(plugin).map((line) => `  ${line}`)]),
  ...plugin.problems.map((problem) => `Not used: ${problem}`),
];
