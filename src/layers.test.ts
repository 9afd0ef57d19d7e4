import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const base = [
  "world",
  "images",
  "conversation",
  "transcript",
  "wire",
  "providers",
  "transport",
  "tools",
  "policy",
  "mcp",
  "scheduler",
  "session",
  "foreign",
  "context",
  "settings",
  "extensions",
];
const front = [
  ...base,
  "postgres",
  "ide",
  "agent",
  "offline",
  "telemetry",
  "sim",
  "cli",
  "tui",
  "acp",
  "inspect",
  "http",
  "fleet",
  "gateway",
];

/** Which folders of src/ a folder may import, besides itself and the files directly in src/ (""), which import nothing. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  "": [],
  api: [...base, "postgres", "fleet", "agent", "offline", "gateway", "http", "rules", "sim"],
  world: [],
  images: [],
  conversation: [],
  transcript: ["conversation"],
  wire: ["conversation", "transcript"],
  providers: ["wire", "transcript", "conversation"],
  transport: ["wire", "providers", "world", "transcript", "conversation"],
  rules: [],
  sim: ["rules", "world"],
  tools: ["conversation", "world"],
  // Policy implements the capabilities that tools declare.
  policy: ["tools", "world"],
  mcp: ["tools", "policy", "world", "conversation"],
  scheduler: ["conversation", "tools", "policy"],
  session: ["conversation", "world"],
  postgres: ["session", "conversation", "world"],
  foreign: ["session", "conversation", "world"],
  context: ["conversation", "tools", "policy", "world"],
  settings: ["policy", "conversation", "world"],
  extensions: ["settings", "context", "policy", "conversation", "world"],
  ide: ["mcp", "policy", "conversation", "world"],
  offline: ["world"],
  // The demo model answers where no key is set.
  agent: [...base, "offline"],
  gateway: [
    "wire",
    "providers",
    "transport",
    "transcript",
    "conversation",
    "world",
    "settings",
    "policy",
    "context",
    "http",
    "rules",
  ],
  telemetry: ["agent", "scheduler", "transport", "providers", "wire", "policy", "conversation", "world"],
  cli: [...front, "rules", "server", "a2a"],
  tui: front,
  acp: front,
  // Doors for HTTP, shared by everything that listens.
  http: [],
  // Sessions for front doors: on files in one process, or on a database with workers.
  fleet: [...base, "agent", "postgres", "http"],
  server: [...base, "agent", "telemetry", "http", "fleet"],
  a2a: [...base, "agent", "http", "fleet", "server"],
  // Front ends serve the inspector, so it uses none of them.
  inspect: [...base, "agent", "http", "rules"],
};

/** Folders that run anywhere: nothing of Node's. */
const portable = ["", "transcript", "wire", "providers", "rules"];

const src = fileURLToPath(new URL(".", import.meta.url));
const folders = readdirSync(src, { withFileTypes: true }).flatMap((item) => (item.isDirectory() ? [item.name] : []));
const isTest = (path: string): boolean => /\.(test|cases)\.ts$/.test(path);
const files = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((path) => /\.tsx?$/.test(path) && !isTest(path))
  .map((path) => ({ path, folder: path.split(/[\\/]/).slice(0, -1)[0] ?? "", imports: importsOf(path) }));

function importsOf(path: string): readonly string[] {
  const text = readFileSync(join(src, path), "utf8");
  const found = text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"']+)["']/g);
  return [...found].map(([, specifier]) => specifier!);
}

/** The folder of src/ an import leads to, or undefined when it leads out of src/. */
const folderOf = (path: string, specifier: string): string | undefined => {
  const target = relative(src, join(src, dirname(path), specifier));
  return target.startsWith("..") ? undefined : (target.split(/[\\/]/).slice(0, -1)[0] ?? "");
};

describe("the folders of src", () => {
  it("import only what stands before them in the pipeline", () => {
    const breaches = files.flatMap(({ path, folder, imports }) =>
      imports
        .filter((specifier) => specifier.startsWith("."))
        .map((specifier) => ({ specifier, to: folderOf(path, specifier) }))
        .filter(({ to }) => to !== folder && to !== "" && (to === undefined || !allowed[folder]?.includes(to)))
        .map(({ specifier }) => `${path} imports ${specifier}`),
    );
    expect(breaches).toEqual([]);
  });

  it("are all in the import table", () => {
    expect(folders.filter((folder) => !(folder in allowed))).toEqual([]);
  });

  it("use nothing of Node's where they must run anywhere", () => {
    const breaches = files.flatMap(({ path, folder, imports }) =>
      portable.includes(folder)
        ? imports.filter((name) => !name.startsWith(".")).map((name) => `${path}: ${name}`)
        : [],
    );
    expect(breaches).toEqual([]);
  });

  it("do not load a dependency with the package's front door", () => {
    const reached = new Set<string>();
    const visit = (path: string): void => {
      if (reached.has(path)) return;
      reached.add(path);
      for (const specifier of staticImportsOf(path))
        visit(specifier.startsWith(".") ? join(dirname(path), specifier) : specifier);
    };
    const staticImportsOf = (path: string): readonly string[] =>
      path.endsWith(".ts")
        ? [...readFileSync(join(src, path), "utf8").matchAll(/\bfrom "([^"]+)";/g)].map(([, specifier]) => specifier!)
        : [];
    visit(join("api", "index.ts"));
    expect([...reached].filter((path) => !path.endsWith(".ts") && !path.startsWith("node:"))).toEqual([]);
  });

  it("keep tests out of what they ship", () => {
    const breaches = files.flatMap(({ path, imports }) =>
      imports.filter((specifier) => isTest(specifier)).map((specifier) => `${path} imports ${specifier}`),
    );
    expect(breaches).toEqual([]);
  });

  it.each(folders)("explain themselves in at most 25 lines: %s", (folder) => {
    const lines = readFileSync(join(src, folder, "README.md"), "utf8")
      .trimEnd()
      .split("\n");
    expect(lines.length).toBeLessThanOrEqual(25);
  });
});
