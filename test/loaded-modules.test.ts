import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bin, ensureBuilt } from "./built.ts";
import { everyKey } from "./support/exchange.ts";
import { environmentFor, serveSimulators, type ServedSimulators } from "./support/serve-simulators.ts";
import { testedProviders } from "./support/tested-providers.ts";
import { itInAll } from "./support/tier.ts";
import { sampleCases } from "./support/tier.ts";

/*
 * The modules that the built program and library load: a turn loads only what
 * its own provider needs.
 */

let served: ServedSimulators;
let folder: string;

beforeAll(ensureBuilt, 240_000);
beforeAll(async () => {
  served = await serveSimulators();
  folder = await mkdtemp(join(tmpdir(), "parley-modules-"));
});
afterAll(async () => {
  await served.close();
  await rm(folder, { recursive: true });
});

/** The output of a run, and the URLs of the modules it loaded. */
type Ran = { readonly out: string; readonly loaded: readonly string[] };

const run = async (given: readonly string[] | { words: readonly string[]; env: object }): Promise<Ran> => {
  const { words, env: more } = "words" in given ? given : { words: given, env: {} };
  const list = join(await mkdtemp(join(folder, "run-")), "loaded.txt");
  const env = { LOADED: list, ...everyKey, ...environmentFor(served.bases), ...more };
  const out = await new Promise<string>((resolve, reject) => {
    const args = ["--import", beside("support/loaded.mjs"), ...words];
    const child = execFile(process.execPath, args, { env }, (error, said) =>
      error === null ? resolve(said) : reject(error),
    );
    child.stdin?.end();
  });
  return { out, loaded: [...new Set((await readFile(list, "utf8")).trim().split("\n"))] };
};

const beside = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The source files in the modules that were loaded, as the library's build names them in comments. */
const sourcesIn = async ({ loaded }: Ran): Promise<readonly string[]> => {
  const files = loaded.filter((url) => url.startsWith("file:")).map((url) => readFile(fileURLToPath(url), "utf8"));
  return (await Promise.all(files)).flatMap((text) =>
    [...text.matchAll(/^\/\/ (\S+\.\w+)$/gm)].map(([, path]) => path!),
  );
};

/** The packages among what was loaded, bundled or not, and Node's own `undici`, which `fetch` brings. */
const packagesIn = async (ran: Ran): Promise<readonly string[]> => {
  const paths = [...ran.loaded, ...(await sourcesIn(ran))];
  const named = paths.flatMap((path) => /.*\bnode_modules\/(@[^/]+\/[^/]+|[^/]+)/.exec(path)?.[1] ?? []);
  return [...new Set([...named, ...ran.loaded.filter((url) => url === "node:undici")])].toSorted();
};

const turn = (name: string): Promise<Ran> => run([beside("support/one-turn.mjs"), name]);

describe("a turn through the built library", () => {
  const others = testedProviders.filter((name) => name !== "bedrock");
  it.each(sampleCases(others, 4))("with %s loads one small package", async (name) => {
    const ran = await turn(name);
    expect(ran.out).toBe('You said: "Hello.".');
    expect(await packagesIn(ran)).toEqual(["eventsource-parser"]);
  });

  it("with bedrock loads request signing and event stream decoding, and no client", async () => {
    const ran = await turn("bedrock");
    expect(ran.out).toBe('You said: "Hello.".');
    expect(await packagesIn(ran)).toEqual([
      "@smithy/core",
      "@smithy/eventstream-codec",
      "@smithy/signature-v4",
      "@smithy/types",
    ]);
  });

  it("loads neither rules nor simulators", async () => {
    const sources = await sourcesIn(await turn("openai"));
    expect(sources.filter((path) => /^src\/(rules|sim)\//.test(path))).toEqual([]);
    expect(sources.some((path) => path.startsWith("src/transport/"))).toBe(true);
  });
});

describe("the built program", () => {
  it("loads only its entry point for --version", async () => {
    const { out, loaded } = await run([bin, "--version"]);
    expect(out).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(loaded.map((url) => fileURLToPath(url))).toEqual([bin]);
    expect((await readFile(bin, "utf8")).length).toBeLessThan(6000);
  });

  it("loads for a headless run only the parts it needs, and nothing of other providers", async () => {
    const env = { HOME: folder, PARLEY_HOME: join(folder, "home") };
    const ran = await run({ words: [bin, "-p", "Hello.", "-m", "anthropic"], env });
    expect(ran.out).toMatch(/^You said: /);
    const files = ran.loaded.map((url) => basename(fileURLToPath(url))).toSorted();
    // Tools are loaded while the response is awaited, so they may be missing.
    expect(files.filter((file) => !["toolbox.cjs", "commands.cjs", "shell.cjs"].includes(file))).toEqual([
      "claude.cjs",
      "common.cjs",
      "headless.cjs",
      "parley.cjs",
      "wires.cjs",
    ]);
  });

  it.each(["common", "headless", "wires", "openai", "gemini", "claude", "responses", "chat"])(
    "loads with %s, which a first request needs, no tool and no MCP server",
    async (name) => {
      const text = await readFile(join(bin, "..", "parts", `${name}.cjs`), "utf8");
      expect(text).not.toMatch(/\brequire\("\.\/(toolbox|servers|connection|terminal|acp|editor)\//);
    },
  );

  it("loads with the built-in tools neither Zod nor MCP servers, nor what only commands need", async () => {
    const [toolbox, commands, connection] = await Promise.all(
      ["toolbox", "commands", "connection"].map((name) => readFile(join(bin, "..", "parts", `${name}.cjs`), "utf8")),
    );
    // The judge of commands knows the programs that only read.
    expect(commands).toMatch(/\brealpath:/);
    expect(toolbox).not.toMatch(/\brealpath:/);
    // As Zod names its types at run time. Connections to MCP servers do need it.
    expect(connection).toContain('"ZodObject"');
    expect(toolbox).not.toContain('"ZodObject"');
    expect(toolbox).not.toMatch(/\brequire\("\.\/(commands|shell|servers|connection)\//);
  });

  it("loads nothing of sessions, tools or providers before an editor speaks", async () => {
    const { out, loaded } = await run([bin, "acp"]);
    expect(out).toBe("");
    const files = loaded.map((url) => basename(fileURLToPath(url)));
    expect(files).toContain("acp.cjs");
    expect(files.filter((file) => /^(headless|editor|terminal|toolbox|wires)/.test(file))).toEqual([]);
    expect(files.length).toBeLessThanOrEqual(5);
  });

  it.each(["servers", "toolbox", "connection"])("loads with %s nothing of a front end", async (name) => {
    const text = await readFile(join(bin, "..", "parts", `${name}.cjs`), "utf8");
    expect(text).not.toMatch(/\brequire\("\.\/(acp|editor|terminal)\//);
  });

  itInAll("needs no package", async () => {
    const ran = await run([bin, "tour"]);
    expect(await packagesIn(ran)).toEqual([]);
    expect(ran.loaded.length).toBeGreaterThan(5);
  });
});
