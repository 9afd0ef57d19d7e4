/*
 * Builds dist/lib, the package for programs: the entry points of src/api with all they need in shared chunks, so that
 * importing the package installs nothing else, and their types.
 */
import { spawn } from "node:child_process";
import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { namesOnDemand, oneLocale } from "./program.mjs";

/** Builds it and returns what esbuild put into it. The files of the last build stay usable until the new ones are complete. */
export const buildLibrary = async (root, dist) => {
  const { build: bundle } = await import("esbuild");
  const fresh = join(dist, `lib-${process.pid}`);
  const old = join(dist, `old-${process.pid}`);
  try {
    const [{ metafile }] = await Promise.all([bundle(options(root, fresh)), writeTypes(root, fresh)]);
    allowRequire(fresh);
    await rename(join(dist, "lib"), old).catch(() => undefined);
    await rename(fresh, join(dist, "lib"));
    return metafile;
  } finally {
    for (const folder of [old, fresh]) await rm(folder, { recursive: true, force: true });
  }
};

const options = (root, outdir) => ({
  absWorkingDir: root,
  entryPoints: ["src/api/*.ts"],
  outbase: "src",
  outdir,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  chunkNames: "chunks/[name]-[hash]",
  legalComments: "none",
  logLevel: "warning",
  metafile: true,
  external: ["@vscode/ripgrep"],
  plugins: [namesOnDemand, oneLocale],
});

/** Packages written as CommonJS ask for Node's own modules by `require`, which a module does not have. */
const allowRequire = (folder) => {
  const chunks = readdirSync(join(folder, "chunks")).map((name) => join(folder, "chunks", name));
  const [helper] = chunks.filter((file) => readFileSync(file, "utf8").includes("var __require = "));
  const text = readFileSync(helper, "utf8");
  const fixed = text.replace(
    /^var __require = [^]*?\n\}\);$/m,
    'var __require = (name) => process.getBuiltinModule("node:module").createRequire(import.meta.url)(name);',
  );
  if (fixed === text) throw new Error("The helper __require is not where it was in esbuild's output.");
  writeFileSync(helper, fixed);
};

/** Types of the entry points, and of what those name. Declarations that nothing of it names are removed. */
const writeTypes = async (root, folder) => {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  // Types are checked by `npm run check`; here that would be half of the build.
  await run(root, tsc, ["-p", "tsconfig.build.json", "--emitDeclarationOnly", "--noCheck", "--outDir", folder]);
  const reached = new Set();
  const visit = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    const text = readFileSync(file, "utf8");
    for (const [, specifier] of text.matchAll(relativeImport)) visit(join(dirname(file), `${specifier}.d.ts`));
    // The compiler leaves .ts in the imports of types.
    writeFileSync(file, hideBundledTypes(text.replace(relativeImport, (all) => all.replace(/\.ts(?=["'])/, ".js"))));
  };
  for (const name of readdirSync(join(folder, "api"))) if (name.endsWith(".d.ts")) visit(join(folder, "api", name));
  removeOthers(folder, reached);
};

/** Types of packages whose code is in ours become opaque: programs do not have these packages, and do not need them. */
const hideBundledTypes = (text) =>
  text.replace(/^import (?:type )?\{([^}]*)\} from "(?!\.|node:|zod")[^"]+";$/gm, (_, names) =>
    names
      .split(",")
      .map((name) => `type ${name.replace("type ", "").trim()} = unknown;`)
      .join("\n"),
  );

const relativeImport = /\b(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"']*)\.(?:ts|js)["']/g;

const removeOthers = (folder, reached) => {
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const file = join(folder, path);
    if (/\.(test|cases)\.d\.ts$/.test(path)) throw new Error(`${path} does not belong in the package.`);
    if (path.endsWith(".d.ts") && !reached.has(file)) rmSync(file);
  }
  const isEmpty = (path) => statSync(path).isDirectory() && readdirSync(path).length === 0;
  const folders = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => join(folder, path));
  for (const path of folders.toSorted((one, other) => other.length - one.length))
    if (isEmpty(path)) rmSync(path, { recursive: true });
};

const run = (cwd, script, words) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...words], { cwd, stdio: ["ignore", 2, 2] });
    child.on("error", reject);
    child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`tsc found errors (exit code ${code}).`))));
  });

/** Licence texts of all packages whose code is in what esbuild built. */
export const licencesOf = (root, metafiles) => {
  const inputs = metafiles.flatMap(({ inputs }) => Object.keys(inputs));
  const folders = new Set(
    inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path.replace(/^on-demand:/, ""))?.[0] ?? []),
  );
  const texts = [...folders]
    .toSorted((one, other) => (one < other ? -1 : 1))
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
      const file = readdirSync(join(root, folder)).find((each) => /^(licen[cs]e|copying)/i.test(each));
      const text = file === undefined ? `Licence: ${license}` : readFileSync(join(root, folder, file), "utf8").trim();
      return `${name} ${version}\n\n${text}\n`;
    });
  return [`Parley contains code of these packages.\n`, ...new Set(texts)].join(`\n${"-".repeat(80)}\n\n`);
};
