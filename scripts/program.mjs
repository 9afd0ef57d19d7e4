/*
 * Builds the program: dist/parley.cjs, a small entry point that loads only the parts it needs, and the parts in
 * dist/parts. The result has no dependencies. Modules that are always loaded together are bundled into one part and run
 * from V8's code cache: reading and compiling files is most of the start-up time.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createRequire, isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

/** Builds the program. The previous build stays usable until the new files are complete. */
export const buildProgram = async (root, dist) => {
  const esbuild = await import("esbuild");
  const { build: bundle } = esbuild;
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
      plugins: [namesOnDemand, oneLocale, jsoncModules],
    });
    const chunks = chunksOf(metafile.outputs);
    const [main, ...parts] = partsOf(chunks);
    const script = (part) => scriptOf(bundle, { root, modules, part, parts: [main, ...parts], chunks });
    await mkdir(fresh);
    const id = createHash("sha256");
    const texts = await Promise.all(parts.map(script));
    for (const [at, { name }] of parts.entries()) {
      // The value of a script, and the exports of a module.
      const text = `(typeof module=="object"?module:{}).exports=${texts[at].trim()}\n`;
      id.update(text);
      await writeFile(join(fresh, `${name}.cjs`), text);
    }
    const program = join(dist, `parley-${process.pid}.cjs`);
    const head = id.digest("hex").slice(0, 16);
    await writeFile(program, await starterOf(esbuild, root, await script(main), parts, head));
    await chmod(program, 0o755);
    await replace(join(dist, "parts"), fresh);
    await rename(program, join(dist, "parley.cjs"));
    return metafile;
  } finally {
    for (const folder of [fresh, modules]) await rm(folder, { recursive: true, force: true });
  }
};

const options = (root) => ({
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20",
  minify: true,
  legalComments: "none",
  // Libraries print warnings with names a server chose. They would break the screen, and nothing sanitizes them.
  drop: ["console"],
  // One byte per character: read and scanned in half the time.
  charset: "ascii",
  logLevel: "warning",
});

/** Returns the chunks esbuild made, by name: entry module, static imports and dynamic imports. */
const chunksOf = (outputs) => {
  const nameOf = (path) => basename(path, ".js");
  const inside = (imports, kind) =>
    imports.filter((each) => each.kind === kind && each.path in outputs).map(({ path }) => nameOf(path));
  return new Map(
    Object.entries(outputs).map(([path, { entryPoint = "", imports }]) => [
      nameOf(path),
      {
        entryPoint,
        staticImports: inside(imports, "import-statement"),
        dynamicImports: inside(imports, "dynamic-import"),
      },
    ]),
  );
};

const among = (...names) => new RegExp(`^(src/(${names.join("|")})\\.ts)$`);

/**
 * The parts, in order of use. A chunk belongs to the first part whose entry modules all import it statically; a part with
 * several rows takes the chunks of each.
 */
const partEntries = [
  ["main", among("cli/main")],
  [
    "common",
    among("cli/headless/run", "agent/toolbox", "mcp/servers", "settings/load/project"),
    among("cli/chat/interactive", "tui/app/front-ends/screen", "settings/load/project"),
  ],
  ["terminal", among("cli/chat/interactive", "tui/app/front-ends/screen")],
  // Including modules that nearly every run imports dynamically: model facts, ignore files, stream decoding.
  [
    "headless",
    /^src\/(cli\/(headless\/run|chat\/open-session)|providers\/models)\.ts$|^on-demand:(ignore|eventsource-parser)$/,
  ],
  // The first request must not wait for the tools, nor a tool for another provider.
  ["headless", among("agent/toolbox"), among("providers/definitions/[a-z-]+")],
  // Nor a tool for an editor.
  ["headless", among("agent/toolbox"), among("cli/acp/host", "acp/sessions")],
  // Nor a tool for MCP servers.
  ["headless", among("agent/toolbox"), among("mcp/servers", "mcp/config/read-servers", "agent/mcp/server-requests")],
  // "initialize" of an editor is answered by the first of these alone.
  ["acp", among("cli/acp/run")],
  ["editor", among("cli/acp/host", "acp/sessions")],
  // Each run needs the first of these, and one or two of the others.
  ["wires", among("providers/definitions/google"), among("providers/definitions/anthropic")],
  ["openai", among("providers/definitions/openai"), among("providers/definitions/openai-chat")],
  ["gemini", among("providers/definitions/google")],
  ["claude", among("providers/definitions/anthropic", "providers/definitions/bedrock")],
  ["responses", among("providers/definitions/openai", "providers/definitions/xai")],
  ["chat", among("providers/definitions/[a-z-]+")],
  ["servers", among("mcp/servers", "mcp/config/read-servers", "agent/mcp/server-requests")],
  ["toolbox", among("agent/toolbox")],
  // Only commands are judged, and parsed.
  ["commands", among("policy/command/open-commands")],
  ["shell", /^on-demand:unbash$/],
  ["connection", among("mcp/connection/connect", "mcp/catalog")],
];

