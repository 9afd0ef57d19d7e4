import { loadAgentEnvironment, type AgentEnvironment } from "../agent/environment.ts";
import type { CommandLineFlags } from "../settings/load/flags-and-environment.ts";
import type { Arguments } from "./command.ts";
import { usageError } from "./user-error.ts";

/** Loads the settings and builds the environment of a run from the arguments. */
export const loadRunEnvironment = async (args: Arguments): Promise<AgentEnvironment> =>
  loadAgentEnvironment({ folder: args.value("cwd") ?? ".", flags: flagsFrom(args) });

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
