import { startingMode } from "../policy/mode.ts";
import { parseRule, rulesInForce, ruleText, type RuleSources, type Rules } from "../policy/rules.ts";
import type { ProjectSettings } from "../policy/settings.ts";
import type { Loaded } from "./load.ts";
import type { Source, Sources } from "./merge.ts";
import type { Settings, SomeSettings } from "./values.ts";

/** What was said of permissions before trust and the project had their say. */
type Said = {
  /** All settings, whoever said them. */
  readonly values: SomeSettings;
  readonly sources: Sources;
  /** What the command line says, and what files and variables of the person say. */
  readonly line: SomeSettings;
  readonly said: SomeSettings;
  readonly project: ProjectSettings;
  readonly trusted: boolean;
  readonly warnings: readonly string[];
};

/** The settings that count, once a folder that is not trusted and the wishes of a project have tightened them. */
export const judged = ({ values, sources, line, said, project, trusted, warnings }: Said): Loaded => {
  const all = values as Settings;
  const mode = startingMode({
    line: line["permissions.mode"],
    settings: said["permissions.mode"],
    project: project.mode,
    trusted,
  });
  const rules: RuleSources = { line: rulesOf(line), settings: rulesOf(said), project: project.deny };
  const inForce = rulesInForce(rules, trusted);
  const isCutOff = project.sandboxNetwork === "off" && all.sandboxNetwork === "on";
  const network = isCutOff ? "off" : all.sandboxNetwork;
  const isBoxed = project.sandbox === true && !all.sandbox;
  return {
    settings: {
      ...all,
      "permissions.mode": mode,
      "permissions.allow": textsOf(inForce.allow),
      "permissions.deny": textsOf(inForce.deny),
      sandbox: all.sandbox || isBoxed,
      sandboxNetwork: network,
    },
    sources: {
      ...sources,
      ...(mode === all["permissions.mode"] ? {} : { "permissions.mode": [trusted ? theProject : noTrust] }),
      ...(trusted || isEmpty(said["permissions.allow"])
        ? {}
        : { "permissions.allow": [...fromLine(sources), noTrust] }),
      ...(isEmpty(project.deny) ? {} : { "permissions.deny": [...fromPerson(sources), theProject] }),
      ...(isBoxed ? { sandbox: [theProject] } : {}),
      ...(isCutOff ? { sandboxNetwork: [theProject] } : {}),
    },
    policy: { mode, rules, trusted },
    project,
    warnings,
  };
};

const theProject: Source = { from: "project" };
const noTrust: Source = { from: "untrusted" };

const isEmpty = (list: readonly unknown[] | undefined): boolean => list === undefined || list.length === 0;

const fromLine = (sources: Sources): readonly Source[] =>
  (sources["permissions.allow"] ?? []).filter(({ from }) => from === "line");

const fromPerson = (sources: Sources): readonly Source[] =>
  (sources["permissions.deny"] ?? []).filter(({ from }) => from !== "default");

const textsOf = (rules: Rules["allow"]): readonly string[] => [...new Set(rules.map(ruleText))];

const rulesOf = (values: SomeSettings): Partial<Rules> => ({
  ...listed("allow", values["permissions.allow"]),
  ...listed("deny", values["permissions.deny"]),
  ...listed("only", values["permissions.only"]),
});

const listed = (name: keyof Rules, texts: readonly string[] | undefined): Partial<Rules> =>
  texts === undefined ? {} : { [name]: texts.map(parseRule).filter((rule) => rule !== undefined) };
