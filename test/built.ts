import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const root: string = fileURLToPath(new URL("..", import.meta.url));

/** The built program. */
export const bin: string = fileURLToPath(new URL("../dist/parley.cjs", import.meta.url));

/** Builds if the sources changed, as `npm test` does before all tests. */
export const ensureBuilt = (): void => {
  execFileSync(process.execPath, [fileURLToPath(new URL("../scripts/setup.mjs", import.meta.url))], { stdio: "pipe" });
};

/** The result of a run of the program. */
export type Ran = { readonly code: number | null; readonly out: string; readonly err: string };

/** Runs the program in a folder. */
export const parley = (
  args: readonly string[],
  { cwd = root, input = "" }: { readonly cwd?: string; readonly input?: string } = {},
): Ran => {
  const ran = spawnSync(process.execPath, [bin, ...args], { cwd, input, encoding: "utf8", maxBuffer: 2 ** 28 });
  return { code: ran.status, out: ran.stdout, err: ran.stderr };
};
