import { toHomeFolders } from "../../src/world/home-folders.ts";
import { loadAgentEnvironment } from "../../src/agent/environment.ts";
import { openAgent } from "../../src/agent/open-agent.ts";
import type { AcpHost } from "../../src/acp/sessions.ts";
import { openSessionStore } from "../../src/session/store/store.ts";
import type { CommandLineFlags } from "../../src/settings/load/flags-and-environment.ts";
import { realWorld } from "../../src/world/real/world.ts";
import type { ProgramStage } from "./agent-program.ts";
import { connectInProcess, type AcpTestClient } from "./acp-client.ts";
import type { AcpServer } from "../../src/acp/server.ts";

/** A server in this process, on a stage's folders and simulators, and a client connected to it. */
export type AcpStage = { readonly client: AcpTestClient; readonly server: AcpServer };

/** Opens a server whose sessions use these flags. */
export const openAcpStage = ({ home, env }: ProgramStage, flags: CommandLineFlags = {}): AcpStage => {
  const world = realWorld(env);
  const host: AcpHost = {
    world,
    home: toHomeFolders(home),
    store: openSessionStore(world, { home }),
    open: async ({ folder, additionalFolders, resume, agent }) => {
      const environment = await loadAgentEnvironment({
        folder,
        home,
        world,
        flags: { model: ["anthropic"], ...flags, "include-directories": additionalFolders },
      });
      const opened = await openAgent({
        ...environment,
        ...agent,
        interactive: true,
        ...(resume === undefined ? {} : { resume }),
      });
      return { ...environment, opened };
    },
    findKeyProblem: async () => undefined,
    isUserError: () => false,
  };
  return connectInProcess(host);
};
