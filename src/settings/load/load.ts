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

/** The settings of a run, and their sources. */
export type LoadedSettings = {
  /** The effective settings. */
  readonly settings: Settings;
  readonly sources: SettingSources;
  /** Permissions by source, as policy/ needs them. */
  readonly policy: { readonly mode: ApprovalMode; readonly rules: PermissionRuleSources; readonly trusted: boolean };
  /** The project's settings, with the programs it wants to run. Each needs the user's consent. */
  readonly project: ProjectSettings;
  readonly warnings: readonly string[];
};

/** Where settings are read from. */
export type SettingsLocations = {
  /** Parley's home folder. */
  readonly home: string;
  /** The project's folder. */
  readonly root: string;
  /** The scope of the project's files; see `openTrustStore`. */
  readonly scope: ProjectScope;
  readonly flags?: CommandLineFlags;
};

/** The path of the user's settings file. */
export const settingsFilePath = (home: string): string => `${home}/settings.json`;

/**
 * Loads the settings of a run, by precedence: command line, environment, the user's file, the user's Gemini CLI file,
 * defaults. A project can only restrict permissions. Throws a `SettingsError` if the user's file is invalid.
 */
export const loadSettings = async (
  world: Pick<World, "files" | "disk" | "env" | "host">,
  { home, root, scope, flags = {} }: SettingsLocations,
): Promise<LoadedSettings> => {
  const file = settingsFilePath(home);
  const geminiFile = `${world.host.home}/.gemini/settings.json`;
  const [own, geminiText, project] = await Promise.all([
    readOptionalFile(world, file),
    world.files.read(geminiFile).catch(() => undefined),
    scope === "inert"
      ? noProjectSettings
      : loadProject(world.disk, { root, personalFolders: [home, dirname(geminiFile)] }),
  ]);
  const user = own === undefined ? noSettings : await readSettings(own, file);
  const gemini =
    geminiText === undefined
      ? noSettings
      : await (await import("./gemini.ts")).readGeminiSettings(geminiText, geminiFile);
  const written: readonly SettingsLayer[] = [
    await environmentLayer(world.env, "below"),
    { values: gemini.values, sourceOf: () => ({ from: "gemini", where: geminiFile }) },
    { values: user.values, sourceOf: () => ({ from: "user", where: file }) },
    await environmentLayer(world.env, "above"),
  ];
  const fromFlags = await flagLayer(flags);
  return applyTrust({
    ...mergeLayers([defaultLayer, ...written, fromFlags]),
    flags: fromFlags.values,
    personal: mergeLayers(written).values,
    project,
    trusted: scope === "tighten",
    warnings: [...user.warnings, ...gemini.warnings, ...project.warnings],
  });
};

const noSettings: SettingsReadResult = { values: {}, warnings: [] };

const noProjectSettings: ProjectSettings = { deny: [], consents: [], warnings: [] };

/** Loads the code that reads project files only if the folder is trusted. */
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

const environmentLayer = async (env: Environment, rank: "above" | "below"): Promise<SettingsLayer> => {
  const { values, names } = await parseEnvironmentSettings(env, rank);
  return { values, sourceOf: (path) => ({ from: "environment", where: names[path] ?? "" }) };
};

const flagLayer = async (flags: CommandLineFlags): Promise<SettingsLayer> => ({
  values: await parseFlagSettings(flags),
  sourceOf: (path) => ({ from: "flag", where: `--${(settingsTable[path] as Setting).flag ?? ""}` }),
});

const defaultLayer: SettingsLayer = {
  values: Object.fromEntries(
    settingPaths.flatMap((path) =>
      settingsTable[path].default === undefined ? [] : [[path, settingsTable[path].default]],
    ),
  ) as PartialSettings,
  sourceOf: () => ({ from: "default" }),
};
