import { openSessionSource } from "../../../../inspect/server/session-source.ts";
import { serveInspector } from "../../../../inspect/server/serve.ts";
import { openSessionStore } from "../../../../session/store/store.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** `/inspect`: serves the inspector page of this session until Parley ends, and prints its address. */
export const inspectSession = async (_: string, at: SlashCommandContext): Promise<void> => {
  const { world, home } = at;
  const sessions = openSessionStore(world, { home: home.data });
  const source = await openSessionSource({ world, home: home.data, sessions }, at.opened().session.id);
  const { url } = await serveInspector(source, {
    world,
    models: at.loaded().settings.models,
    isBackground: true,
  });
  at.info(`The inspector follows this session, on this machine only and until Parley ends. Open ${url}`);
};
