/*
 * Builds the package: dist/lib for programs (modules and their types) and
 * dist/parley.js for people (no dependencies; what few runs need is in
 * dist/chunks and loaded when it is needed). What talks to models, with and
 * without a terminal, stands in folders of its own: one file each holds all
 * that every such run needs, because every file costs a millisecond or two.
 */
import { spawn } from "node:child_process";
import { readFileSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");

/** Builds both. What was there before stays usable until the new files are complete. */
export const build = async () => {
  await mkdir(dist, { recursive: true });
  await Promise.all([buildProgram(), buildLibrary()]);
};

const buildProgram = async () => {
  const { build: bundle } = await import("esbuild");
  await Promise.all(talking.map((name) => buildTalking(bundle, name)));
  const fresh = `parley-${process.pid}`;
  const { metafile } = await bundle({
    ...options(),
    entryPoints: [{ in: "src/cli/main.ts", out: fresh }],
    outdir: dist,
    chunkNames: "chunks/[hash]",
    splitting: true,
    metafile: true,
    plugins: [besides, namesOnDemand, lazyBuiltins, oneLocale],
  });
  const program = join(dist, `${fresh}.js`);
  await writeFile(program, `#!/usr/bin/env node\n${await readFile(program, "utf8")}`);
  await chmod(program, 0o755);
  await rename(program, join(dist, "parley.js"));
  await sweep(Object.keys(metafile.outputs));
  await keepCode();
};

const options = () => ({
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  minify: true,
  legalComments: "none",
  charset: "utf8",
  banner: { js: requireForCommonJs },
  logLevel: "warning",
});

/** What is built apart, by the names of files in src/cli. */
const talking = ["headless", "terminal"];

/** The program finds what is built apart in its own folder. It is asked for in main.ts alone, which stands at the top. */
const besides = {
  name: "besides",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/[a-z]+\.ts$/ }, ({ path, kind }) => {
      const name = basename(path, ".ts");
      const isApart = kind === "dynamic-import" && talking.includes(name);
      return isApart ? { path: `./${name}/${name}.js`, external: true } : undefined;
    }),
};

/** Builds what one way of talking needs: all it loads at once in one file, the rest in chunks beside it. */
const buildTalking = async (bundle, name) => {
  const folder = join(dist, `${name}-${process.pid}`);
  const { metafile } = await bundle({
    ...options(),
    entryPoints: [{ in: `src/cli/${name}.ts`, out: name }],
    outdir: folder,
    chunkNames: "[hash]",
    splitting: true,
    metafile: true,
    plugins: [namesOnDemand, lazyBuiltins, oneLocale],
  });
  await gather(bundle, folder, name, metafile.outputs);
  const old = join(dist, `${name}-old-${process.pid}`);
  await rename(join(dist, name), old).catch(() => undefined);
  await rename(folder, join(dist, name));
  await rm(old, { recursive: true, force: true });
};

/**
 * Puts the chunks that an entry always loads into its own file. In their
 * places stand files that hand on what is in it, for chunks loaded later.
 */
