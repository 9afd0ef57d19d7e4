import { nearestNames } from "../../conversation/nearest-names.ts";
import { chooseInitialMode } from "../../policy/gate/approval-mode.ts";
import {
  parsePermissionRule,
  mergePermissionRules,
  formatPermissionRule,
  type PermissionRuleSources,
  type PermissionRules,
} from "../../policy/gate/permission-rules.ts";
import { findToolName, ownToolNames } from "../../policy/gate/tool-names.ts";
import type { ProjectSettings } from "../../policy/trust/project-settings.ts";
import type { LoadedSettings } from "./load.ts";
import type { SettingSource, SettingSources } from "./merge.ts";
import type { Settings, PartialSettings } from "../schema/values.ts";

/** Permission settings before trust and the project restrict them. */
type PermissionInputs = {
  /** The merged settings. */
  readonly values: PartialSettings;
  readonly sources: SettingSources;
  /** The settings of the command line, and those of the user's files and environment. */
  readonly flags: PartialSettings;
  readonly personal: PartialSettings;
  readonly project: ProjectSettings;
  readonly trusted: boolean;
  readonly warnings: readonly string[];
};

/** Restricts settings for an untrusted folder, and by the project's settings. */
export const applyTrust = ({
  values,
  sources,
  flags: line,
  personal: said,
  project,
  trusted,
  warnings,
}: PermissionInputs): LoadedSettings => {
  const all = values as Settings;
  const mode = chooseInitialMode({
    commandLine: line["permissions.mode"],
    settings: said["permissions.mode"],
    project: project.mode,
    trusted,
  });
  const rules: PermissionRuleSources = {
    commandLine: parseRuleSettings(line),
    settings: parseRuleSettings(said),
    project: project.deny,
  };
  const inForce = mergePermissionRules(rules, trusted);
  const isNetworkDenied = project.sandboxNetwork === "off" && all.sandboxNetwork === "on";
  const network = isNetworkDenied ? "off" : all.sandboxNetwork;
  const isSandboxForced = project.sandbox === true && !all.sandbox;
  return {
    settings: {
      ...all,
      "permissions.mode": mode,
      "permissions.allow": formatRules(inForce.allow),
      "permissions.ask": formatRules(inForce.ask),
      "permissions.deny": formatRules(inForce.deny),
      sandbox: all.sandbox || isSandboxForced,
      sandboxNetwork: network,
    },
    sources: {
      ...sources,
      ...(mode === all["permissions.mode"] ? {} : { "permissions.mode": [trusted ? projectSource : untrustedSource] }),
      ...(trusted || isEmptyList(said["permissions.allow"])
        ? {}
        : { "permissions.allow": [...flagSources(sources), untrustedSource] }),
      ...(isEmptyList(project.deny) ? {} : { "permissions.deny": [...personalSources(sources), projectSource] }),
      ...(isSandboxForced ? { sandbox: [projectSource] } : {}),
      ...(isNetworkDenied ? { sandboxNetwork: [projectSource] } : {}),
    },
    policy: { mode, rules, trusted },
    project,
    warnings: [...warnings, ...warnAboutTools(line), ...warnAboutTools(said)],
  };
};

/** Names rules with a tool that is none of ours but like one: a mistyped deny rule would deny nothing, in silence. */
const warnAboutTools = (values: PartialSettings): readonly string[] =>
  (["permissions.deny", "permissions.ask", "permissions.allow", "permissions.only"] as const).flatMap((path) =>
    (values[path] ?? []).flatMap((text) => {
      const rule = parsePermissionRule(text);
      const meant = rule?.type === "tool" && rule.server === undefined ? suggestToolName(rule.name) : undefined;
      return meant === undefined
        ? []
        : [
            `The rule "${text}" (${path}) is for a tool named "${text}", and no built-in tool is. Did you mean ${meant}?`,
          ];
    }),
  );

/** The tool of ours that a name was meant for: another agent's name of it, or one that is nearly the same. */
const suggestToolName = (name: string): string | undefined =>
  ownToolNames.includes(name) ? undefined : (findToolName(name) ?? nearestNames(name, ownToolNames)[0]);

const projectSource: SettingSource = { from: "project" };
const untrustedSource: SettingSource = { from: "untrusted" };

const isEmptyList = (list: readonly unknown[] | undefined): boolean => list === undefined || list.length === 0;

const flagSources = (sources: SettingSources): readonly SettingSource[] =>
  (sources["permissions.allow"] ?? []).filter(({ from }) => from === "flag");

const personalSources = (sources: SettingSources): readonly SettingSource[] =>
  (sources["permissions.deny"] ?? []).filter(({ from }) => from !== "default");

const formatRules = (rules: PermissionRules["allow"]): readonly string[] => [
  ...new Set(rules.map(formatPermissionRule)),
];

const parseRuleSettings = (values: PartialSettings): Partial<PermissionRules> => ({
  ...parseRuleList("allow", values["permissions.allow"]),
  ...parseRuleList("ask", values["permissions.ask"]),
  ...parseRuleList("deny", values["permissions.deny"]),
  ...parseRuleList("only", values["permissions.only"]),
});

const parseRuleList = (name: keyof PermissionRules, texts: readonly string[] | undefined): Partial<PermissionRules> =>
  texts === undefined ? {} : { [name]: texts.map(parsePermissionRule).filter((rule) => rule !== undefined) };
