/*
 * Builds the package: dist/lib for programs (modules and their types) and
 * dist/parley.js for people (one file, no dependencies).
 */
import { spawn } from "node:child_process";
import { readFileSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { chmod, mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");

/** Builds both. What was there before stays usable until the new files are complete. */
export const build = async () => {
  await mkdir(dist, { recursive: true });
  await Promise.all([buildProgram(), buildLibrary()]);
};

const buildProgram = async () => {
  const { build: bundle } = await import("esbuild");
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const fresh = join(dist, `parley-${process.pid}.js`);
  await bundle({
    absWorkingDir: root,
    entryPoints: ["src/cli/main.ts"],
    outfile: fresh,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    minify: true,
    legalComments: "none",
    charset: "utf8",
    banner: { js: "#!/usr/bin/env node" },
    define: { PARLEY_VERSION: JSON.stringify(version) },
    plugins: [lazyBuiltins, oneLocale],
    logLevel: "warning",
  });
  await chmod(fresh, 0o755);
  await rename(fresh, join(dist, "parley.js"));
};

/** In a module bundle, imports of Node's own parts are hoisted and cost start-up; this way each is loaded by its first user. */
const lazyBuiltins = {
  name: "lazy-builtins",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: "builtin" }));
    onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

/** Zod brings its messages in some fifty languages; the program speaks one. */
const oneLocale = {
  name: "one-locale",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: `export { default as en } from "./en.js";`,
    })),
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
 * Lets every module and its types import .js files: the compiler does so in
 * modules, but leaves .ts in types. Tests have no business in a package.
 */
const nameScripts = (folder) => {
  for (const path of readdirSync(folder, { recursive: true })) {
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
