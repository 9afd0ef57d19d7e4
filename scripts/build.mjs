/*
 * Builds the package: dist/lib is the library (modules and their types), dist/parley.cjs and dist/parts the program.
 */
import { spawn } from "node:child_process";
import { readFileSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildProgram } from "./program.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");

/** Builds both. The previous build stays usable until the new files are complete. */
export const build = async () => {
  await mkdir(dist, { recursive: true });
  await Promise.all([buildProgram(root, dist), buildLibrary()]);
};

const buildLibrary = async () => {
  const fresh = join(dist, `lib-${process.pid}`);
  const old = join(dist, `old-${process.pid}`);
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  try {
    await run(tsc, ["-p", "tsconfig.build.json", "--outDir", fresh]);
    await rm(join(fresh, "cli"), { recursive: true, force: true });
    nameScripts(fresh);
    await rename(join(dist, "lib"), old).catch(() => undefined);
    await rename(fresh, join(dist, "lib"));
  } finally {
    for (const folder of [old, fresh]) await rm(folder, { recursive: true, force: true });
  }
};

const run = (script, words) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...words], { cwd: root, stdio: ["ignore", 2, 2] });
    child.on("error", reject);
    child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`tsc found errors (exit code ${code}).`))));
  });

/**
 * Makes declaration files import .js files: the compiler rewrites .ts in modules but not in declarations. Throws if a
 * test file got into the package.
 */
const nameScripts = (folder) => {
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (/\.(test|cases)\.(js|d\.ts)$/.test(path)) throw new Error(`${path} does not belong in the package.`);
    if (!/\.(js|d\.ts)$/.test(path)) continue;
    const file = join(folder, path);
    const text = readFileSync(file, "utf8");
    const named = path.endsWith(".d.ts") ? text.replace(imports, (all) => all.replace(/\.ts(?=["'])/, ".js")) : text;
    for (const [all, specifier] of named.matchAll(imports))
      if (!specifier.endsWith(".js")) throw new Error(`${path} says ${all}, which is not a .js file.`);
    if (named !== text) writeFileSync(file, named);
  }
};

const imports = /\b(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"']*)["']/g;

if (realpathSync(process.argv[1] ?? "") === fileURLToPath(import.meta.url)) {
  await build().catch((error) => {
    process.stderr.write(`parley: the build failed. ${error.message}\n`);
    process.exitCode = 1;
  });
}