const gather = async (bundle, folder, name, outputs) => {
  const chunkNamed = (file) => Object.keys(outputs).find((path) => basename(path) === file);
  const entry = chunkNamed(`${name}.js`);
  const always = new Set();
  const add = (path) => {
    if (always.has(path)) return;
    always.add(path);
    for (const { path: next, kind } of outputs[path].imports)
      if (kind === "import-statement" && next in outputs) add(next);
  };
  add(entry);
  // Nearly every run needs one of these, and each would bring several files.
  for (const [path, { entryPoint = "" }] of Object.entries(outputs))
    if (entryPoint.startsWith("src/providers/")) add(path);
  const chunks = [...always]
    .filter((path) => path !== entry)
    .map((path) => ({ file: basename(path), names: outputs[path].exports }));
  const handed = ({ names }, index, order) => names.map((each) => order(each, `c${index}_${each}`)).join(",");
  const whole = [
    `export * from "./${name}.js";`,
    ...chunks.map(
      (chunk, index) =>
        `export {${handed(chunk, index, (own, outer) => `${own} as ${outer}`)}} from "./${chunk.file}";`,
    ),
  ];
  const { outputFiles } = await bundle({
    ...options(),
    format: "cjs",
    // One byte a letter: read and scanned in half the time.
    charset: "ascii",
    banner: { js: "(function(exports,require,module,url,late){" },
    footer: { js: "})" },
    define: { "import.meta.url": "url" },
    stdin: { contents: whole.join("\n"), resolveDir: folder },
    outdir: folder,
    write: false,
    ignoreAnnotations: true,
    plugins: [lateStaysOut],
  });
  const names = [
    ...outputs[entry].exports,
    ...chunks.flatMap((chunk, index) => chunk.names.map((each) => `c${index}_${each}`)),
  ];
  // A script that runs from kept code cannot import by itself.
  await writeFile(join(folder, `${name}.cjs`), outputFiles[0].text.replaceAll(/\bimport\((?="\.\/)/g, "late("));
  await writeFile(join(folder, `${name}.js`), loader(name, names));
  await Promise.all(
    chunks.map((chunk, index) =>
      writeFile(
        join(folder, chunk.file),
        `export {${handed(chunk, index, (own, outer) => `${outer} as ${own}`)}} from "./${name}.js";`,
      ),
    ),
  );
};

/**
 * Runs a file with the code that V8 made of it before, which saves most of the time it takes to start. Where there is
 * none, or another version of Node made it, the file is compiled as usual.
 */
const loader = (name, names) => `\
const { readFileSync, writeFileSync } = process.getBuiltinModule("node:fs");
const { createRequire } = process.getBuiltinModule("node:module");
const { fileURLToPath } = process.getBuiltinModule("node:url");
const { Script } = process.getBuiltinModule("node:vm");
const path = fileURLToPath(new URL("./${name}.cjs", import.meta.url));
const kept = (() => {
  try {
    return { cachedData: readFileSync(path + ".code") };
  } catch {
    return {};
  }
})();
const script = new Script(readFileSync(path, "latin1"), { filename: path, ...kept });
const module = { exports: {} };
script.runInThisContext()(module.exports, createRequire(import.meta.url), module, import.meta.url, (file) => import(file));
if (process.env.PARLEY_KEEP_CODE === "1") process.on("exit", () => writeFileSync(path + ".code", script.createCachedData()));
export const { ${names.join(", ")} } = module.exports;
`;

/** Has V8 keep the code of what was built apart. A convenience: without it, all works the same. */
const keepCode = async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-build-"));
  const env = { ...process.env, PARLEY_KEEP_CODE: "1", PARLEY_HOME: join(folder, "home") };
  const ran = (words) =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, words, { cwd: folder, env, stdio: "ignore" });
      child.on("error", resolve);
      child.on("exit", resolve);
    });
  const terminal = pathToFileURL(join(dist, "terminal", "terminal.js")).href;
  await ran([join(dist, "parley.js"), "-p", "list the files", "-m", "offline"]);
  await ran(["--input-type=module", "-e", `await import(${JSON.stringify(terminal)});`]);
  await rm(folder, { recursive: true, force: true });
};

const lateStaysOut = {
  name: "late-stays-out",
  setup: ({ onResolve }) =>
    onResolve({ filter: /.*/ }, ({ path, kind }) => (kind === "dynamic-import" ? { path, external: true } : undefined)),
};

/** Dependencies that are no modules ask for Node's own parts with `require`. */
const requireForCommonJs = 'const require=process.getBuiltinModule("node:module").createRequire(import.meta.url);';

/** Chunks are named by their content; those no longer used go once the new program stands. */
const sweep = async (outputs) => {
  const used = new Set(outputs.map((path) => basename(path)));
  const folder = join(dist, "chunks");
  for (const name of await readdir(folder).catch(() => [])) if (!used.has(name)) await rm(join(folder, name));
};

/**
 * What is loaded on demand and is no module would come with a `default` alone.
 * Here it has the names it has in Node, so that `const { Agent } = await import("node:http")` means the same.
 */
const namesOnDemand = {
  name: "names-on-demand",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^[^./]/ }, ({ path, kind, resolveDir }) =>
      kind === "dynamic-import" ? { path, namespace: "on-demand", pluginData: resolveDir } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "on-demand" }, async ({ path, pluginData: resolveDir }) => {
      const names = await namesIn(path, resolveDir);
      const contents = [
        `import * as whole from ${JSON.stringify(path)};`,
        `export const { ${names.join(", ")} } = whole;`,
        "const { default: main } = whole;",
        "export default main;",
      ];
      return { contents: contents.join("\n"), resolveDir };
    });
  },
};

/** Names of Node's own that are computed when asked for would load what nobody needs, so they are left out. */
const namesIn = async (path, folder) => {
  const file = createRequire(join(folder, "from.js")).resolve(path);
  const own = process.getBuiltinModule(path);
  const names = Object.keys(await import(own === undefined ? pathToFileURL(file).href : path));
  const isComputed = (name) => own !== undefined && Object.getOwnPropertyDescriptor(own, name)?.get !== undefined;
  return names.filter((name) => /^(?!default$|__esModule$)[A-Za-z_$][\w$]*$/.test(name) && !isComputed(name));
};

/**
 * In a module bundle, imports of Node's own parts are hoisted and cost start-up; this way each is loaded by its first
 * user. Parts that few runs need are loaded by the first call of one of their functions.
 */
const lazyBuiltins = {
  name: "lazy-builtins",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: "builtin" }));
    onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => {
      const part = `process.getBuiltinModule(${JSON.stringify(path)})`;
      if (!calledLate.has(path)) return { contents: `module.exports = ${part};` };
      const functions = Object.entries(process.getBuiltinModule(path)).filter(([, each]) => typeof each === "function");
      return {
        contents: functions.map(([name]) => `export const ${name} = (...all) => ${part}.${name}(...all);`).join("\n"),
      };
    });
  },
};

/** Parts of which only functions are used. */
const calledLate = new Set(["node:child_process"]);

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
