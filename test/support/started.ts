import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { findProvider } from "../../src/providers/find.ts";
import { describeSimulated, listSimulatable } from "../../src/cli/requests/simulated-providers.ts";
import { serve, type RunningSimulator } from "../../src/sim/serve.ts";
import { createSimulator, type SimulatorOptions } from "../../src/sim/simulator.ts";
import { bin, type Ran } from "../built.ts";
import { everyKey } from "./exchange.ts";

/** A running program. */
export type Started = {
  /** The first line on stdout. */
  readonly firstLine: Promise<string>;
  /** Resolves with stderr once it contains this. */
  readonly said: (words: RegExp) => Promise<string>;
  readonly interrupt: () => void;
  readonly ended: Promise<Ran>;
};

/** A new home folder without credentials. */
export const emptyHome = (): { readonly path: string; readonly remove: () => void } => {
  const path = mkdtempSync(join(tmpdir(), "parley home "));
  return { path, remove: () => rmSync(path, { recursive: true }) };
};

/** Starts the program with these variables alone, so that what answers it may live in this process. */
export const start = (
  args: readonly string[],
  { home, env = {} }: { readonly home: string; readonly env?: Readonly<Record<string, string>> },
): Started => {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: home,
    env: isolatedEnvironment(home, env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => (out += String(chunk)));
  child.stderr.on("data", (chunk: Buffer) => (err += String(chunk)));
  const firstLine = once(createInterface({ input: child.stdout }), "line").then(([line]) => String(line));
  firstLine.catch(() => undefined);
  const said = async (words: RegExp): Promise<string> => {
    while (!words.test(err)) await once(child.stderr, "data");
    return err;
  };
  return {
    firstLine,
    said,
    interrupt: () => void child.kill("SIGINT"),
    ended: once(child, "close").then(([code]) => ({ code: code as number | null, out, err })),
  };
};

/** An environment with these variables alone: no cloud provides keys, and there is no proxy. */
export const isolatedEnvironment = (
  home: string,
  env: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> => ({
  METADATA_SERVER_DETECTION: "none",
  AWS_EC2_METADATA_DISABLED: "true",
  HOME: home,
  USERPROFILE: home,
  ...env,
});

/** Every simulator on one port, and the variables that point Parley there with keys for all. */
export const servedToAll = async (
  options: Omit<SimulatorOptions, "provider"> = {},
): Promise<RunningSimulator & { readonly env: Readonly<Record<string, string>> }> => {
  const simulators = listSimulatable().map(
    (id) => [id, createSimulator({ provider: describeSimulated(id), ...options })] as const,
  );
  const serving = await serve(Object.fromEntries(simulators.map(([id, simulator]) => [`/${id}`, simulator])));
  const moved = simulators.map(([id]) => [baseVariable(id), `${serving.url}/${id}${basePath(id)}`]);
  return { ...serving, env: { ...everyKey, ...Object.fromEntries(moved) } };
};

/** The variable that moves a provider. */
export const baseVariable = (id: string): string => `PARLEY_${id.toUpperCase().replaceAll("-", "_")}_BASE_URL`;

/** The path of a provider's base URL. */
const basePath = (id: string): string => findProvider(id).endpoint.url.replace(/^https?:\/\/[^/]+/, "");
