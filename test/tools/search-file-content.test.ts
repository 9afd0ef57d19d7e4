import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { searchFileContent } from "../../src/tools/search/search-file-content.ts";
import { openWorkbench, type Workbench } from "../support/workbench.ts";
import { itInAll, sampleCases } from "../support/tier.ts";

const variants = [
  ["with ripgrep", rgPath],
  ["without ripgrep", false],
  ["with a ripgrep that cannot run", "/nowhere/rg"],
] as const;

describe.each(sampleCases(variants, 2))("search_file_content %s", (_, ripgrep) => {
  let bench: Workbench;
  beforeEach(async () => {
    bench = await openWorkbench({ ripgrep });
  });
  afterEach(() => bench.close());

  const search = (pattern: string, more = {}): Promise<string> =>
    bench.callText(searchFileContent, { pattern, ...more });
  const filesIn = async (pattern: string, more = {}): Promise<readonly string[]> =>
    [...(await search(pattern, more)).matchAll(/^File: (.*)$/gm)].map(([, file]) => file ?? "");

  it("returns lines with their numbers, by file, ignoring case", async () => {
    bench.put("src/b.ts", "one\nNeedle two\n  needle three\n");
    bench.put("src/a.ts", "a needle");
    bench.put("src/c.ts", "nothing\n");
    expect(await bench.call(searchFileContent, { pattern: "needle" })).toEqual({
      content: [
        {
          type: "text",
          text: [
            'Found 3 matches for pattern "needle" in the workspace:',
            "---",
            "File: src/a.ts",
            "L1: a needle",
            "---",
            "File: src/b.ts",
            "L2: Needle two",
            "L3:   needle three",
            "---",
          ].join("\n"),
        },
      ],
      display: { type: "text", text: "Found 3 matches" },
    });
  });

  it("returns paths that other tools accept", async () => {
    bench.put("src/deep/a.ts", "needle");
    expect(await search("needle", { path: "src" })).toBe(
      'Found 1 match for pattern "needle" in "src":\n---\nFile: src/deep/a.ts\nL1: needle\n---',
    );
    expect(await filesIn("needle", { dir_path: join(bench.root, "src/deep") })).toEqual(["src/deep/a.ts"]);
    expect(await filesIn("needle", { path: "src/deep/a.ts" })).toEqual(["src/deep/a.ts"]);
  });

  it("reports that nothing was found", async () => {
    bench.put("a.ts", "x");
    expect(await bench.call(searchFileContent, { pattern: "needle", include: "*.js" })).toEqual({
      content: [{ type: "text", text: 'No matches found for pattern "needle" in the workspace (filter: "*.js").' }],
      display: { type: "text", text: "No matches found" },
    });
  });

  it.each(
    sampleCases(
      [
        ["*.ts", ["a.ts", "src/b.ts"]],
        ["*.{js,md}", ["src/c.js", "src/d.md"]],
        ["src/**", ["src/b.ts", "src/c.js", "src/d.md"]],
        ["src/*.ts", ["src/b.ts"]],
        ["**/*.ts", ["a.ts", "src/b.ts"]],
        ["{a.ts,src/d.md}", ["a.ts", "src/d.md"]],
        ["[ab].ts", ["a.ts", "src/b.ts"]],
        ["*.TS", []],
      ],
      3,
    ),
  )("searches only %s", async (include, files) => {
    for (const path of ["a.ts", "src/b.ts", "src/c.js", "src/d.md"]) bench.put(path, "needle");
    expect(await filesIn("needle", { include })).toEqual(files);
    expect(await filesIn("needle", { include_pattern: include })).toEqual(files);
  });

  it.each(
    sampleCases(
      [
        ["n[e]+dle$", "a needle", true],
        ["^x*$", "", false],
        ["\\bneed", "needles", true],
        ["größe", "GRÖSSE GRÖẞE Größe", true],
        ["a\\-b", "a-b", true],
        ["-e", "x -e y", true],
        ["😀.", "😀x", true],
      ],
      3,
    ),
  )("accepts the expression %s", async (pattern, text, isFound) => {
    bench.put("a.txt", text);
    expect(await filesIn(pattern)).toEqual(isFound ? ["a.txt"] : []);
  });

  it("reports an invalid expression", async () => {
    bench.put("a.txt", "x");
    const failure = await bench.failure(searchFileContent, { pattern: "foo(" });
    expect(failure.type).toBe("grep_execution_error");
    expect(failure.message).toMatch(/^The search failed: .*(unclosed group|Unterminated group)/s);
  });

  it("respects ignore files, whatever is included", async () => {
    for (const path of ["a.ts", "b.log", "secret.env", "src/kept/x.ts", "src/dist/y.ts", "dist/z.ts", ".env"])
      bench.put(path, "needle");
    bench.put(".gitignore", "*.log\n/dist\n!secret.env\n");
    bench.put(".parleyignore", "secret.env\n/src/kept\n.env\n");
    bench.put(".rgignore", "!secret.env\na.ts\n");
    bench.put(".git/config", "needle");
    expect(await filesIn("needle")).toEqual(["a.ts", "src/dist/y.ts"]);
    expect(await filesIn("needle", { path: "src" })).toEqual(["src/dist/y.ts"]);
    for (const include of ["*.env", "secret.env", "**/*.log", "**/x.ts", "src/kept/*"])
      expect(await filesIn("needle", { include })).toEqual([]);
  });

  it("finds nothing in what an ignore file of a folder below hides from models", async () => {
    for (const path of ["a.ts", "sub/b.ts", "sub/keys/k.ts", "sub/deep/c.ts"]) bench.put(path, "needle");
    bench.put("sub/.aiexclude", "keys/\n");
    bench.put("sub/deep/.cursorignore", "*\n");
    expect(await filesIn("needle")).toEqual(["a.ts", "sub/b.ts"]);
    expect(await filesIn("needle", { path: "sub/deep" })).toEqual([]);
  });

  it("applies patterns relative to their ignore file, wherever it starts", async () => {
    for (const path of ["x/a.ts", "sub/x/a.ts", "sub/y/a.ts", "sub/z/a.ts", "sub/w/a.ts"]) bench.put(path, "needle\n");
    bench.put(".parleyignore", "/x\nsub/y\n");
    bench.put("sub/.gitignore", "/z\n");
    bench.put(".gitignore", "/w\n");
    expect(await filesIn("needle")).toEqual(["sub/w/a.ts", "sub/x/a.ts"]);
    expect(await filesIn("needle", { path: "sub" })).toEqual(["sub/w/a.ts", "sub/x/a.ts"]);
    expect(await filesIn("needle", { path: "sub/x" })).toEqual(["sub/x/a.ts"]);
  });

  it("searches git-ignored files when named, never files excluded from models", async () => {
    bench.put(".gitignore", "node_modules\n*.log\n");
    bench.put(".geminiignore", "kept\nsecret\n");
    bench.put("node_modules/x/a.js", "needle");
    bench.put("b.log", "needle");
    bench.put("kept/b.js", "needle");
    bench.put("secret", "needle");
    expect(await filesIn("needle", { path: "node_modules/x" })).toEqual(["node_modules/x/a.js"]);
    expect(await filesIn("needle", { path: "b.log" })).toEqual(["b.log"]);
    for (const path of ["kept", "secret", "kept/b.js"])
      expect((await bench.failure(searchFileContent, { pattern: "needle", path })).type).toBe("policy_violation");
  });

  it("skips binary files", async () => {
    bench.put("a.bin", "needle\n\0");
    bench.put("late.bin", `${"needle\n".repeat(20_000)}\0`);
    bench.put("z.txt", "needle");
    expect(await filesIn("needle")).toEqual(["z.txt"]);
    expect(await filesIn("needle", { path: "a.bin" })).toEqual([]);
  });

  it("reads UTF-16 and carriage returns", async () => {
    bench.put("wide.txt", Buffer.from("\ufeffa\r\nthe needle\r\n", "utf16le"));
    expect(await search("needle$")).toBe(
      'Found 1 match for pattern "needle$" in the workspace:\n---\nFile: wide.txt\nL2: the needle\n---',
    );
  });

  it("follows no links", async () => {
    mkdirSync(join(bench.home, ".ssh"));
    writeFileSync(join(bench.home, ".ssh/id"), "BEGIN OPENSSH");
    bench.link("keys", join(bench.home, ".ssh"));
    bench.link("id", join(bench.home, ".ssh/id"));
    expect(await filesIn("BEGIN OPENSSH")).toEqual([]);
    expect((await bench.failure(searchFileContent, { pattern: "x", path: "keys" })).type).toBe("path_not_in_workspace");
  });

  it("cuts long lines, and never within a character", async () => {
    bench.put("a.txt", `${"ä".repeat(1999)}😀needle${"x".repeat(20_000)}\n`);
    expect(await search("needle")).toBe(
      `Found 1 match for pattern "needle" in the workspace:\n---\nFile: a.txt\nL1: ${"ä".repeat(1999)}... [truncated]\n---`,
    );
  });

  it("stops at 20,000 matches, and stores a long result in a file", async () => {
    bench.put("a.txt", "needle\n".repeat(20_005));
    const said = await search("needle");
    expect(said).toContain(
      'Found 20000 matches for pattern "needle" in the workspace (there are more; narrow the search to see them):',
    );
    expect(said).toMatch(/\[\d+ characters omitted\. The whole text is in \{KEPT\}\/search-[0-9a-f]+\.txt/);
    expect(said).toContain("L20000: needle");
    expect(said.length).toBeLessThan(41_000);
    expect(await bench.call(searchFileContent, { pattern: "needle" })).toMatchObject({
      display: { text: "Found 20000 matches (limited)" },
    });
  });

  itInAll("finds exactly 20,000 without reporting a limit", async () => {
    bench.put("a.txt", "needle\n".repeat(20_000));
    expect(await bench.call(searchFileContent, { pattern: "needle" })).toMatchObject({
      display: { text: "Found 20000 matches" },
    });
  });

  it("can search the stored part of a long result", async () => {
    bench.put("a.txt", "needle\n".repeat(9000));
    const kept = /\{KEPT\}(\/\S+\.txt)/.exec(await search("needle"))?.[1] ?? "";
    expect(await search("L8999:", { path: `${bench.scratch}${kept}` })).toContain("L9002: L8999: needle");
  });

  it("stops a runaway expression", async () => {
    bench.put("a.txt", `${"a".repeat(50_000)}!\n`);
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 10);
    const ended = await bench.callText(searchFileContent, { pattern: "(a+)+$" }).catch((error: unknown) => error);
    clearInterval(timer);
    if (ripgrep === rgPath) expect(ended).toContain("No matches found");
    else expect(ended).toMatchObject({ type: "timeout" });
    if (ripgrep !== rgPath) expect(ticks).toBeGreaterThan(20);
  });

  itInAll("stops when aborted", async () => {
    bench.put("a.txt", `${"a".repeat(50_000)}!\n`);
    const stop = new AbortController();
    const ended = bench.call(searchFileContent, { pattern: "(a+)+$" }, { signal: stop.signal });
    stop.abort(new Error("stopped"));
    await expect(ended).rejects.toThrow("stopped");
  });

  it.each(
    sampleCases(
      [
        ["an option for a filter", { include: "--pre=touch canary" }, "invalid_tool_params"],
        ["a command for a filter", { include: "$(touch canary)" }, "invalid_tool_params"],
        ["a filter that leads outside", { include: "../**" }, "path_not_in_workspace"],
        ["an absolute filter", { include: "/etc/*" }, "path_not_in_workspace"],
        ["a path like an option", { path: "-f/etc/passwd" }, "file_not_found"],
        ["a path outside", { path: "/etc" }, "path_not_in_workspace"],
        ["nothing", { pattern: "" }, "invalid_tool_params"],
      ],
      3,
    ),
  )("refuses %s", async (_what, input, type) => {
    bench.put("a.txt", "x");
    expect((await bench.failure(searchFileContent, { pattern: "x", ...input })).type).toBe(type);
    expect(existsSync(join(bench.root, "canary"))).toBe(false);
  });

  it("is not configured by the project", async () => {
    bench.put("a.txt", "needle");
    bench.put(".ripgreprc", "--pre=touch\n");
    bench.put(".ignore", "a.txt\n");
    expect(await filesIn("needle")).toEqual(["a.txt"]);
  });
});
