import { resolve } from "node:path";
import { withDemoModel, type DemoModelOptions } from "../offline/net.ts";
import { openTrustStore } from "../policy/trust/folders.ts";
import { applyProviderUrls } from "../settings/provider-urls.ts";
import { resolveHomeFolder } from "../settings/home.ts";
import { loadSettings, type LoadedSettings } from "../settings/load/load.ts";
import type { CommandLineFlags } from "../settings/load/flags-and-environment.ts";
import { realWorld } from "../world/real/world.ts";
import type { World } from "../world/world.ts";
import type { Arguments } from "./command.ts";
import { usageError, UserError } from "./user-error.ts";

/** The world, folders and settings of a run. */
export type RunEnvironment = {
  readonly world: World;
  readonly home: string;
  readonly folder: string;
  readonly loaded: LoadedSettings;
};

/** Loads the settings and builds the environment of a run from the arguments. */
export const loadRunEnvironment = async (args: Arguments): Promise<RunEnvironment> => {
  const real = realWorld();
  const home = resolveHomeFolder(real);
  const folder = resolve(args.value("cwd") ?? ".");
  const scope = await openTrustStore(real.disk, home).projectScope(folder);
  const loaded = await loadSettings(real, { home, root: folder, scope, flags: flagsFrom(args) });
  const env = applyProviderUrls(loaded.settings, real.env);
  const script = loaded.settings["offline.script"];
  const world = { ...real, env };
  return {
    world: { ...world, net: withDemoModel(real.net, await readOfflineScript(script, world)) },
    home,
    folder,
    loaded,
  };
};

const readOfflineScript = async (path: string | undefined, { files }: World): Promise<DemoModelOptions> => {
  if (path === undefined) return {};
  const text = await files.read(resolve(path));
  if (text === undefined) throw new UserError(`No such file: ${path} (offline.script).`);
  const { parseDemoScript } = await import("../offline/script/parse-script.ts");
  try {
    return { script: parseDemoScript(JSON.parse(text)) };
  } catch (error) {
    throw new UserError(
      `${path} is not a valid script for the demo model. ${error instanceof Error ? error.message : ""}`,
      {
        code: 52,
      },
    );
  }
};

const flagsFrom = (args: Arguments): CommandLineFlags => ({
  ...Object.fromEntries(
    [
      "model",
      "effort",
      "profile",
      "approval-mode",
      "allowed-tools",
      "deny",
      "max-turns",
      "max-spend",
      "unsupported-media",
      "sandbox",
      "sandbox-network",
      "screen-reader",
    ].map((name) => [name, args.values(name).length > 0 ? args.values(name) : args.has(name) ? true : undefined]),
  ),
  ...folderFlag([...args.values("include-directories"), ...args.values("add-dir")]),
  ...yoloFlag(args),
});

const folderFlag = (folders: readonly string[]): CommandLineFlags =>
  folders.length === 0 ? {} : { "include-directories": folders };

const yoloFlag = (args: Arguments): CommandLineFlags => {
  if (!args.has("yolo")) return {};
  if ((args.value("approval-mode") ?? "yolo") !== "yolo")
    throw usageError(`-y means --approval-mode yolo, and contradicts --approval-mode ${args.value("approval-mode")}.`);
  return { "approval-mode": "yolo" };
};
