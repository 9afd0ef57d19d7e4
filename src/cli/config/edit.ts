import { spawn, type ChildProcess } from "node:child_process";
import { SettingsError } from "../../settings/error.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import { loadSettings, settingsFilePath } from "../../settings/load/load.ts";
import type { World } from "../../world/world.ts";
import { UserError } from "../user-error.ts";
import { trustedEnvironment } from "../trusted-programs.ts";

/** Opens the user's settings file in an editor and waits until the editor exits. */
export const editSettings = async (world: World): Promise<void> => {
  const file = settingsFilePath((await findHomeFolders(world)).config);
  const [program = "vi", ...args] = (await findEditor(world)).split(/\s+/);
  if ((await world.files.read(file)) === undefined) await world.files.writePrivate(file, "{\n}\n");
  // As in the terminal UI: programs in the current folder are not trusted as editors.
  const env = { ...(await trustedEnvironment(world, process.cwd())) };
  const code = await waitForExit(spawn(program, [...args, file], { stdio: "inherit", env })).catch((error: Error) => {
    throw new UserError(`Cannot start ${program}: ${error.message}. Set VISUAL to an editor.`, { code: 1 });
  });
  if (code !== 0) throw new UserError(`${program} exited with ${code ?? "a signal"}.`, { code: 1 });
};

/** Finds the editor, even if the settings file is invalid: that is when it has to be edited. */
const findEditor = async (world: World): Promise<string> => {
  try {
    const { config: home } = await findHomeFolders(world);
    const { settings } = await loadSettings(world, { home, root: home, scope: "inert" });
    return settings.editor ?? "vi";
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return world.env["VISUAL"] ?? world.env["EDITOR"] ?? "vi";
  }
};

const waitForExit = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => child.on("error", reject).on("exit", resolve));
