import { resolve } from "node:path";
import type { SlashCommandContext } from "../slash-command.ts";

/** `/add-dir`: adds a folder to the workspace of this run, and opens the session again with it. */
export const addFolder = async (words: string, at: SlashCommandContext): Promise<void> => {
  if (words === "") return at.info("Name a folder: /add-dir ../shared");
  const path = resolve(at.folder, words.replace(/^~(?=\/|$)/, at.world.host.home));
  const found = await at.world.disk.canonicalPath(path);
  if (found === undefined) return at.warn(`No such folder: ${path}`);
  const { agent, session } = at.opened();
  at.addFolder(found);
  await at.reopen({ id: session.id });
  if (agent.hasMessages()) at.opened().agent.addNotice(`The user added the folder ${found} to the workspace.`);
  at.info(
    `Added ${found} to the workspace of this run. Keep it with: parley config set context.includeDirectories ${found}`,
  );
};
