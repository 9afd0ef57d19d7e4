import type { RuleList, StoredRule } from "../trust/stored-rules.ts";
import { formatPermissionRule, type PermissionRule, type PermissionRuleSources } from "./permission-rules.ts";

/** How long an added rule holds: for this session, or in this project also in later ones. */
export type RuleScope = "session" | "project";

/** A permission rule that is in force, and where it comes from. "project settings" are files of the project, which only deny. */
export type ListedRule = StoredRule & {
  readonly scope: RuleScope | "settings" | "command line" | "project settings" | "plugin";
  /** The name of the plugin. */
  readonly plugin?: string;
};

/** Describes where a rule comes from. */
export const describeRuleSource = ({ scope, plugin }: ListedRule): string => {
  switch (scope) {
    case "session":
      return "this session";
    case "project":
      return "this project";
    case "settings":
      return "your settings";
    case "command line":
      return "command line";
    case "project settings":
      return "the project's settings";
    case "plugin":
      return `the plugin ${plugin ?? ""}`;
  }
};

/** Lists the rules in force of the command line, the settings, the project and plugins. */
export const listConfiguredRules = (
  { commandLine, settings, project = [], plugins = [] }: PermissionRuleSources,
  trusted: boolean,
): readonly ListedRule[] => {
  const listed = (
    list: RuleList,
    scope: ListedRule["scope"],
    rules: readonly PermissionRule[] = [],
  ): readonly ListedRule[] => rules.map((rule) => ({ list, scope, rule }));
  return [
    ...listed("allow", "command line", commandLine?.allow),
    ...listed("allow", "settings", trusted ? settings?.allow : []),
    ...listed("ask", "command line", commandLine?.ask),
    ...listed("ask", "settings", settings?.ask),
    ...listed("deny", "command line", commandLine?.deny),
    ...listed("deny", "settings", settings?.deny),
    ...listed("deny", "project settings", trusted ? project : []),
    ...plugins.map(({ list, rule, plugin }) => ({ list, rule, scope: "plugin" as const, plugin })),
  ];
};

/** Describes a limit of a rule that its text does not show: only these words, or a server as it was shown. */
export const describeRuleMatch = (rule: PermissionRule): string => {
  if (rule.type === "command") return rule.exact === true ? "exactly" : "";
  return "identity" in rule && rule.identity !== undefined ? "as shown when you answered" : "";
};

/** Whether a rule has this text, in either form. */
export const hasRuleText = ({ rule }: StoredRule, text: string): boolean =>
  formatPermissionRule(rule) === text ||
  (rule.type === "command" && `run_shell_command(${rule.words.join(" ")})` === text);
