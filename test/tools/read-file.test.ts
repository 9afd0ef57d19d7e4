import { execFileSync } from "node:child_process";
import { appendFileSync, closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import iconv from "iconv-lite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readFile } from "../../src/tools/files/read-file.ts";
import { openWorkbench, type Workbench } from "../support/workbench.ts";
import { itInAll } from "../support/tier.ts";

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterAll(() => bench.close());

const lines = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");
const cut = (status: string, text: string): string =>
  `IMPORTANT: The file content has been truncated.\nStatus: ${status}\n\n--- FILE CONTENT (truncated) ---\n\n${text}`;

describe("read_file returns a text", () => {
  it("unchanged, with its last line ending", async () => {
    const path = bench.put("a.txt", "one\n\n  two");
    expect(await bench.call(readFile, { absolute_path: path })).toEqual({
      content: [{ type: "text", text: "one\n\n  two" }],
      display: { type: "text", text: "Read 3 lines of a.txt" },
    });
    bench.put("b.txt", "one\n");
    expect(await bench.callText(readFile, { absolute_path: "b.txt" })).toBe("one\n");
  });

  it.each(["file_path", "path", "absolute_path"])("by a path called %s", async (name) => {
    bench.put("named.txt", "here");
    expect(await bench.callText(readFile, { [name]: "./named.txt" })).toBe("here");
  });

  it("or reports that it is empty", async () => {
    bench.put("empty.txt", "");
    expect(await bench.callText(readFile, { absolute_path: "empty.txt" })).toBe("(empty.txt is empty.)");
    expect(await bench.callText(readFile, { absolute_path: "empty.txt", offset: -3 })).toBe("(empty.txt is empty.)");
  });

  it.each([
    [
      { offset: 1, limit: 2 },
      cut("Showing lines 2-3 of 9 total lines. To continue, call read_file again with offset: 3.", "line 2\nline 3"),
    ],
    [
      { limit: 1 },
      cut("Showing lines 1-1 of 9 total lines. To continue, call read_file again with offset: 1.", "line 1"),
    ],
    [{ offset: 7 }, cut("Showing lines 8-9 of 9 total lines.", "line 8\nline 9\n")],
    [{ offset: 0, limit: 9 }, lines(9)],
    [{ offset: -2 }, cut("Showing the last 2 lines.", "line 8\nline 9\n")],
    [
      { offset: -4, limit: 2 },
      cut(
        "Showing the first 2 of the last 4 lines. To continue, call read_file again with offset: -2.",
        "line 6\nline 7",
      ),
    ],
    [{ offset: -9 }, lines(9)],
    [{ offset: -100 }, lines(9)],
    [
      { start_line: 2, end_line: 3 },
      cut("Showing lines 2-3 of 9 total lines. To continue, call read_file again with offset: 3.", "line 2\nline 3"),
    ],
    [{ start_line: 8 }, cut("Showing lines 8-9 of 9 total lines.", "line 8\nline 9\n")],
    [
      { end_line: 1 },
      cut("Showing lines 1-1 of 9 total lines. To continue, call read_file again with offset: 1.", "line 1"),
    ],
  ])("in part, and says how to read on: %j", async (range, text) => {
    bench.put("nine.txt", lines(9));
    expect(await bench.callText(readFile, { absolute_path: "nine.txt", ...range })).toBe(text);
  });

  it("of at most 2000 lines", async () => {
    bench.put("many.txt", lines(2500));
    expect(await bench.callText(readFile, { absolute_path: "many.txt" })).toBe(
      cut(
        "Showing lines 1-2000 of 2500 total lines. To continue, call read_file again with offset: 2000.",
        lines(2000).trimEnd(),
      ),
    );
  });

  it("of lines of at most 2000 characters, never cut within a character", async () => {
    bench.put("long.txt", `${"x".repeat(1999)}😀y\n${"z".repeat(2000)}\r\nend\n`);
    expect(await bench.callText(readFile, { absolute_path: "long.txt" })).toBe(
      cut(
        "Showing lines 1-3 of 3 total lines. Lines longer than 2000 characters are cut.",
        `${"x".repeat(1999)}... [truncated]\n${"z".repeat(2000)}\nend\n`,
      ),
    );
  });

  it("of at most the maximum size, whatever the number of lines", async () => {
    bench.put("wide.txt", `${"w".repeat(1499)}\n`.repeat(300));
    const said = await bench.callText(readFile, { absolute_path: "wide.txt" });
    expect(said.slice(0, 150)).toContain(
      "Showing lines 1-100 of 300 total lines. To continue, call read_file again with offset: 100.",
    );
    expect(said.length).toBeLessThan(151_000);
  });

  it("and rejects an offset beyond its end", async () => {
    bench.put("nine.txt", lines(9));
    expect(await bench.failure(readFile, { absolute_path: "nine.txt", offset: 9 })).toEqual({
      type: "invalid_tool_params",
      message: "nine.txt has 9 lines; there are none at offset 9.",
    });
  });

  it("and rejects an invalid limit", async () => {
    expect((await bench.failure(readFile, { absolute_path: "nine.txt", limit: 0 })).type).toBe("invalid_tool_params");
    expect((await bench.failure(readFile, { offset: 0 })).type).toBe("invalid_tool_params");
  });
});

describe("read_file reads", () => {
  it.each([
    ["carriage returns", Buffer.from("a\r\nb\r\n"), "a\nb\n"],
    ["a byte order mark", Buffer.from("\ufeffa\n"), "a\n"],
    [
      "UTF-16, little end first",
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("näh\nx", "utf16le")]),
      "näh\nx",
    ],
    ["UTF-16, big end first", Buffer.from([0xfe, 0xff, 0, 0x68, 0, 0x69]), "hi"],
    [
      "Shift-JIS",
      iconv.encode("これは日本語の文章です。漢字とかなが混ざっています。\n", "shift_jis"),
      "これは日本語の文章です。漢字とかなが混ざっています。\n",
    ],
    [
      "Windows-1252",
      iconv.encode("Der Kaufpreis beträgt 5 € für größere Stücke – schön.\n", "windows-1252"),
      "Der Kaufpreis beträgt 5 € für größere Stücke – schön.\n",
    ],
    ["SVG", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ["text that begins like a sound", Buffer.from("ID3 tags are small.\n"), "ID3 tags are small.\n"],
    ["text that begins like a picture", Buffer.from("BMW, II*, GIF89a\n"), "BMW, II*, GIF89a\n"],
  ])("%s as text", async (_, bytes, text) => {
    bench.put("text", bytes);
    expect(await bench.callText(readFile, { absolute_path: "text" })).toBe(text);
  });

  it("UTF-16 from its end", async () => {
    bench.put("wide16.txt", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("a\nb\nc", "utf16le")]));
    expect(await bench.callText(readFile, { absolute_path: "wide16.txt", offset: -2 })).toBe(
      cut("Showing lines 2-3 of 3 total lines.", "b\nc"),
    );
  });

  it("characters split between two chunks", async () => {
    const text = `x${"é".repeat(2 ** 19)}`;
    bench.put("border.txt", `${text}\nend`);
    expect(await bench.callText(readFile, { absolute_path: "border.txt", offset: 1 })).toContain("\n\nend");
    expect(await bench.callText(readFile, { absolute_path: "border.txt" })).toContain(
      `x${"é".repeat(1999)}... [truncated]`,
    );
  });
});

