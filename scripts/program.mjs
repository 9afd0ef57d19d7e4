/*
 * Builds the program for people: dist/parley.cjs, which knows what is wanted and loads nothing else, and its parts in
 * dist/parts. It needs no dependencies. What every run of a kind needs stands in one file each and is run from the code
 * that V8 made of it before: reading and compiling files is most of what a start costs.
 */
import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createRequire, isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

/** Builds it. What was there before stays usable until the new files are complete. */
export const buildProgram = async (root, dist) => {
  const { build: bundle } = await import("esbuild");
  const fresh = join(dist, `parts-${process.pid}`);
  const modules = await mkdtemp(join(tmpdir(), "parley-build-"));
  try {
    const { metafile } = await bundle({
      ...options(root),
      format: "esm",
      splitting: true,
      entryPoints: [{ in: "src/cli/main.ts", out: "main" }],
      chunkNames: "[hash]",
      outdir: modules,
      metafile: true,
      plugins: [namesOnDemand, oneLocale],
    });
    const chunks = chunksOf(metafile.outputs);
    const [main, ...parts] = partsOf(chunks);
    const script = (part) => scriptOf(bundle, { root, modules, part, parts: [main, ...parts], chunks });
    await mkdir(fresh);
    await Promise.all(parts.map(async (part) => writeFile(join(fresh, `${part.name}.cjs`), await script(part))));
    const program = join(dist, `parley-${process.pid}.cjs`);
    await writeFile(program, starter(await script(main), parts));
    await chmod(program, 0o755);
    await replace(join(dist, "parts"), fresh);
    await rename(program, join(dist, "parley.cjs"));
  } finally {
    for (const folder of [fresh, modules]) await rm(folder, { recursive: true, force: true });
  }
  await keepCode(dist);
};

const options = (root) => ({
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20",
  minify: true,
  legalComments: "none",
  // One byte a letter: read and scanned in half the time.
  charset: "ascii",
  logLevel: "warning",
});

/** What esbuild made, by name: the module a chunk begins with, and what it loads at once and later. */
const chunksOf = (outputs) => {
  const nameOf = (path) => basename(path, ".js");
  const inside = (imports, kind) =>
    imports.filter((each) => each.kind === kind && each.path in outputs).map(({ path }) => nameOf(path));
  return new Map(
    Object.entries(outputs).map(([path, { entryPoint = "", imports }]) => [
      nameOf(path),
      { entryPoint, always: inside(imports, "import-statement"), later: inside(imports, "dynamic-import") },
    ]),
  );
};

const among = (...names) => new RegExp(`^(src/(${names.join("|")})\\.ts)$`);

/** Files that hold many chunks, in the order they come to be needed, and the modules that need all of one at once. */
const files = {
  main: [among("cli/main")],
  talk: [
    among("cli/headless/run", "agent/toolbox", "mcp/servers", "settings/load/project"),
    among("cli/chat/interactive", "tui/app/front-ends/screen", "settings/load/project"),
  ],
  terminal: [among("cli/chat/interactive", "tui/app/front-ends/screen")],
  // With what nearly every run loads later: what models are known for, which files are ignored, a stream.
  headless: [
    /^src\/(cli\/(headless\/run|chat\/open-session)|providers\/models)\.ts$|^on-demand:(ignore|eventsource-parser)$/,
  ],
  servers: [among("mcp/servers", "mcp/config/read-servers", "agent/mcp/server-requests")],
  toolbox: [/^src\/agent\/toolbox\.ts$|^on-demand:unbash$/],
  connection: [among("mcp/connection/connect", "mcp/catalog")],
  // Each run needs the first of these and one or two of the others.
  wires: [among("providers/definitions/google"), among("providers/definitions/anthropic")],
  openai: [among("providers/definitions/openai"), among("providers/definitions/openai-chat")],
  gemini: [among("providers/definitions/google")],
  claude: [among("providers/definitions/anthropic", "providers/definitions/bedrock")],
  responses: [among("providers/definitions/openai", "providers/definitions/xai")],
  chat: [among("providers/definitions/[a-z-]+")],
};

