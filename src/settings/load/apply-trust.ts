import { chooseInitialMode } from "../../policy/gate/approval-mode.ts";
import {
  parsePermissionRule,
  mergePermissionRules,
  formatPermissionRule,
  type PermissionRuleSources,
  type PermissionRules,
} from "../../policy/gate/permission-rules.ts";
import type { ProjectSettings } from "../../policy/trust/project-settings.ts";
import type { LoadedSettings } from "./load.ts";
import type { SettingSource, SettingSources } from "./merge.ts";
import type { Settings, PartialSettings } from "../schema/values.ts";

/** What was said of permissions before trust and the project had their say. */
type PermissionInputs = {
  /** All settings, whoever said them. */
  readonly values: PartialSettings;
  readonly sources: SettingSources;
  /** What the command line says, and what files and variables of the person say. */
  readonly flags: PartialSettings;
  readonly personal: PartialSettings;
  readonly project: ProjectSettings;
  readonly trusted: boolean;
  readonly warnings: readonly string[];
};

/** The settings that count, once a folder that is not trusted and the wishes of a project have tightened them. */
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
  const isCutOff = project.sandboxNetwork === "off" && all.sandboxNetwork === "on";
  const network = isCutOff ? "off" : all.sandboxNetwork;
  const isBoxed = project.sandbox === true && !all.sandbox;
  return {
    settings: {
      ...all,
      "permissions.mode": mode,
      "permissions.allow": formatRules(inForce.allow),
      "permissions.deny": formatRules(inForce.deny),
      sandbox: all.sandbox || isBoxed,
      sandboxNetwork: network,
    },
    sources: {
      ...sources,
      ...(mode === all["permissions.mode"] ? {} : { "permissions.mode": [trusted ? projectSource : untrustedSource] }),
      ...(trusted || isEmptyList(said["permissions.allow"])
        ? {}
        : { "permissions.allow": [...flagSources(sources), untrustedSource] }),
      ...(isEmptyList(project.deny) ? {} : { "permissions.deny": [...personalSources(sources), projectSource] }),
      ...(isBoxed ? { sandbox: [projectSource] } : {}),
      ...(isCutOff ? { sandboxNetwork: [projectSource] } : {}),
    },
    policy: { mode, rules, trusted },
    project,
    warnings,
  };
};

const projectSource: SettingSource = { from: "project" };
const untrustedSource: SettingSource = { from: "untrusted" };

const isEmptyList = (list: readonly unknown[] | undefined): boolean => list === undefined || list.length === 0;

const flagSources = (sources: SettingSources): readonly SettingSource[] =>
  (sources["permissions.allow"] ?? []).filter(({ from }) => from === "line");

const personalSources = (sources: SettingSources): readonly SettingSource[] =>
  (sources["permissions.deny"] ?? []).filter(({ from }) => from !== "default");

const formatRules = (rules: PermissionRules["allow"]): readonly string[] => [
  ...new Set(rules.map(formatPermissionRule)),
];

const parseRuleSettings = (values: PartialSettings): Partial<PermissionRules> => ({
  ...parseRuleList("allow", values["permissions.allow"]),
  ...parseRuleList("deny", values["permissions.deny"]),
  ...parseRuleList("only", values["permissions.only"]),
});

const parseRuleList = (name: keyof PermissionRules, texts: readonly string[] | undefined): Partial<PermissionRules> =>
  texts === undefined ? {} : { [name]: texts.map(parsePermissionRule).filter((rule) => rule !== undefined) };
