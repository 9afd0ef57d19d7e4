import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Installs the vendors' SDKs before the tests in `oracles/`, and only when there are some to run. */
export const setup = (): void => {
  const script = fileURLToPath(new URL("../../oracles/setup.mjs", import.meta.url));
  const { status } = spawnSync(process.execPath, [script], { stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new Error("The tests in oracles/ need the vendors' SDKs; what went wrong stands above.");
};
