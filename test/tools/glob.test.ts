import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { glob } from "../../src/tools/search/glob.ts";
import { openWorkbench, type Workbench } from "../support/workbench.ts";
import { sampleCases } from "../support/tier.ts";

const noon = 1_700_000_000;

const variants = [
  ["with ripgrep", rgPath],
  ["with a ripgrep that cannot run", "/nowhere/rg"],
  ["without ripgrep", false],
] as const;

describe.each(sampleCases(variants, 2))("glob %s", (_, ripgrep) => {
  let bench: Workbench;
  beforeEach(async () => {
    bench = await openWorkbench({ ripgrep, roots: ["second"] });
  });
  afterEach(() => bench.close());

  const found = async (input: Parameters<Workbench["callText"]>[1]): Promise<readonly string[]> => {
    const [, ...lines] = (await bench.callText(glob, input)).split("\n");
    return lines.map((line) => line.replace("{WS}/", ""));
  };

  it("returns absolute paths, most recently modified first", async () => {
    bench.put("old.ts", "", { modified: noon });
    bench.put("src/new.ts", "", { modified: noon + 20 });
    bench.put("src/b.ts", "", { modified: noon + 9 });
    bench.put("src/a.ts", "", { modified: noon + 10 });
    bench.put("src/x.js", "", { modified: noon + 30 });
    const paths = ["src/new.ts", "src/a.ts", "src/b.ts", "old.ts"];
    expect(await bench.call(glob, { pattern: "**/*.ts" })).toEqual({
      content: [
        {
          type: "text",
          text: [
            `Found 4 file(s) matching "**/*.ts" within ${bench.root}, sorted by modification time (newest first):`,
            ...paths.map((path) => join(bench.root, path)),
          ].join("\n"),
        },
      ],
      display: { type: "listing", title: "Found 4 file(s)", lines: paths },
    });
  });

  it("reports that nothing was found", async () => {
    expect(await bench.call(glob, { pattern: "*.none" })).toEqual({
      content: [{ type: "text", text: `No files found matching pattern "*.none" within ${bench.root}.` }],
      display: { type: "text", text: "No files found" },
    });
    expect(await bench.callText(glob, { pattern: "none/*.ts" })).toContain("No files found");
  });

  it.each([
    ["*.ts", ["A.TS", "a.ts"]],
    ["**/*.{js,json}", ["src/b.js", "src/deep/c.json"]],
    ["src/**", ["src/b.js", "src/deep/c.json"]],
    ["src/", ["src/b.js", "src/deep/c.json"]],
    ["./src/*", ["src/b.js"]],
    ["**/c.*", ["src/deep/c.json"]],
    ["src/../a.ts", ["A.TS", "a.ts"]],
    ["?.ts", ["A.TS", "a.ts"]],
    ["[a-b].ts", ["A.TS", "a.ts"]],
    ["**/.env*", [".env.test"]],
    ["app/[id]/page.tsx", ["app/[id]/page.tsx"]],
    ["**/[id]/*.tsx", ["app/[id]/page.tsx"]],
    ["app/(group)/*", ["app/(group)/x.ts"]],
  ])("finds %s", async (pattern, paths) => {
    const all = ["a.ts", "A.TS", "src/b.js", "src/deep/c.json", ".env.test", "app/[id]/page.tsx", "app/(group)/x.ts"];
    for (const path of all) bench.put(path, "", { modified: noon });
    expect((await found({ pattern })).toSorted()).toEqual(paths);
  });

  it("is case-sensitive on request, and searches the given folder", async () => {
    for (const path of ["a.ts", "A.TS", "src/b.ts"]) bench.put(path, "");
    expect(await found({ pattern: "*.ts", case_sensitive: true })).toEqual(["a.ts"]);
    expect(await found({ pattern: "*.ts", path: "src" })).toEqual(["src/b.ts"]);
    expect(await found({ pattern: "*.ts", dir_path: join(bench.root, "src") })).toEqual(["src/b.ts"]);
  });

  it("accepts an absolute pattern inside any root", async () => {
    bench.put("src/b.ts", "");
    bench.put("../second/c.ts", "");
    expect(await found({ pattern: join(bench.root, "src/*.ts") })).toEqual(["src/b.ts"]);
    expect(await found({ pattern: join(bench.root, "../second/*.ts") })).toEqual(["{BASE}/second/c.ts"]);
  });

  it("respects ignore files, wherever it starts", async () => {
    const all = [
      "a.ts",
      "b.log",
      "dist/c.ts",
      "src/dist/d.ts",
      "src/only/e.ts",
      "src/gen/f.ts",
      "secret.ts",
      "src/kept/g.ts",
    ];
    for (const path of all) bench.put(path, "", { modified: noon });
    bench.put(".gitignore", "*.log\n/dist\nsrc/only\n!secret.ts\n!kept\n");
    bench.put("src/.gitignore", "gen/\n");
    bench.put(".parleyignore", "secret.ts\n/src/kept\n");
    bench.put(".git/x.ts", "");
    expect((await found({ pattern: "**/*.{ts,log}" })).toSorted()).toEqual(["a.ts", "src/dist/d.ts"]);
    expect(await found({ pattern: "**/*.{ts,log}", path: "src" })).toEqual(["src/dist/d.ts"]);
    expect((await found({ pattern: "**/*.{ts,log}", respect_git_ignore: false })).toSorted()).toEqual([
      "a.ts",
      "b.log",
      "dist/c.ts",
      "src/dist/d.ts",
      "src/gen/f.ts",
      "src/only/e.ts",
    ]);
  });

  it("finds nothing that an ignore file of a folder below hides from models", async () => {
    for (const path of ["a.ts", "sub/b.ts", "sub/keys/k.ts"]) bench.put(path, "", { modified: noon });
    bench.put("sub/.aiexclude", "keys/\n");
    expect((await found({ pattern: "**/*.ts" })).toSorted()).toEqual(["a.ts", "sub/b.ts"]);
    expect((await found({ pattern: "**/*.ts", respect_git_ignore: false })).toSorted()).toEqual(["a.ts", "sub/b.ts"]);
  });

  it("searches a git-ignored folder when it is named, never one excluded from models", async () => {
    bench.put(".gitignore", "node_modules\n");
    bench.put(".geminiignore", "kept\n");
    bench.put("node_modules/x/a.js", "");
    bench.put("kept/b.js", "");
    expect(await found({ pattern: "*.js", path: "node_modules/x" })).toEqual(["node_modules/x/a.js"]);
    expect((await bench.failure(glob, { pattern: "*.js", path: "kept" })).type).toBe("policy_violation");
  });

  it("follows no links", async () => {
    bench.put("a.ts", "");
    bench.put("../out/b.ts", "");
    bench.link("away", bench.outside);
    bench.link("loop", ".");
    bench.link("alias.ts", "a.ts");
    expect(await found({ pattern: "**/*.ts" })).toEqual(["a.ts"]);
  });

  it("writes names with line breaks as JSON", async () => {
    bench.put("a\nb.ts", "");
    expect(await found({ pattern: "*.ts" })).toEqual(['"a\\nb.ts"']);
  });

  it("is fast for a pattern made to be slow", async () => {
    bench.put(`${"a".repeat(250)}`, "");
    expect(await found({ pattern: `${"*a".repeat(60)}*b` })).toEqual([]);
    expect(await found({ pattern: `${"**/a*/".repeat(60)}b` })).toEqual([]);
  });

  it.each([
    ["/**/*.pem", "path_not_in_workspace"],
    ["/etc/*", "path_not_in_workspace"],
    ["../*", "path_not_in_workspace"],
    ["**/../../*", "path_not_in_workspace"],
    ["{..,src}/**", "path_not_in_workspace"],
    ["~/.ssh/*", "path_not_in_workspace"],
    ["file:///etc/*", "path_not_in_workspace"],
    ["a\0*", "invalid_tool_params"],
    ["!a*", "invalid_tool_params"],
    ["{1..999}{1..999}", "invalid_tool_params"],
    ["", "invalid_tool_params"],
  ])("refuses %j", async (pattern, type) => {
    expect((await bench.failure(glob, { pattern })).type).toBe(type);
  });

  it.each([
    ["none", "file_not_found"],
    ["f", "path_is_not_a_directory"],
    ["/", "path_not_in_workspace"],
  ])("refuses the folder %s", async (path, type) => {
    bench.put("f", "");
    expect((await bench.failure(glob, { pattern: "*", path })).type).toBe(type);
  });

  it("stops when aborted", async () => {
    bench.put("a.ts", "");
    const signal = AbortSignal.abort(new Error("stopped"));
    await expect(bench.call(glob, { pattern: "*" }, { signal })).rejects.toThrow("stopped");
  });
});