/** The files to be: a chunk goes into the first whose modules all need it, or has one of its own. */
const partsOf = (chunks) => {
  const placed = new Set();
  const together = Object.entries(files).map(([name, needing]) => {
    const closures = needing.map((begins) => closureOf(chunks, begins));
    const own = [...chunks.keys()].filter((chunk) => !placed.has(chunk) && closures.every((each) => each.has(chunk)));
    for (const chunk of own) placed.add(chunk);
    return { name, chunks: own, kept: true };
  });
  const alone = [...chunks.keys()].filter((chunk) => !placed.has(chunk));
  return [...together, ...alone.map((name) => ({ name, chunks: [name], kept: false }))];
};

/** All chunks that are loaded with the modules of these names. */
const closureOf = (chunks, begins) => {
  const found = new Set();
  const add = (name) => {
    if (found.has(name)) return;
    found.add(name);
    chunks.get(name).always.forEach(add);
  };
  for (const [name, { entryPoint }] of chunks) if (begins.test(entryPoint)) add(name);
  if (found.size === 0) throw new Error(`No module matches ${begins}. Put its new path into scripts/program.mjs.`);
  return found;
};

/** One file: a function that hands out its chunks by name, as far as others ask for them. */
const scriptOf = async (bundle, { root, modules, part, parts, chunks }) => {
  const own = new Set(part.chunks);
  const asked = new Set(
    [...chunks].flatMap(([name, { always, later }]) => (own.has(name) ? later : [...always, ...later])),
  );
  const handed = part.chunks.filter((name) => asked.has(name));
  const { outputFiles } = await bundle({
    ...options(root),
    format: "cjs",
    banner: { js: "(function(require,late,give,url){" },
    footer: { js: "})" },
    define: { "import.meta.url": "url" },
    stdin: {
      contents: [
        ...part.chunks.map((name) => `import "./${name}.js";`),
        ...handed.map((name, index) => `import * as part${index} from "./${name}.js";`),
        `give({ ${handed.map((name, index) => `${JSON.stringify(name)}: part${index}`).join(", ")} });`,
      ].join("\n"),
      resolveDir: modules,
    },
    outdir: modules,
    write: false,
    plugins: [onlyOwn(own, parts), lazyBuiltins],
  });
  // A script that runs from kept code cannot import by itself.
  return outputFiles[0].text.replaceAll(/\bimport\((?="([^"]+)"\))/g, (all, path) =>
    path.startsWith("./") || isBuiltin(path) ? "late(" : all,
  );
};

/** Chunks of other files, and those loaded later, are asked for when the program runs: as `./file/chunk`. */
const onlyOwn = (own, parts) => ({
  name: "only-own",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\// }, ({ path, kind }) => {
      const chunk = basename(path, ".js");
      if (kind !== "dynamic-import" && own.has(chunk)) return undefined;
      const { name } = parts.find((part) => part.chunks.includes(chunk));
      return { path: `./${name}/${chunk}`, external: true };
    }),
});

/**
 * The program's own file. Parts that are kept as code are run from it; where there is none, or another version of Node
 * made it, they are compiled as usual.
 */
const starter = (main, parts) => `#!/usr/bin/env node
"use strict";
const { readFileSync, writeFileSync } = require("node:fs");
const { pathToFileURL } = require("node:url");
const { Script } = require("node:vm");
const chunks = {};
const kept = (path) => {
  try {
    return { cachedData: readFileSync(path + ".code") };
  } catch {
    return {};
  }
};
const run = (file) => {
  const path = __dirname + "/parts/" + file + ".cjs";
  const isKept = ${JSON.stringify(parts.flatMap(({ name, kept }) => (kept ? [name] : [])))}.includes(file);
  const script = new Script(readFileSync(path, "latin1"), { filename: path, ...(isKept ? kept(path) : {}) });
  script.runInThisContext()(ask, late, give, pathToFileURL(path).href);
  if (isKept && process.env.PARLEY_KEEP_CODE === "1")
    process.on("exit", () => writeFileSync(path + ".code", script.createCachedData()));
};
const ask = (path) => {
  if (!path.startsWith("./")) return require(path);
  const [, file, chunk] = path.split("/");
  if (!(chunk in chunks)) run(file);
  return chunks[chunk];
};
const late = (path) => Promise.resolve(path).then(ask);
const give = (more) => void Object.assign(chunks, more);
${main.trim().replace(/;$/, "")}(ask, late, give, pathToFileURL(__filename).href);
`;

const replace = async (path, fresh) => {
  const old = `${path}-old-${process.pid}`;
  await rename(path, old).catch(() => undefined);
  await rename(fresh, path);
  await rm(old, { recursive: true, force: true });
};

