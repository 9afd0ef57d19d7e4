import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const root: string = fileURLToPath(new URL("..", import.meta.url));

/** The built program. */
export const bin: string = fileURLToPath(new URL("../dist/parley.cjs", import.meta.url));

let isBuilt = false;

/** Builds if the sources changed since the first call, as `npm test` does before all tests. */
export const ensureBuilt = (): void => {
  if (isBuilt) return;
  isBuilt = true;
  execFileSync(process.execPath, [fileURLToPath(new URL("../scripts/setup.mjs", import.meta.url))], { stdio: "pipe" });
};

/** The result of a run of the program. */
export type Ran = { readonly code: number | null; readonly out: string; readonly err: string };