const png = Buffer.concat([
  Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"),
  Buffer.from([0, 0, 2, 128, 0, 0, 1, 224, 8, 2, 0, 0, 0, 1, 2, 3, 4]),
]);
const jpeg = Buffer.concat([
  Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]),
  Buffer.alloc(14),
  Buffer.from([0xff, 0xc2, 0, 17, 8, 0, 99, 1, 44, 3]),
  Buffer.alloc(20),
]);
const riff = (kind: string, rest: Buffer): Buffer =>
  Buffer.concat([Buffer.from("RIFF\0\0\0\0"), Buffer.from(kind), rest]);

describe("read_file returns media", () => {
  it.each([
    ["image/png", png, { width: 640, height: 480 }],
    ["image/jpeg", jpeg, { width: 300, height: 99 }],
    [
      "image/gif",
      Buffer.concat([Buffer.from("GIF89a"), Buffer.from([10, 0, 20, 0]), Buffer.alloc(30)]),
      { width: 10, height: 20 },
    ],
    [
      "image/webp",
      riff(
        "WEBP",
        Buffer.concat([Buffer.from("VP8X\0\0\0\0\0\0\0\0"), Buffer.from([99, 0, 0, 49, 0, 0]), Buffer.alloc(9)]),
      ),
      { width: 100, height: 50 },
    ],
    ["image/png", png.subarray(0, 12), {}],
    ["application/pdf", Buffer.from("%PDF-1.7\n1 0 obj\n"), {}],
    ["audio/wav", riff("WAVE", Buffer.alloc(8)), {}],
    ["audio/mpeg", Buffer.from("ID3\x04\0\0"), {}],
    ["audio/ogg", Buffer.from("OggS\0\x02"), {}],
    ["video/mp4", Buffer.from("\0\0\0\x18ftypisom"), {}],
    ["video/quicktime", Buffer.from("\0\0\0\x18ftypqt  "), {}],
    ["video/webm", Buffer.from("\x1aE\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm\0", "latin1"), {}],
  ])("for %s", async (mimeType, bytes, size) => {
    bench.put("pictures/one.bin", bytes);
    const pixels = "width" in size ? `, ${size.width}x${size.height} pixels` : "";
    expect(await bench.call(readFile, { absolute_path: "pictures/one.bin" })).toEqual({
      content: [{ type: "file", mimeType, bytes: new Uint8Array(bytes), name: "one.bin", ...size }],
      display: { type: "text", text: `Read one.bin (${mimeType}, ${bytes.length} bytes${pixels})` },
    });
  });

  it("but not of more than 20 MB", async () => {
    const path = bench.put("huge.png", png);
    const handle = openSync(path, "r+");
    ftruncateSync(handle, 20 * 2 ** 20 + 1);
    closeSync(handle);
    expect(await bench.failure(readFile, { absolute_path: "huge.png" })).toEqual({
      type: "file_too_large",
      message: "huge.png has 20.0 MB; no more than 20 MB of media can be read.",
    });
  });
});

