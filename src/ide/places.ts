import { join, relative, isAbsolute } from "node:path";
import type { World } from "../world/world.ts";

/** The folder of lock files. */
export const lockFolder = ({ env, host }: Pick<World, "env" | "host">): string =>
  join(env["CLAUDE_CONFIG_DIR"] || join(host.home, ".claude"), "ide");

/** Variables that editors set in their terminals. */
const variables = ["CLAUDE_CODE_SSE_PORT", "GEMINI_CLI_IDE_SERVER_PORT", "QWEN_CODE_IDE_SERVER_PORT"];

/** Whether an editor may offer a connection: a variable is set, or there is a lock file. Costs one look at a folder. */
export const mayHaveIde = async ({ env, host, disk }: Pick<World, "env" | "host" | "disk">): Promise<boolean> => {
  if (variables.some((name) => (env[name] ?? "") !== "")) return true;
  const folder = await disk.canonicalPath(lockFolder({ env, host })).catch(() => undefined);
  if (folder === undefined) return false;
  return (await disk.listNames(folder).catch(() => [])).some(({ name }) => name.endsWith(".lock"));
};

/** Whether a path is a folder or lies in it. */
export const isInside = (path: string, folder: string): boolean => {
  const way = relative(folder.normalize(), path.normalize());
  return way !== ".." && !way.startsWith("../") && !way.startsWith("..\\") && !isAbsolute(way);
};
