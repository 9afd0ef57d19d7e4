import {
  capabilityTitles,
  describeCapabilities,
  describePluginRules,
  pluginRulesTitle,
} from "../../extensions/plugins/describe.ts";
import type { Plugin, PluginCapability } from "../../extensions/plugins/plugin.ts";

/**
 * Formats what a plugin brings. With the list of agreed kinds, it is everything, and others are marked. Without one, what
 * only has a name is cut after some lines, so that it cannot push programs off the screen.
 */
export const formatReport = (plugin: Plugin, agreed?: readonly PluginCapability[]): readonly string[] => [
  [plugin.name, plugin.version, plugin.description].filter((part) => part !== undefined && part !== "").join(" - "),
  ...describeCapabilities(plugin).flatMap(({ kind, lines }) => [
    `${capabilityTitles[kind]}${agreed === undefined || agreed.includes(kind) ? "" : " (not agreed, not used)"}`,
    ...(agreed === undefined && namedKinds.has(kind) ? shorten(lines) : lines).map((line) => `  ${line}`),
  ]),
  ...(plugin.rules.length === 0 ? [] : [pluginRulesTitle, ...describePluginRules(plugin).map((line) => `  ${line}`)]),
  ...plugin.problems.map((problem) => `Not used: ${problem}`),
];

const namedKinds: ReadonlySet<PluginCapability> = new Set(["skills", "commands", "agents", "themes"]);

const shorten = (lines: readonly string[]): readonly string[] =>
  lines.length <= maxNames ? lines : [...lines.slice(0, maxNames), `and ${lines.length - maxNames} more`];

const maxNames = 200;
