import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listDirectory } from "../../src/tools/files/list-directory.ts";
import { openWorkbench, type Workbench } from "../support/workbench.ts";
import { itInAll } from "../support/tier.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

describe("list_directory", () => {
  it("lists the entries of a folder, folders first", async () => {
    bench.put("d/b.txt", "12345");
    bench.put("d/a.txt", "");
    bench.put("d/z/deep.txt", "x");
    bench.put("d/.hidden", "x");
    bench.link("d/link", "a.txt");
    expect(await bench.call(listDirectory, { path: "d" })).toEqual({
      content: [
        {
          type: "text",
          text: `Directory listing for ${bench.root}/d:\n[DIR] z\n.hidden (1 bytes)\na.txt (0 bytes)\nb.txt (5 bytes)\n[LINK] link`,
        },
      ],
      display: {
        type: "listing",
        title: "Listed 5 item(s)",
        lines: ["[DIR] z", ".hidden (1 bytes)", "a.txt (0 bytes)", "b.txt (5 bytes)", "[LINK] link"],
      },
    });
  });

  it.each(["path", "dir_path"])("finds the folder by a path called %s", async (name) => {
    bench.folder("d");
    expect(await bench.callText(listDirectory, { [name]: join(bench.root, "d") })).toBe("Directory {WS}/d is empty.");
  });

  it("respects the ignore parameter and ignore files", async () => {
    for (const path of ["a.ts", "a.test.ts", "x.log", "keep.log", "secret.env", "node_modules/x", ".git/config"])
      bench.put(path, "x");
    bench.put(".gitignore", "*.log\n!keep.log\nnode_modules/\n!secret.env\n");
    bench.put(".geminiignore", "secret.env\n");
    expect(await bench.callText(listDirectory, { path: ".", ignore: ["*.test.ts", ".g*"] })).toBe(
      "Directory listing for {WS}:\na.ts (1 bytes)\nkeep.log (1 bytes)\n(7 ignored)",
    );
  });

  it("lists git-ignored files on request, and never files excluded from models", async () => {
    for (const path of ["a.ts", "x.log", "secret.env"]) bench.put(path, "x");
    bench.put(".gitignore", "*.log\n");
    bench.put(".parleyignore", "secret.env\n");
    const options = { respect_git_ignore: false, respect_gemini_ignore: false };
    expect(await bench.callText(listDirectory, { path: ".", file_filtering_options: options })).toBe(
      "Directory listing for {WS}:\n.gitignore (6 bytes)\n.parleyignore (11 bytes)\na.ts (1 bytes)\nx.log (1 bytes)\n(1 ignored)\n(respect_gemini_ignore: false has no effect: .geminiignore and .parleyignore are always respected)",
    );
  });

  it("lists a git-ignored folder when it is named", async () => {
    bench.put(".gitignore", "node_modules/\n");
    bench.put("node_modules/x/index.js", "x");
    expect(await bench.callText(listDirectory, { path: "node_modules/x" })).toBe(
      "Directory listing for {WS}/node_modules/x:\nindex.js (1 bytes)",
    );
  });

  it("shows a link to the outside, and follows none", async () => {
    bench.link("away", bench.outside);
    bench.link("broken", "nowhere");
    expect(await bench.callText(listDirectory, { path: "." })).toBe(
      "Directory listing for {WS}:\n[LINK] away\n[LINK] broken",
    );
    expect((await bench.failure(listDirectory, { path: "away" })).type).toBe("path_not_in_workspace");
  });

  it("writes ambiguous names as JSON", async () => {
    mkdirSync(join(bench.root, "\u001b[2J"));
    for (const name of ["a\n[DIR] b", "$(touch x)", "z\u202e\u200b"]) writeFileSync(join(bench.root, name), "x");
    expect(await bench.callText(listDirectory, { path: "." })).toBe(
      'Directory listing for {WS}:\n[DIR] "\\u001b[2J"\n$(touch x) (1 bytes)\n"a\\n[DIR] b" (1 bytes)\n"z\\u{202e}\\u{200b}" (1 bytes)',
    );
  });

  itInAll("handles any number of entries", async () => {
    mkdirSync(join(bench.root, "many"));
    execFileSync("bash", ["-c", "seq -f %06g 12000 | xargs touch"], { cwd: join(bench.root, "many") });
    const { content, display } = await bench.call(listDirectory, { path: "many" });
    const [text] = content.map((part) => (part.type === "text" ? part.text : ""));
    expect(text).toContain("000001 (0 bytes)");
    expect(text).toMatch(
      /\[\d+ characters omitted\. The whole text is in .*listing-[0-9a-f]+\.txt; read it with read_file/,
    );
    expect(text).toMatch(/010000 \(0 bytes\)\n\(truncated: only the first 10000 entries were read\)$/);
    expect(display.type === "listing" && display.lines.length).toBe(201);
  });

  it("handles any depth", async () => {
    const deep = Array.from({ length: 400 }, () => "d").join("/");
    bench.folder(deep);
    expect(await bench.callText(listDirectory, { path: `${deep}/..` })).toContain("[DIR] d");
  });

  it.each([
    ["a file", () => bench.put("f", "x"), "path_is_not_a_directory"],
    ["what is not there", () => "none", "file_not_found"],
    ["the root of the disk", () => "/", "path_not_in_workspace"],
    ["what is above", () => "..", "path_not_in_workspace"],
    ["nothing", () => "", "invalid_tool_params"],
  ])("refuses %s", async (_, prepare, type) => {
    expect((await bench.failure(listDirectory, { path: prepare() })).type).toBe(type);
  });
});
