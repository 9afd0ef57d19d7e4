import type { AgentSession } from "../../../../agent/open-agent.ts";
import { openTrustStore } from "../../../../policy/trust/folders.ts";
import type { LoadedSettings } from "../../../../settings/load/load.ts";
import type { HomeFolders } from "../../../../world/home-folders.ts";
import type { World } from "../../../../world/world.ts";
import type { PromptCommand } from "../slash-command.ts";
import { findCommands } from "./custom-commands.ts";

/** The session whose commands are loaded, and where its files are. */
export type CommandPlaces = {
  readonly world: Pick<World, "disk" | "host">;
  readonly home: Pick<HomeFolders, "config">;
  readonly folder: string;
  readonly loaded: Pick<LoadedSettings, "policy">;
  readonly opened: Pick<AgentSession, "plugins" | "skills">;
};

/**
 * Loads the commands of files, of plugins and of the skills that a person can activate. A file's command comes before a
 * skill of the same name. Files of a project count only if it is trusted.
 */
export const loadPromptCommands = async ({
  world,
  home,
  folder,
  loaded,
  opened,
}: CommandPlaces): Promise<{ readonly commands: readonly PromptCommand[]; readonly problems: readonly string[] }> => {
  const { commands, problems } = await findCommands({
    disk: world.disk,
    home: home.config,
    userHome: world.host.home,
    isTrusted: openTrustStore(world.disk, home.config).isTrusted,
    plugins: opened.plugins?.commands ?? [],
    ...(loaded.policy.trusted ? { project: folder } : {}),
  });
  const skills = opened
    .skills()
    .filter(({ name, isForPeople }) => isForPeople && !commands.some((command) => command.name === name));
  if (skills.length === 0) return { commands, problems };
  const { skillCommand } = await import("./skill-command.ts");
  return { commands: [...skills.map(skillCommand), ...commands], problems };
};
