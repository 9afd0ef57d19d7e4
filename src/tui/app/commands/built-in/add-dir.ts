import { resolve } from "node:path";
import { DiskError } from "../../../../world/disk.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** `/add-dir`: adds a folder to the workspace of this run, and opens the session again with it. */
export const addFolder = async (words: string, at: SlashCommandContext): Promise<void> => {
  if (words === "") return at.info("Name a folder: /add-dir ../shared");
  const path = resolve(at.folder, words.replace(/^~(?=\/|$)/, at.world.host.home));
  const found = await at.world.disk.canonicalPath(path);
  if (found === undefined) return at.warn(`No such folder: ${path}`);
  // A session cannot be opened with a folder that cannot.
  const problem = await openingProblem(found, at);
  if (problem !== undefined) return at.warn(problem);
  const { agent, session } = at.opened();
  at.addFolder(found);
  await at.reopen({ id: session.id });
  if (agent.hasMessages()) at.opened().agent.addNotice(`The user added the folder ${found} to the workspace.`);
  const kept = JSON.parse(await at.parley(["config", "get", "context.includeDirectories"])) as readonly string[];
  at.info(
    kept.includes(found)
      ? `Added ${found} to the workspace.`
      : `Added ${found} to the workspace of this run. Keep it with: /config context.includeDirectories ${JSON.stringify([...kept, found])}`,
  );
};

/** Why a folder cannot be opened; undefined if it can. */
const openingProblem = async (path: string, { world }: SlashCommandContext): Promise<string | undefined> => {
  try {
    await (await world.disk.openFolder(path)).close();
    return undefined;
  } catch (error) {
    if (!(error instanceof DiskError)) throw error;
    return error.code === "ENOTDIR" ? `Not a folder: ${path}` : `Cannot open ${path} (${error.code}).`;
  }
};
