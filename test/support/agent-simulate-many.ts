import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../built.ts";
import { bundleScript } from "./bundle-script.ts";

/** The totals of many simulations. The hash covers all their events. */
export type SimulationTotals = {
  readonly simulations: number;
  readonly turns: number;
  readonly requests: number;
  readonly crashes: number;
  readonly ends: { readonly [type: string]: number };
  readonly hash: string;
  readonly broken?: string;
};

/**
 * Simulates in a process of its own, from one file: where modules are loaded from the disk, late imports take real
 * time, and simulated time would run on meanwhile. `isTraced` prints every event on stderr.
 */
export const simulateMany = async (
  count: number,
  seed: number,
  { isTraced = false }: { readonly isTraced?: boolean } = {},
): Promise<SimulationTotals> => {
  const folder = mkdtempSync(join(tmpdir(), "parley-simulate-"));
  try {
    const file = bundleScript(join(root, "test/support/agent-simulate-child.ts"), folder);
    return await run(file, [`${count}`, `${seed}`, ...(isTraced ? ["trace"] : [])]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const run = async (file: string, args: readonly string[]): Promise<SimulationTotals> => {
  const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => (out += String(chunk)));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`The simulation ended with ${String(code)}.`);
  return JSON.parse(out) as SimulationTotals;
};
