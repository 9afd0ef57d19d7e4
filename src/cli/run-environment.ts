import { loadAgentEnvironment, type AgentEnvironment } from "../agent/environment.ts";
import { lazyProviders } from "../providers/lazy.data.ts";
import type { CommandLineFlags } from "../settings/load/flags-and-environment.ts";
import type { Settings } from "../settings/schema/values.ts";
import type { World } from "../world/world.ts";
import type { Arguments } from "./command.ts";
import { usageError } from "./user-error.ts";

/** The environment of a run, and the model of a server found on this machine if there is no key. */
export type RunEnvironment = AgentEnvironment & { readonly localModel?: string };

/** Loads the settings and builds the environment of a run from the arguments. */
export const loadRunEnvironment = async (args: Arguments): Promise<RunEnvironment> => {
  const environment = await loadAgentEnvironment({ folder: args.value("cwd") ?? ".", flags: flagsFrom(args) });
  const { world, loaded } = environment;
  const local = await findLocalModel(world, loaded.settings);
  if (local === undefined) return environment;
  const env = { ...world.env, [localUrlVariable]: local.url };
  return { ...environment, world: { ...world, env }, localModel: local.model };
};

const localUrlVariable = "PARLEY_LOCAL_BASE_URL";

/** Looks for a server on this machine, if its models are wanted or there is no key for any other. */
const findLocalModel = async (
  world: World,
  { model, "offline.script": script }: Settings,
): Promise<{ readonly url: string; readonly model: string } | undefined> => {
  if (script !== undefined) return undefined;
  if (model === undefined ? hasAnyKey(world.env) : !/^local(\/|$)/.test(model)) return undefined;
  const [{ findLocalServers }, { local }] = await Promise.all([
    import("../transport/queries/local-servers.ts"),
    import("../providers/definitions/local.ts"),
  ]);
  const servers = await findLocalServers(local, world);
  const named = model?.slice("local/".length);
  const [server] = [...servers.filter(({ models }) => models.includes(named ?? "")), ...servers];
  return server === undefined ? undefined : { url: server.url, model: server.models[0] ?? "" };
};

const hasAnyKey = (env: World["env"]): boolean =>
  lazyProviders.some(({ keys }) => keys.some((key) => (env[key] ?? "") !== ""));

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
