import { dirname } from "node:path";
import type { ApprovalMode } from "../../policy/gate/approval-mode.ts";
import type { PermissionRuleSources } from "../../policy/gate/permission-rules.ts";
import type { ProjectSettings } from "../../policy/trust/project-settings.ts";
import type { ProjectScope } from "../../policy/trust/folders.ts";
import type { Disk } from "../../world/disk.ts";
import type { Environment, World } from "../../world/world.ts";
import { SettingsError } from "../error.ts";
import { applyTrust } from "./apply-trust.ts";
import { mergeLayers, type SettingsLayer, type SettingSources } from "./merge.ts";
import { parseFlagSettings, parseEnvironmentSettings, type CommandLineFlags } from "./flags-and-environment.ts";
import type { TrustedProject } from "./project.ts";
import { readSettings, type SettingsReadResult } from "../file/read.ts";
import { settingPaths, settingsTable, type Setting } from "../schema/table.ts";
import type { Settings, PartialSettings } from "../schema/values.ts";

/** The settings of a run, and how they came about. */
export type LoadedSettings = {
  /** What counts, whoever said it. */
  readonly settings: Settings;
  readonly sources: SettingSources;
  /** What policy/ needs: it keeps apart who said what. */
  readonly policy: { readonly mode: ApprovalMode; readonly rules: PermissionRuleSources; readonly trusted: boolean };
  /** What the project wants, with the programs it wants run. None may before the person agrees. */
  readonly project: ProjectSettings;
  readonly warnings: readonly string[];
};

/** Where to look. */
export type SettingsLocations = {
  /** The folder where Parley keeps its own things. */
  readonly home: string;
  /** The folder of the project. */
  readonly root: string;
  /** What the project may do, as `openTrust` says. */
  readonly scope: ProjectScope;
  readonly flags?: CommandLineFlags;
};

/** The file with a person's settings. */
export const settingsFilePath = (home: string): string => `${home}/settings.json`;

/**
 * Reads the settings of a run: the command line counts most, then variables, the person's file, the person's file of
 * Gemini CLI, and defaults. The project can only tighten. Throws a `SettingsError` where the person's file cannot be used.
 */
export const loadSettings = async (
  world: Pick<World, "files" | "disk" | "env" | "host">,
  { home, root, scope, flags = {} }: SettingsLocations,
): Promise<LoadedSettings> => {
  const file = settingsFilePath(home);
  const geminiFile = `${world.host.home}/.gemini/settings.json`;
  const [own, gemini, project] = await Promise.all([
    readOptionalFile(world, file),
    world.files.read(geminiFile).catch(() => undefined),
    scope === "inert"
      ? noProjectSettings
      : loadProject(world.disk, { root, personalFolders: [home, dirname(geminiFile)] }),
  ]);
  const person = own === undefined ? noSettings : readSettings(own, file);
  const theirs =
    gemini === undefined ? noSettings : (await import("./gemini.ts")).readGeminiSettings(gemini, geminiFile);
  const written: readonly SettingsLayer[] = [
    environmentLayer(world.env, "below"),
    { values: theirs.values, sourceOf: () => ({ from: "gemini", where: geminiFile }) },
    { values: person.values, sourceOf: () => ({ from: "person", where: file }) },
    environmentLayer(world.env, "above"),
  ];
  const line = flagLayer(flags);
  return applyTrust({
    ...mergeLayers([defaultLayer, ...written, line]),
    flags: line.values,
    personal: mergeLayers(written).values,
    project,
    trusted: scope === "tighten",
    warnings: [...person.warnings, ...theirs.warnings, ...project.warnings],
  });
};

const noSettings: SettingsReadResult = { values: {}, warnings: [] };

const noProjectSettings: ProjectSettings = { deny: [], consents: [], warnings: [] };

/** What reads a project's files is loaded only where they may be read: until the folder is trusted, none is opened. */
const loadProject = async (disk: Disk, project: TrustedProject): Promise<ProjectSettings> =>
  (await import("./project.ts")).readMergedProjectSettings(disk, project);

const readOptionalFile = async ({ files }: Pick<World, "files">, file: string): Promise<string | undefined> => {
  try {
    return await files.read(file);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new SettingsError({ kind: "no-access", file, why: error.message }, error);
  }
};

const environmentLayer = (env: Environment, rank: "above" | "below"): SettingsLayer => {
  const { values, names } = parseEnvironmentSettings(env, rank);
  return { values, sourceOf: (path) => ({ from: "environment", where: names[path] ?? "" }) };
};

const flagLayer = (flags: CommandLineFlags): SettingsLayer => ({
  values: parseFlagSettings(flags),
  sourceOf: (path) => ({ from: "line", where: `--${(settingsTable[path] as Setting).flag ?? ""}` }),
});

const defaultLayer: SettingsLayer = {
  values: Object.fromEntries(
    settingPaths.flatMap((path) =>
      settingsTable[path].default === undefined ? [] : [[path, settingsTable[path].default]],
    ),
  ) as PartialSettings,
  sourceOf: () => ({ from: "default" }),
};
