import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt, root } from "./built.ts";

/*
 * The package as strangers get it: packed, installed into an empty folder without a network, and run there by every
 * version of Node that `node scripts/nodes.mjs` has installed, or by this one alone.
 */

type NodeProgram = { readonly version: string; readonly program: string };

const installedNodes = (): readonly NodeProgram[] => {
  const packages = join(root, ".cache", "nodes", "node_modules");
  if (!existsSync(packages)) return [{ version: process.version, program: process.execPath }];
  return readdirSync(packages)
    .filter((name) => name.startsWith("node-"))
    .map((name) => ({ version: name.slice("node-".length), program: join(packages, name, "bin", "node") }));
};

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly version: string;
  readonly exports: Readonly<Record<string, unknown>>;
};

let folder: string;
let app: string;

/** The sources without anything built, as in a fresh clone; only the dependencies are installed. */
const copySources = (): string => {
  const clone = join(folder, "clone");
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0");
  for (const path of tracked)
    if (existsSync(join(root, path)) && path !== "") cpSync(join(root, path), join(clone, path));
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  return clone;
};

beforeAll(ensureBuilt, 240_000);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-package-"));
  app = join(folder, "app");
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), '{ "private": true, "type": "module" }');
  npm(copySources(), "pack", "--pack-destination", folder);
  const [packed] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  npm(app, "install", "--offline", "--omit=optional", "--no-audit", "--no-fund", join(folder, packed!));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const npm = (cwd: string, ...words: readonly string[]): string =>
  execFileSync("npm", words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

type ProgramResult = { readonly code: number | null; readonly out: string; readonly err: string };

const run = (node: string, home: string, ...words: readonly string[]): Promise<ProgramResult> =>
  new Promise((resolve, reject) => {
    const env = { PATH: process.env["PATH"], HOME: home };
    const child = spawn(node, words, { cwd: app, env, stdio: ["ignore", "pipe", "pipe"] });
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
  });

const newHome = (): string => mkdtempSync(join(folder, "home-"));
const program = (): string => join(app, "node_modules", "parley-agent", "dist", "parley.cjs");
const task = (): readonly string[] => [program(), "-p", "list the files", "-m", "offline"];

/** Every file below a folder with its size; empty where there is no such folder. */
const filesBelow = (path: string): readonly string[] => {
  try {
    return readdirSync(path, { recursive: true, encoding: "utf8" })
      .filter((name) => statSync(join(path, name)).isFile())
      .map((name) => `${name} ${statSync(join(path, name)).mtimeMs}`)
      .toSorted();
  } catch {
    return [];
  }
};

/** Imports at the start of a line, and dynamic ones: not those that comments of bundled packages show. */
const relativeImport =
  /^(?:import|export)\b[^;]*?\bfrom "(\.[^"]+)"|^import "(\.[^"]+)"|\bimport\("(\.{1,2}\/[^"]+\.js)"\)/gm;

describe("the package", () => {
  it("brings no other package, no build stamp and no code made for another Node", () => {
    expect(readdirSync(join(app, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["parley-agent"]);
    const files = readdirSync(join(app, "node_modules", "parley-agent"), { recursive: true, encoding: "utf8" });
    expect(files.filter((path) => /stamp|\.code$|code-cache|\.test\.|\.cases\.|\/cli\/|\/tui\//.test(path))).toEqual(
      [],
    );
    expect(files).toContain(join("dist", "third-party-licences.txt"));
  });

  it("has types that need no package but zod, so that a program can check them all", () => {
    const lib = join(app, "node_modules", "parley-agent", "dist", "lib");
    const packages = readdirSync(lib, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".d.ts"))
      .flatMap((path) => [...readFileSync(join(lib, path), "utf8").matchAll(/(?:from|import\()\s*"([^."][^"]*)"/g)])
      .map(([, name]) => name!);
    expect(packages.filter((name) => name !== "zod" && !name.startsWith("node:"))).toEqual([]);
  });

  it("contains no console call: what a library prints, no one sanitizes", () => {
    const dist = join(app, "node_modules/parley-agent/dist");
    const files = [
      join(dist, "parley.cjs"),
      ...readdirSync(join(dist, "parts")).map((name) => join(dist, "parts", name)),
    ];
    const calls = files.flatMap(
      (file) => readFileSync(file, "utf8").match(/\bconsole\.(info|warn|error|debug)\(/g) ?? [],
    );
    expect([files.length > 5, calls]).toEqual([true, []]);
  });

  it("holds no module that its entry points do not reach", () => {
    const lib = join(app, "node_modules", "parley-agent", "dist", "lib");
    const reached = new Set<string>();
    const visit = (path: string): void => {
      if (reached.has(path)) return;
      reached.add(path);
      for (const [, at, bare, late] of readFileSync(path, "utf8").matchAll(relativeImport)) {
        const specifier = at ?? bare ?? late!;
        visit(join(path, "..", path.endsWith(".d.ts") ? specifier.replace(/\.js$/, ".d.ts") : specifier));
      }
    };
    for (const name of readdirSync(join(lib, "api"))) visit(join(lib, "api", name));
    const files = readdirSync(lib, { recursive: true, encoding: "utf8" }).filter((path) => /\.(js|ts)$/.test(path));
    expect(files.filter((path) => !reached.has(join(lib, path)))).toEqual([]);
  });
});

describe.each(installedNodes())("installed, with Node $version", ({ program: node }) => {
  it("answers a first task", async () => {
    const ran = await run(node, newHome(), ...task());
    expect({ code: ran.code, err: ran.err }).toEqual({ code: 0, err: "" });
    expect(ran.out).toContain("package.json");
    expect(await run(node, newHome(), program(), "--version")).toEqual({
      code: 0,
      out: `${manifest.version}\n`,
      err: "",
    });
  });

  it("shows the tour", async () => {
    const ran = await run(node, newHome(), program(), "tour");
    expect({ code: ran.code, err: ran.err }).toEqual({ code: 0, err: "" });
  });

  it("can be imported by each of its names", async () => {
    const names = Object.keys(manifest.exports).filter((name) => !name.endsWith(".json"));
    const script = names.map((name) => `await import("parley-agent${name.slice(1)}");`).join("\n");
    const ran = await run(node, newHome(), "--input-type=module", "-e", script);
    expect(ran).toEqual({ code: 0, out: "", err: "" });
  });

  it("keeps compiled code in the user's cache folder, made by the first runs and left alone by later ones", async () => {
    const home = newHome();
    const cache = join(home, ".cache", "parley", "code-cache");
    await run(node, home, ...task());
    const firstNames = new Set(filesBelow(cache).map((file) => file.split(" ")[0]));
    expect(firstNames.size).toBeGreaterThan(3);
    // A part that only some runs have time to load ahead may come later.
    const firstFiles = (): readonly string[] => filesBelow(cache).filter((file) => firstNames.has(file.split(" ")[0]));
    let [before, after]: [readonly string[], readonly string[]] = [[], firstFiles()];
    // On Node 20 each run adds the functions it used, until four in a row have nothing to add.
    for (let runs = 0; runs < 30 && before.join() !== after.join(); runs++) {
      before = after;
      await run(node, home, ...task());
      after = firstFiles();
    }
    expect(after).toEqual(before);
  });

  it("runs where nothing can be kept, and twice at once", async () => {
    const home = newHome();
    const [one, other] = await Promise.all([run(node, home, ...task()), run(node, home, ...task())]);
    expect([one.code, other.code, one.out]).toEqual([0, 0, other.out]);
    expect((await run(node, home, ...task())).code).toBe(0);
    const sealed = newHome();
    writeFileSync(join(sealed, ".cache"), "");
    chmodSync(sealed, 0o500);
    expect((await run(node, sealed, program(), "tour")).code).toBe(0);
  });
});
