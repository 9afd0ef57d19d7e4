import { dirname } from "node:path";
import type { ApprovalMode } from "../policy/mode.ts";
import type { RuleSources } from "../policy/rules.ts";
import type { ProjectSettings } from "../policy/settings.ts";
import type { ProjectScope } from "../policy/trust.ts";
import type { Disk } from "../world/disk.ts";
import type { Environment, World } from "../world/world.ts";
import { SettingsError } from "./error.ts";
import { judged } from "./judge.ts";
import { merged, type Layer, type Sources } from "./merge.ts";
import { settingsOfFlags, settingsOfVariables, type Flags } from "./outside.ts";
import type { Project } from "./project.ts";
import { readSettings, type Said } from "./read.ts";
import { settingPaths, table, type Setting } from "./table.ts";
import type { Settings, SomeSettings } from "./values.ts";

/** The settings of a run, and how they came about. */
export type Loaded = {
  /** What counts, whoever said it. */
  readonly settings: Settings;
  readonly sources: Sources;
  /** What policy/ needs: it keeps apart who said what. */
  readonly policy: { readonly mode: ApprovalMode; readonly rules: RuleSources; readonly trusted: boolean };
  /** What the project wants, with the programs it wants run. None may before the person agrees. */
  readonly project: ProjectSettings;
  readonly warnings: readonly string[];
};

/** Where to look. */
export type Places = {
  /** The folder where Parley keeps its own things. */
  readonly home: string;
  /** The folder of the project. */
  readonly root: string;
  /** What the project may do, as `openTrust` says. */
  readonly scope: ProjectScope;
  readonly flags?: Flags;
};

/** The file with a person's settings. */
export const settingsFile = (home: string): string => `${home}/settings.json`;

/**
 * Reads the settings of a run: the command line counts most, then variables, the person's file, the person's file of
 * Gemini CLI, and defaults. The project can only tighten. Throws a `SettingsError` where the person's file cannot be used.
 */
export const loadSettings = async (
  world: Pick<World, "files" | "disk" | "env" | "host">,
  { home, root, scope, flags = {} }: Places,
): Promise<Loaded> => {
  const file = settingsFile(home);
  const geminiFile = `${world.host.home}/.gemini/settings.json`;
  const [own, gemini, project] = await Promise.all([
    textOf(world, file),
    world.files.read(geminiFile).catch(() => undefined),
    scope === "inert" ? untouched : wishesOf(world.disk, { root, own: [home, dirname(geminiFile)] }),
  ]);
  const person = own === undefined ? unsaid : readSettings(own, file);
  const theirs = gemini === undefined ? unsaid : (await import("./gemini.ts")).readGemini(gemini, geminiFile);
  const written: readonly Layer[] = [
    ofVariables(world.env, "below"),
    { values: theirs.values, sourceOf: () => ({ from: "gemini", where: geminiFile }) },
    { values: person.values, sourceOf: () => ({ from: "person", where: file }) },
    ofVariables(world.env, "above"),
  ];
  const line = ofFlags(flags);
  return judged({
    ...merged([byDefault, ...written, line]),
    line: line.values,
    said: merged(written).values,
    project,
    trusted: scope === "tighten",
    warnings: [...person.warnings, ...theirs.warnings, ...project.warnings],
  });
};

const unsaid: Said = { values: {}, warnings: [] };

const untouched: ProjectSettings = { deny: [], consents: [], warnings: [] };

/** What reads a project's files is loaded only where they may be read: until the folder is trusted, none is opened. */
const wishesOf = async (disk: Disk, project: Project): Promise<ProjectSettings> =>
  (await import("./project.ts")).readProject(disk, project);

const textOf = async ({ files }: Pick<World, "files">, file: string): Promise<string | undefined> => {
  try {
    return await files.read(file);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new SettingsError({ kind: "no-access", file, why: error.message }, error);
  }
};

const ofVariables = (env: Environment, rank: "above" | "below"): Layer => {
  const { values, names } = settingsOfVariables(env, rank);
  return { values, sourceOf: (path) => ({ from: "environment", where: names[path] ?? "" }) };
};

const ofFlags = (flags: Flags): Layer => ({
  values: settingsOfFlags(flags),
  sourceOf: (path) => ({ from: "line", where: `--${(table[path] as Setting).flag ?? ""}` }),
});

const byDefault: Layer = {
  values: Object.fromEntries(
    settingPaths.flatMap((path) => (table[path].default === undefined ? [] : [[path, table[path].default]])),
  ) as SomeSettings,
  sourceOf: () => ({ from: "default" }),
};
