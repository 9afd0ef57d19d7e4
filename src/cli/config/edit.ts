import { spawn, type ChildProcess } from "node:child_process";
import { SettingsError } from "../../settings/error.ts";
import { resolveHomeFolder } from "../../settings/home.ts";
import { loadSettings, settingsFilePath } from "../../settings/load/load.ts";
import type { World } from "../../world/world.ts";
import { UserError } from "../user-error.ts";
import { trustedEnvironment } from "../trusted-programs.ts";

/** Opens the person's settings file in an editor, and waits until it is closed. */
export const editSettings = async (world: World): Promise<void> => {
  const file = settingsFilePath(resolveHomeFolder(world));
  const [program = "vi", ...args] = (await findEditor(world)).split(/\s+/);
  if ((await world.files.read(file)) === undefined) await world.files.writePrivate(file, "{\n}\n");
  // As in the interface: an editor in the current folder is not the person's.
  const env = { ...(await trustedEnvironment(world, process.cwd())) };
  const code = await waitForExit(spawn(program, [...args, file], { stdio: "inherit", env })).catch((error: Error) => {
    throw new UserError(`${program} cannot be started: ${error.message}. Set VISUAL to an editor.`, { code: 1 });
  });
  if (code !== 0) throw new UserError(`${program} ended with ${code ?? "a signal"}.`, { code: 1 });
};

/** A file that cannot be read must still be one that can be mended. */
const findEditor = async (world: World): Promise<string> => {
  try {
    const home = resolveHomeFolder(world);
    const { settings } = await loadSettings(world, { home, root: home, scope: "inert" });
    return settings.editor ?? "vi";
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return world.env["VISUAL"] ?? world.env["EDITOR"] ?? "vi";
  }
};

const waitForExit = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => child.on("error", reject).on("exit", resolve));
