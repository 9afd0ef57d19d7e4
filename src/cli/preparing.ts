import { resolve } from "node:path";
import { withOffline, type OfflineOptions } from "../offline/net.ts";
import { openTrust } from "../policy/trust.ts";
import { environmentWith } from "../settings/environment.ts";
import { homeFolder } from "../settings/home.ts";
import { loadSettings, type Loaded } from "../settings/load.ts";
import type { Flags } from "../settings/outside.ts";
import { realWorld } from "../world/real.ts";
import type { World } from "../world/world.ts";
import type { Arguments } from "./arguments.ts";
import { Failure } from "./failure.ts";

/** What every way of talking begins with. */
export type Prepared = {
  readonly world: World;
  readonly home: string;
  readonly folder: string;
  readonly loaded: Loaded;
};

/** Reads settings and finds out where we are. */
export const prepare = async (given: Arguments): Promise<Prepared> => {
  const real = realWorld();
  const home = homeFolder(real);
  const folder = resolve(given.value("cwd") ?? ".");
  const scope = await openTrust(real.disk, home).projectScope(folder);
  const loaded = await loadSettings(real, { home, root: folder, scope, flags: flagsOf(given) });
  const env = environmentWith(loaded.settings, real.env);
  const script = loaded.settings["offline.script"];
  const world = { ...real, env };
  return { world: { ...world, net: withOffline(real.net, await scripted(script, world)) }, home, folder, loaded };
};

const scripted = async (path: string | undefined, { files }: World): Promise<OfflineOptions> => {
  if (path === undefined) return {};
  const text = await files.read(resolve(path));
  if (text === undefined) throw new Failure(`There is no file ${path} with a script for the demo model.`);
  const { parseOfflineScript } = await import("../offline/parse-script.ts");
  try {
    return { script: parseOfflineScript(JSON.parse(text)) };
  } catch (error) {
    throw new Failure(`${path} is no script for the demo model. ${error instanceof Error ? error.message : ""}`, {
      code: 52,
    });
  }
};

const flagsOf = (given: Arguments): Flags =>
  Object.fromEntries(
    [
      "model",
      "approval-mode",
      "allowed-tools",
      "include-directories",
      "max-turns",
      "unsupported-media",
      "sandbox",
      "sandbox-network",
      "screen-reader",
    ].map((name) => [name, given.values(name).length > 0 ? given.values(name) : given.has(name) ? true : undefined]),
  );