describe("read_file refuses", () => {
  it.each([
    ["what is neither text nor media", () => bench.put("x.o", Buffer.from([1, 0, 2, 0])), "read_content_failure"],
    ["a folder", () => bench.folder("x.d"), "target_is_directory"],
    ["what is not there", () => "x.none", "file_not_found"],
    ["what is outside", () => join(bench.outside, "canary.txt"), "path_not_in_workspace"],
    ["what its own name hides", () => "~/.ssh/id_rsa", "path_not_in_workspace"],
    ["an address", () => "file:///etc/passwd", "path_not_in_workspace"],
    ["a name with a NUL", () => "a.txt\0.png", "policy_violation"],
    ["a magic path", () => "/proc/self/root/etc/passwd", "path_not_in_workspace"],
  ])("%s", async (_, prepare, type) => {
    const failure = await bench.failure(readFile, { absolute_path: prepare() });
    expect(failure.type).toBe(type);
    expect(failure.message).not.toContain("canary\n");
  });

  it("a pipe, without blocking on it", async () => {
    execFileSync("mkfifo", [join(bench.root, "fifo")]);
    expect((await bench.failure(readFile, { absolute_path: "fifo" })).type).toBe("not_a_regular_file");
  });

  it.each([".parleyignore", ".geminiignore"])("files excluded by %s, by any name", async (file) => {
    const other = await openWorkbench();
    other.put(file, "secret.env\nkept/\n");
    other.put(".gitignore", "!secret.env\nopen.log\n");
    other.put("secret.env", "canary");
    other.put("kept/deep/x", "canary");
    other.put("open.log", "readable");
    other.link("alias.txt", "secret.env");
    for (const path of ["secret.env", "./x/../secret.env", "kept/deep/x", "alias.txt", join(other.root, "secret.env")])
      expect(await other.failure(readFile, { absolute_path: path })).toEqual({
        type: "policy_violation",
        message: expect.stringMatching(new RegExp(`is excluded from models by \\${file}\\.$`)) as string,
      });
    expect(await other.callText(readFile, { absolute_path: "open.log" })).toBe("readable");
    await other.close();
  });
});

describe("read_file takes little memory for a large file", () => {
  const repeated = (path: string, block: Buffer, times: number): void => {
    const handle = openSync(bench.put(path, ""), "r+");
    for (let at = 0; at < times; at++) writeSync(handle, block, 0, block.length, at * block.length);
    closeSync(handle);
  };

  it("that is read from its end", async () => {
    repeated("large.txt", Buffer.from(`${"y".repeat(99)}\n`.repeat(10_000)), 60);
    appendFileSync(join(bench.root, "large.txt"), "the end\n");
    expect(await bench.callText(readFile, { absolute_path: "large.txt", offset: -2 })).toBe(
      cut("Showing the last 2 lines.", `${"y".repeat(99)}\nthe end\n`),
    );
  });

  itInAll("and stops at a line that does not end", async () => {
    repeated("line.txt", Buffer.alloc(2 ** 22, 97), 70);
    expect(await bench.callText(readFile, { absolute_path: "line.txt" })).toBe(
      cut(
        "Showing lines 1-1 of a longer file. To continue, call read_file again with offset: 1. Lines longer than 2000 characters are cut.",
        `${"a".repeat(2000)}... [truncated]`,
      ),
    );
    expect(await bench.callText(readFile, { absolute_path: "line.txt", offset: -1 })).toBe(
      cut("Showing the last 1 lines. Lines longer than 2000 characters are cut.", `${"a".repeat(2000)}... [truncated]`),
    );
  });

  it("and stops when aborted", async () => {
    bench.put("some.txt", "some");
    const signal = AbortSignal.abort(new Error("stopped"));
    await expect(bench.call(readFile, { absolute_path: "some.txt" }, { signal })).rejects.toThrow("stopped");
  });
});