/** Has V8 keep the code of what is kept, by having the program do a bit of everything. A convenience: without it, all works the same. */
const keepCode = async (dist) => {
  const folder = await mkdtemp(join(tmpdir(), "parley-build-"));
  const env = { ...process.env, PARLEY_KEEP_CODE: "1", PARLEY_HOME: join(folder, "home") };
  const program = join(dist, "parley.cjs");
  const ran = (...words) =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [program, ...words], { cwd: folder, env, stdio: "ignore" });
      child.on("error", resolve);
      child.on("exit", resolve);
    });
  await mkdir(join(folder, ".git"));
  await writeFile(join(folder, ".gitignore"), "ignored\n");
  await ran("trust");
  await ran("mcp", "add", "own", "--", process.execPath, program, "mcp", "serve");
  await ran("mcp", "test");
  await ran("mcp", "remove", "own");
  // The tour speaks to every provider, the others do what most do.
  await ran("tour");
  for (const task of ["list the files", "read the file .gitignore", "run the command: echo done"])
    await ran("-p", task, "-m", "offline", "--approval-mode", "yolo");
  await seen(program, { cwd: folder, env }).catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
};

/** The same before a terminal, where there is one to be had: a task is typed, and the program left once it is done. */
const seen = async (program, { cwd, env }) => {
  const { spawn: open } = await import("@lydell/node-pty");
  const size = { cols: 80, rows: 24 };
  const child = open(process.execPath, [program, "-m", "offline"], { ...size, cwd, env: { ...env, TERM: "xterm" } });
  const ended = new Promise((resolve) => child.onExit(resolve));
  const late = setTimeout(() => child.kill(), 10_000);
  let said = "";
  let step = 0;
  const steps = [
    [/ or \/help/, "list the files\r"],
    [/\.gitignore[^]*\.gitignore/, "/quit\r"],
  ];
  child.onData((text) => {
    said += text;
    const [awaited, answer] = steps[step] ?? [];
    if (awaited === undefined || !awaited.test(said)) return;
    step += 1;
    said = "";
    child.write(answer);
  });
  await ended;
  clearTimeout(late);
};

/**
 * What is loaded on demand and is no module would come with a `default` alone.
 * Here it has the names it has in Node, so that `const { parse } = await import("package")` means the same.
 */
const namesOnDemand = {
  name: "names-on-demand",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^[^./]/ }, ({ path, kind, resolveDir }) =>
      kind === "dynamic-import" && !isBuiltin(path)
        ? { path, namespace: "on-demand", pluginData: resolveDir }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: "on-demand" }, async ({ path, pluginData: resolveDir }) => {
      const file = createRequire(join(resolveDir, "from.js")).resolve(path);
      const names = Object.keys(await import(pathToFileURL(file).href)).filter(isName);
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

const isName = (name) => /^(?!default$|__esModule$)[A-Za-z_$][\w$]*$/.test(name);

/**
 * Node's own parts that few runs need are loaded by the first call of one of their functions; of the others, no more is
 * looked at than is used.
 */
const lazyBuiltins = {
  name: "lazy-builtins",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /.*/ }, ({ path, kind }) =>
      kind === "import-statement" && isBuiltin(path) ? { path, namespace: "builtin", sideEffects: false } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => {
      const part = `process.getBuiltinModule(${JSON.stringify(path)})`;
      const whole = process.getBuiltinModule(path);
      const isLate = (name) => calledLate.has(path) && typeof whole[name] === "function" && !/^[A-Z]/.test(name);
      const value = (name) =>
        isLate(name) ? `(...all) => ${part}.${name}(...all)` : `/* @__PURE__ */ (() => ${part}.${name})()`;
      const exported = Object.keys(whole)
        .filter(isName)
        .map((name) => `const own_${name} = ${value(name)}; export { own_${name} as ${name} };`);
      return { contents: [...exported, `export default /* @__PURE__ */ (() => ${part})();`].join("\n") };
    });
  },
};

/** Parts that are loaded by the first call of one of their functions. */
const calledLate = new Set(["node:child_process", "node:crypto", "node:fs/promises", "node:tty", "node:zlib"]);

/** Zod brings its messages in some fifty languages; the program speaks one. */
const oneLocale = {
  name: "one-locale",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: `export { default as en } from "./en.js";`,
    })),
};