/** Assigns chunks to parts. A chunk that belongs to none gets its own part, without code cache. */
const partsOf = (chunks) => {
  const placed = new Map();
  for (const [name, ...entries] of partEntries) {
    const closures = entries.map((entry) => closureOf(chunks, entry));
    for (const chunk of chunks.keys())
      if (!placed.has(chunk) && closures.every((closure) => closure.has(chunk))) placed.set(chunk, name);
  }
  const names = new Set(partEntries.map(([name]) => name));
  const together = [...names].map((name) => ({
    name,
    chunks: [...chunks.keys()].filter((chunk) => placed.get(chunk) === name),
    isCached: true,
  }));
  const remaining = [...chunks.keys()].filter((chunk) => !placed.has(chunk));
  return [...together, ...remaining.map((name) => ({ name, chunks: [name], isCached: false }))];
};

/** Returns all chunks that are statically imported by the entry modules that match. */
const closureOf = (chunks, entry) => {
  const found = new Set();
  const add = (name) => {
    if (found.has(name)) return;
    found.add(name);
    chunks.get(name).staticImports.forEach(add);
  };
  for (const [name, { entryPoint }] of chunks) if (entry.test(entryPoint)) add(name);
  if (found.size === 0) throw new Error(`No module matches ${entry}. Put its new path into scripts/program.mjs.`);
  return found;
};

/** Bundles one part as a function that registers its chunks by name, if other parts import them. */
const scriptOf = async (bundle, { root, modules, part, parts, chunks }) => {
  const own = new Set(part.chunks);
  const imported = new Set(
    [...chunks].flatMap(([name, { staticImports, dynamicImports }]) =>
      own.has(name) ? dynamicImports : [...staticImports, ...dynamicImports],
    ),
  );
  const exported = part.chunks.filter((name) => imported.has(name));
  const { outputFiles } = await bundle({
    ...options(root),
    format: "cjs",
    banner: { js: "(function(require,importLater,register,url){" },
    footer: { js: "})" },
    define: { "import.meta.url": "url" },
    stdin: {
      contents: [
        ...part.chunks.map((name) => `import "./${name}.js";`),
        ...exported.map((name, index) => `import * as part${index} from "./${name}.js";`),
        `register({ ${exported.map((name, index) => `${JSON.stringify(name)}: part${index}`).join(", ")} });`,
      ].join("\n"),
      resolveDir: modules,
    },
    outdir: modules,
    write: false,
    plugins: [onlyOwn(own, parts), lazyBuiltins],
  });
  // A script run from the code cache cannot use import().
  return outputFiles[0].text.replaceAll(/\bimport\((?="([^"]+)"\))/g, (all, path) =>
    path.startsWith("./") || isBuiltin(path) ? "importLater(" : all,
  );
};

/** Leaves imports of other parts, and dynamic imports, to run time: as `./part/chunk`. */
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

/** Generates the entry point: scripts/starter.cjs, then the chunks that every run needs. */
const starterOf = async ({ transform }, root, main, parts, id) => {
  const { code } = await transform(readFileSync(join(root, "scripts", "starter.cjs"), "utf8"), {
    minify: true,
    charset: "ascii",
    define: {
      BUILD_ID: JSON.stringify(id),
      CACHED_PARTS: JSON.stringify(parts.flatMap(({ name, isCached }) => (isCached ? [name] : []))),
    },
  });
  return `#!/usr/bin/env node\n${code}${main.trim().replace(/;$/, "")}(load, importLater, register, pathToFileURL(__filename).href);\n`;
};

const replace = async (path, fresh) => {
  const old = `${path}-old-${process.pid}`;
  await rename(path, old).catch(() => undefined);
  await rename(fresh, path);
  await rm(old, { recursive: true, force: true });
};

/**
 * Gives dynamically imported CommonJS packages their named exports, as in Node, so that
 * `const { parse } = await import("package")` works. esbuild alone would provide only `default`.
 */
export const namesOnDemand = {
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
 * Loads built-in modules that few runs need on the first call of one of their functions; of the others, reads only the
 * properties that are used.
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
      const isLazy = (name) => lazyModules.has(path) && typeof whole[name] === "function" && !/^[A-Z]/.test(name);
      const value = (name) =>
        isLazy(name) ? `(...args) => ${part}.${name}(...args)` : `/* @__PURE__ */ (() => ${part}.${name})()`;
      const exported = Object.keys(whole)
        .filter(isName)
        .map((name) => `const own_${name} = ${value(name)}; export { own_${name} as ${name} };`);
      return { contents: [...exported, `export default /* @__PURE__ */ (() => ${part})();`].join("\n") };
    });
  },
};

/** Built-in modules that are loaded on the first call of one of their functions. */
const lazyModules = new Set(["node:child_process", "node:crypto", "node:fs/promises", "node:tty", "node:zlib"]);

/** Bundles only the English messages of Zod, which has about fifty languages. */
export const oneLocale = {
  name: "one-locale",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: `export { default as en } from "./en.js";`,
    })),
};

/** The main file of jsonc-parser is UMD, which cannot be bundled; its ES modules can. */
const jsoncModules = {
  name: "jsonc-modules",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^jsonc-parser$/ }, ({ kind, resolveDir }) =>
      kind === "import-statement"
        ? { path: createRequire(join(resolveDir, "from.js")).resolve("jsonc-parser/lib/esm/main.js") }
        : undefined,
    ),
};
