import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readManyFiles } from "../../src/tools/files/read-many-files.ts";
import { openWorkbench, type Workbench } from "../support/workbench.ts";
import { itInAll } from "../support/tier.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench({ roots: ["second"] });
});
afterEach(() => bench.close());

const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(30)]);
const read = (paths: readonly string[], more = {}): Promise<string> =>
  bench.callText(readManyFiles, { paths, ...more });
const namesIn = async (paths: readonly string[], more = {}): Promise<readonly string[]> =>
  [...(await read(paths, more)).matchAll(/^--- \{WS\}\/(.*) ---$/gm)].map(([, file]) => file ?? "");

describe("read_many_files", () => {
  it("returns each file under its path, named ones first", async () => {
    bench.put("src/b.ts", "b\n");
    bench.put("src/a.ts", "a\n");
    bench.put("z.md", "z");
    expect(await bench.call(readManyFiles, { paths: ["z.md", "src/*.ts"] })).toEqual({
      content: [
        { type: "text", text: `--- ${bench.root}/z.md ---\n\nz\n\n` },
        { type: "text", text: `--- ${bench.root}/src/a.ts ---\n\na\n\n` },
        { type: "text", text: `--- ${bench.root}/src/b.ts ---\n\nb\n\n` },
        { type: "text", text: "--- End of content ---" },
      ],
      display: {
        type: "listing",
        title: "Read 3 file(s)",
        lines: ["z.md", "src/a.ts", "src/b.ts"].map((path) => join(bench.root, path)),
      },
    });
  });

  it.each([
    ["a folder, with all below it", ["src"], {}, ["src/a.ts", "src/deep/b.ts"]],
    ["a folder alone", ["src"], { recursive: false }, ["src/a.ts"]],
    ["more than was named", ["c.md"], { include: ["src/*"] }, ["c.md", "src/a.ts"]],
    ["less than was named", ["**/*.ts"], { exclude: ["src/deep/**"] }, ["src/a.ts"]],
    ["a folder by a name that ends in a slash", ["src/"], {}, ["src/a.ts", "src/deep/b.ts"]],
    ["each file once", ["src/a.ts", "src", "**/a.ts"], {}, ["src/a.ts", "src/deep/b.ts"]],
  ])("reads %s", async (_, paths, more, files) => {
    for (const path of ["src/a.ts", "src/deep/b.ts", "c.md"]) bench.put(path, "x");
    expect(await namesIn(paths, more)).toEqual(files);
  });

  it("accepts absolute paths in any root", async () => {
    bench.put("a.ts", "x");
    bench.put("../second/b.ts", "y");
    const second = join(bench.root, "../second");
    expect(await read([join(bench.root, "a.ts"), join(second, "*.ts")])).toBe(
      "--- {WS}/a.ts ---\n\nx\n\n--- {BASE}/second/b.ts ---\n\ny\n\n--- End of content ---",
    );
  });

  it("applies the default excludes, unless a file is named", async () => {
    for (const path of ["a.ts", "node_modules/x.js", "dist/y.js", "package-lock.json", ".env", "w.min.js"])
      bench.put(path, "x");
    expect(await namesIn(["**"])).toEqual(["a.ts"]);
    expect(await namesIn(["dist"])).toEqual([]);
    expect(await namesIn(["**"], { useDefaultExcludes: false })).toEqual([
      ".env",
      "a.ts",
      "dist/y.js",
      "node_modules/x.js",
      "package-lock.json",
      "w.min.js",
    ]);
    expect(await namesIn(["package-lock.json"])).toEqual(["package-lock.json"]);
  });

  it("respects .gitignore by default", async () => {
    bench.put(".gitignore", "*.log\n");
    bench.put("a.log", "x");
    bench.put("b.txt", "x");
    expect(await namesIn(["*.{log,txt}"])).toEqual(["b.txt"]);
    const file_filtering_options = { respect_git_ignore: false };
    expect(await namesIn(["*.{log,txt}"], { file_filtering_options })).toEqual(["a.log", "b.txt"]);
    expect(await namesIn(["a.log"])).toEqual(["a.log"]);
  });

  it.each([["secret.env"], ["alias.env"], ["./d/../secret.env"]])(
    "refuses %s, which is kept from models",
    async (path) => {
      bench.put(".parleyignore", "secret.env\n");
      bench.put("secret.env", "canary");
      bench.link("alias.env", "secret.env");
      expect((await bench.failure(readManyFiles, { paths: [path] })).type).toBe("policy_violation");
      const file_filtering_options = { respect_gemini_ignore: false };
      expect(await read(["*", "**/secret*"], { file_filtering_options, useDefaultExcludes: false })).not.toContain(
        "canary",
      );
    },
  );

  it("returns media only when named by file or extension", async () => {
    bench.put("logo.png", png);
    bench.put("notes.txt", "x");
    const file = { type: "file", mimeType: "image/png", bytes: new Uint8Array(png), name: "logo.png" };
    for (const paths of [["logo.png"], ["*.png"], ["*.{jpg,PNG}"]]) {
      const { content } = await bench.call(readManyFiles, { paths });
      expect(content.slice(0, 2)).toEqual([{ type: "text", text: `--- ${bench.root}/logo.png ---\n` }, file]);
    }
    expect(await read(["*"])).toBe(
      "--- {WS}/notes.txt ---\n\nx\n\n--- End of content ---\nSkipped: {WS}/logo.png: image/png, which must be requested by name",
    );
  });

  it("skips unreadable files among others, and fails for a single one", async () => {
    bench.put("a.dat", Buffer.from([1, 0, 2, 0]));
    bench.put("b.txt", "x");
    expect(await read(["a.dat", "b.txt"])).toBe(
      "--- {WS}/b.txt ---\n\nx\n\n--- End of content ---\nSkipped: {WS}/a.dat: neither text nor media",
    );
    expect((await bench.failure(readManyFiles, { paths: ["a.dat"] })).type).toBe("read_content_failure");
  });

  it("returns the beginning of a long file and says so", async () => {
    bench.put("long.txt", "line\n".repeat(2001));
    expect(await read(["long.txt"])).toBe(
      `--- {WS}/long.txt ---\n\n[Truncated: the first 2000 lines; read_file reads the rest.]\n${"line\n".repeat(1999)}line\n\n--- End of content ---`,
    );
  });

  it("stops at the maximum size, and says so", async () => {
    for (let index = 10; index < 30; index++) bench.put(`f${index}.txt`, `${"w".repeat(999)}\n`.repeat(20));
    const said = await read(["*.txt"]);
    expect(said).toContain(
      "--- End of content ---\nTruncated: contains 9 of 20 files. Request fewer to see the others.",
    );
    expect(said.length).toBeLessThan(170_000);
  });

  it("stops at the maximum media size", async () => {
    const large = Buffer.concat([png, Buffer.alloc(11 * 2 ** 20)]);
    for (const name of ["a.png", "b.png"]) bench.put(name, large);
    const { content } = await bench.call(readManyFiles, { paths: ["*.png"] });
    expect(content.filter(({ type }) => type === "file")).toHaveLength(1);
    expect(content.at(-1)).toEqual({
      type: "text",
      text: `--- End of content ---\nSkipped: ${bench.root}/b.png: the limit for media in one result is reached`,
    });
  });

  itInAll("reads at most a thousand files, and names few of those it skips", async () => {
    execFileSync("bash", ["-c", "for i in $(seq 1100); do printf 'a\\0' > $i.dat; done; echo x > z.txt"], {
      cwd: bench.root,
    });
    const said = await read(["*"]);
    expect(said.split("\n").filter((line) => line.startsWith("Skipped: "))).toHaveLength(21);
    expect(said).toContain("of 1000 or more files. Request fewer");
  });

  it("reports that nothing was found", async () => {
    expect(await read(["*.none", "none/*"])).toBe("No files were found for *.none, none/*.");
  });

  it.each([
    [["/etc/*", "../*"], "path_not_in_workspace"],
    [["../*"], "path_not_in_workspace"],
    [["/etc/passwd"], "path_not_in_workspace"],
    [["{..,src}/**"], "path_not_in_workspace"],
    [["**/../../*"], "path_not_in_workspace"],
    [["none.txt"], "file_not_found"],
    [[], "invalid_tool_params"],
  ])("refuses %j", async (paths, type) => {
    expect((await bench.failure(readManyFiles, { paths })).type).toBe(type);
  });

  it("stops when aborted", async () => {
    bench.put("a.txt", "x");
    const signal = AbortSignal.abort(new Error("stopped"));
    await expect(bench.call(readManyFiles, { paths: ["a.txt"] }, { signal })).rejects.toThrow("stopped");
  });
});
