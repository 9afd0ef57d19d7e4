import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import iconv from "iconv-lite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeFile } from "../../src/tools/files/write-file.ts";
import { openWorkbench, type Workbench } from "../support/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const write = (file_path: string, content: string): Promise<string> =>
  bench.callText(writeFile, { file_path, content });
const refusal = async (file_path: string, content = "x"): Promise<string> =>
  (await bench.failure(writeFile, { file_path, content })).type;

describe("write_file", () => {
  it("creates a file with its folders, and shows a diff", async () => {
    const path = join(bench.root, "a/b/new.txt");
    expect(await bench.call(writeFile, { file_path: "a/b/new.txt", content: "one\ntwo\n" })).toEqual({
      content: [{ type: "text", text: `Successfully created and wrote to new file: ${path}.` }],
      display: {
        type: "diff",
        path,
        before: undefined,
        after: "one\ntwo\n",
        patch: `--- /dev/null\n+++ ${path}\n@@ -0,0 +1,2 @@\n+one\n+two\n`,
        stat: { aiAdded: 2, aiRemoved: 0, userAdded: 0, userRemoved: 0 },
      },
    });
    expect(bench.text("a/b/new.txt")).toBe("one\ntwo\n");
  });

  it("replaces a file, and shows the diff", async () => {
    const path = bench.put("old.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    const result = await bench.call(writeFile, { path, content: "1\n2\n3\n4\nfive\n6\n7\n8\n9" });
    expect(result).toEqual({
      content: [{ type: "text", text: `Successfully overwrote file: ${path}.` }],
      display: {
        type: "diff",
        path,
        before: "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
        after: "1\n2\n3\n4\nfive\n6\n7\n8\n9",
        patch: `--- ${path}\n+++ ${path}\n@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n-9\n+9\n\\ No newline at end of file\n`,
        stat: { aiAdded: 2, aiRemoved: 2, userAdded: 0, userRemoved: 0 },
      },
    });
  });

  it("counts the lines of model and user separately", async () => {
    const path = bench.put("old.txt", "a\nb\n");
    const approved = { before: "a\nb\n", after: "a\nB\nmine\n", proposed: "a\nB\n" };
    const input = { file_path: "old.txt", content: "a\nB\nmine\n" };
    const result = await bench.call(writeFile, input, { approved });
    expect(result.display).toMatchObject({ stat: { aiAdded: 1, aiRemoved: 1, userAdded: 1, userRemoved: 0 } });
    expect(result.content).toEqual([
      {
        type: "text",
        text: `Successfully overwrote file: ${path}. The user changed the edit before approving it; the file now contains the user's version:\na\nB\nmine\n`,
      },
    ]);
    expect(bench.text("old.txt")).toBe("a\nB\nmine\n");
  });

  it("writes the user's version of its proposal", async () => {
    bench.put("old.txt", "a\n");
    const proposal = await bench.propose(writeFile, { file_path: "old.txt", content: "b\n" });
    expect(proposal).toEqual({ path: join(bench.root, "old.txt"), before: "a\n", after: "b\n" });
    const given = { file_path: "old.txt", content: "b\n" } as never;
    expect(writeFile.amend?.(given, proposal, "c\n")).toEqual({ file_path: "old.txt", content: "c\n" });
  });

  it.each([
    ["its carriage returns", "a\r\nb\r\n", "a\nB\nc\n", "a\r\nB\r\nc\r\n"],
    ["its carriage returns, given some", "a\r\nb\r\n", "a\r\nB\r\n", "a\r\nB\r\n"],
    ["its plain line ends, given others", "a\nb\n", "a\r\nB\r\n", "a\nB\n"],
    ["the line ends of lines that stay", "a\r\nb\nc\r\nd\r\ne\n", "a\nb\nC\nd\ne\n", "a\r\nb\nC\r\nd\r\ne\n"],
    ["no line end at its end", "a\r\nb", "a\nc", "a\r\nc"],
    ["a lone carriage return", "a\rb\n", "a\rc\n", "a\rc\n"],
    ["its mark", "\ufeffa\n", "b\n", "\ufeffb\n"],
    ["nothing of an empty file", "", "a\r\nb\n", "a\r\nb\n"],
  ])("keeps a file %s", async (_, before, content, after) => {
    bench.put("kept.txt", before);
    await write("kept.txt", content);
    expect(bench.text("kept.txt")).toBe(after);
  });

  it("writes a new file with the given line endings", async () => {
    await write("run.bat", "echo a\r\necho b\r\n");
    expect(bench.text("run.bat")).toBe("echo a\r\necho b\r\n");
  });

  it.each([
    ["utf-16le", "Grüße\r\nan alle\r\n"],
    ["utf-16be", "Grüße\n"],
    ["shift_jis", "これは日本語の文章です。漢字とかなが混ざっています。\n"],
    ["windows-1252", "Der Kaufpreis beträgt 5 € für größere Stücke – schön.\n"],
  ])("keeps a file's encoding, %s", async (encoding, text) => {
    bench.put("kept.txt", iconv.encode(text, encoding, { addBOM: encoding.startsWith("utf") }));
    await write("kept.txt", `${text.replaceAll("\r\n", "\n")}more\n`);
    expect(iconv.decode(Buffer.from(bench.bytes("kept.txt"), "latin1"), encoding)).toBe(
      `${text}more${text.includes("\r") ? "\r" : ""}\n`,
    );
  });

  it("detects an encoding by a character far from the beginning", async () => {
    bench.put(
      "far.txt",
      Buffer.concat([Buffer.from("plain\n".repeat(20_000)), Buffer.from([0x67, 0x72, 0xfc, 0xdf, 10])]),
    );
    await write("far.txt", "grüß\n");
    expect(bench.bytes("far.txt")).toBe("gr\xfc\xdf\n");
  });

  it("rejects text that a file's encoding cannot represent, and does not change the file", async () => {
    const bytes = iconv.encode("Der Kaufpreis beträgt 5 € für größere Stücke – schön.\n", "windows-1252");
    bench.put("kept.txt", bytes);
    expect(await bench.failure(writeFile, { file_path: "kept.txt", content: "日本\n" })).toEqual({
      type: "file_write_failure",
      message: "kept.txt is written in windows-1252, which cannot represent this text.",
    });
    expect(bench.bytes("kept.txt")).toBe(bytes.toString("latin1"));
  });

  it("keeps a file's mode, and leaves no temporary file", async () => {
    bench.put("tool.sh", "#!/bin/sh\n", { mode: 0o750 });
    await write("tool.sh", "#!/bin/bash\n");
    expect(statSync(join(bench.root, "tool.sh")).mode & 0o777).toBe(0o750);
    expect(readdirSync(bench.root)).toEqual(["tool.sh"]);
  });

  it("writes through a link inside the workspace, and reports the real path", async () => {
    bench.put("real.txt", "a\n");
    bench.link("alias.txt", "real.txt");
    expect(await write("alias.txt", "b\n")).toBe("Successfully overwrote file: {WS}/real.txt.");
    expect(bench.text("real.txt")).toBe("b\n");
  });

  it("never writes half a surrogate pair", async () => {
    await write("half.txt", "a\ud800b");
    expect(bench.text("half.txt")).toBe("a\ufffdb");
  });

  it("reports a conflict where the file changed after approval", async () => {
    const path = bench.put("a.txt", "one\n");
    const approved = { before: "one\n", after: "two\n" };
    writeFileSync(path, "changed\n");
    expect(await bench.failure(writeFile, { file_path: "a.txt", content: "two\n" }, { approved })).toEqual({
      type: "file_modified_conflict",
      message: "{WS}/a.txt has changed since the edit was approved. Read it again and retry.",
    });
    expect(bench.text("a.txt")).toBe("changed\n");
  });

  it("reports a conflict where another version than the approved one would be written", async () => {
    bench.put("a.txt", "one\n");
    const approved = { before: "one\n", after: "two\n" };
    const failure = await bench.failure(writeFile, { file_path: "a.txt", content: "three\n" }, { approved });
    expect(failure.type).toBe("file_modified_conflict");
  });

  it("reports a conflict where a new file has appeared meanwhile", async () => {
    const approved = { before: undefined, after: "two\n" };
    bench.put("a.txt", "another user's\n");
    const failure = await bench.failure(writeFile, { file_path: "a.txt", content: "two\n" }, { approved });
    expect(failure.type).toBe("file_modified_conflict");
  });

  it.each([
    ["a folder", () => bench.folder("d"), "target_is_directory"],
    ["a binary file", () => bench.put("x.png", Buffer.from("\x89PNG\r\n\x1a\n\0", "latin1")), "read_content_failure"],
    ["the outside", () => join(bench.outside, "x"), "path_not_in_workspace"],
    [
      "the outside through a file's link",
      () => (bench.link("l", join(bench.outside, "x")), "l"),
      "path_not_in_workspace",
    ],
    ["the outside through a folder's link", () => (bench.link("m", bench.outside), "m/x"), "path_not_in_workspace"],
    ["git's hooks", () => ".git/hooks/pre-commit", "policy_violation"],
    ["git's hooks in capitals", () => ".GIT/hooks/pre-commit", "policy_violation"],
    ["a name with a line break", () => "a\nb.txt", "policy_violation"],
    ["a name with unseen characters", () => "a\u200bb.txt", "policy_violation"],
    ["what is below a file", () => `${bench.put("f", "x")}/y`, "path_is_not_a_directory"],
    [
      "what is kept from models",
      () => {
        bench.put(".parleyignore", ".env\n");
        return bench.put(".env", "SECRET=1\n");
      },
      "policy_violation",
    ],
  ])("refuses %s", async (_, prepare, type) => {
    expect(await refusal(prepare())).toBe(type);
    expect(readdirSync(bench.outside)).toEqual(["canary.txt"]);
  });

  it.skipIf(process.getuid?.() === 0)("reports missing permissions", async () => {
    chmodSync(bench.folder("locked"), 0o500);
    expect(await refusal("locked/x")).toBe("permission_denied");
  });
});

describe("a diff", () => {
  const many = (count: number, word: string): string =>
    Array.from({ length: count }, (_, index) => `${word} ${index}\n`).join("");

  it("of two long texts with nothing in common shows all of both", async () => {
    bench.put("long.txt", many(3000, "old"));
    const { display } = await bench.call(writeFile, { file_path: "long.txt", content: many(3000, "new") });
    expect(display).toMatchObject({ stat: { aiAdded: 3000, aiRemoved: 3000, userAdded: 0, userRemoved: 0 } });
    expect(display.type === "diff" && display.patch.split("\n").length).toBe(6004);
  });

  it("of two long texts with few differences shows only these", async () => {
    const text = many(50_000, "line");
    bench.put("long.txt", text);
    const { display } = await bench.call(writeFile, {
      file_path: "long.txt",
      content: text.replace("line 100\n", "").replace("line 40000\n", "other\nmore\n"),
    });
    expect(display).toMatchObject({ stat: { aiAdded: 2, aiRemoved: 2, userAdded: 0, userRemoved: 0 } });
    expect(display.type === "diff" && display.patch).toContain("@@ -98,7 +98,6 @@\n line 97\n");
  });
});
