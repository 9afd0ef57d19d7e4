import { declarationsForPlatform } from "../../tools/declarations.ts";
import type { ToolDeclaration } from "../../conversation/entry.ts";
import type { SessionPlugins } from "../../extensions/plugins/session.ts";
import { openTrustStore } from "../../policy/trust/folders.ts";
import type { LoadedHooks } from "../hooks/open.ts";
import type { ResolvedAgentOptions } from "../options.ts";
import { activateSkillDeclaration } from "../skills/declaration.ts";
import { openSessionSkills, type SessionSkills } from "../skills/session-skills.ts";
import type { SubagentDefinition } from "../subagents/agent-file.ts";
import { findSubagents, type SubagentDefinitions } from "../subagents/find.ts";
import { declareTaskTool } from "../subagents/task-declaration.ts";

/** Loads the plugins the person added. Without any, nothing is loaded. */
export const findPlugins = async ({
  world,
  home,
  folder,
}: ResolvedAgentOptions): Promise<SessionPlugins | undefined> => {
  if ((await world.disk.canonicalPath(`${home.data}/plugins/installed.json`)) === undefined) return undefined;
  const { openSessionPlugins } = await import("../../extensions/plugins/session.ts");
  return openSessionPlugins(world, { home: home.data, folder });
};

/** Finds the subagents of the person, of plugins and of a trusted project. */
export const findProjectSubagents = (
  { world, home, folder, loaded }: ResolvedAgentOptions,
  plugins: SessionPlugins | undefined,
): Promise<SubagentDefinitions> =>
  findSubagents({
    disk: world.disk,
    home: home.config,
    userHome: world.host.home,
    ...(plugins === undefined ? {} : { plugins: plugins.agents }),
    ...(loaded.policy.trusted ? { project: folder } : {}),
  });

/** Finds the skills of the person, of plugins and of a trusted project. */
export const findProjectSkills = (
  { world, home, folder, loaded, resume }: ResolvedAgentOptions,
  plugins: SessionPlugins | undefined,
): Promise<SessionSkills> =>
  openSessionSkills(
    {
      disk: world.disk,
      files: world.files,
      clock: world.clock,
      home: home.config,
      cacheFolder: home.cache,
      userHome: world.host.home,
      isTrusted: openTrustStore(world.disk, home.config).isTrusted,
      ...(plugins === undefined ? {} : { plugins: plugins.skills }),
      ...(loaded.policy.trusted ? { project: folder } : {}),
    },
    resume !== undefined,
  );

/** The code that runs hooks, and the hooks of the session. */
export type FoundHooks = LoadedHooks &
  Pick<typeof import("../hooks/open.ts"), "createSessionHooks"> & {
    /** Whether any is about switches of the model. */
    readonly watchesSwitches: boolean;
  };

/** Finds the hooks of the session. Without any, no code for them is loaded. */
export const findHooks = async (
  options: ResolvedAgentOptions,
  plugins: SessionPlugins | undefined,
): Promise<FoundHooks | undefined> => {
  const { loaded, hooks } = options;
  const hasHooks =
    hooks !== undefined ||
    (plugins?.hooks ?? []).length > 0 ||
    Object.keys(loaded.settings.hooks).length > 0 ||
    loaded.project.consents.some(({ key }) => key === "hooks" || key.startsWith("hooks."));
  if (!hasHooks) return undefined;
  const { loadHooks, createSessionHooks } = await import("../hooks/open.ts");
  const found = await loadHooks(options, plugins?.hooks);
  const watchesSwitches = found.hooks.some(({ event }) => event === "PreModelSwitch" || event === "PostModelSwitch");
  return { ...found, createSessionHooks, watchesSwitches };
};

/** The declarations of the tools that are not of MCP servers: built-in ones, then the program's own. */
export const declareOwnTools = async (
  { world, tools = [], builtinTools: names }: ResolvedAgentOptions,
  agents: readonly SubagentDefinition[],
  skills: SessionSkills,
): Promise<readonly ToolDeclaration[]> => {
  const all = [
    ...declarationsForPlatform(world.host.platform),
    declareTaskTool(agents),
    ...(skills.current().some(({ isForModels }) => isForModels) ? [activateSkillDeclaration] : []),
  ];
  if (names === undefined && tools.length === 0) return all;
  const { declareProgramTools } = await import("../program-tools.ts");
  return declareProgramTools(all, { tools, names });
};
