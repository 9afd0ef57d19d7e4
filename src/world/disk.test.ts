import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Disk, FileHead, Folder } from "./disk.ts";
import { createPathDisk, createRealDisk } from "./real/disk/disk.ts";
import type { SeedEntry } from "./simulated/disk-tree.ts";
import { simulatedDisk } from "./simulated/disk.ts";

const realDisk = createRealDisk();
const pathDisk = createPathDisk();

/** A disk with an empty folder on it, and functions that change it as another program would. */
type Bench = {
  readonly disk: Disk;
  readonly base: string;
  readonly plant: (path: string, what: SeedEntry) => void;
  readonly uproot: (path: string) => void;
  /** File modes do not restrict root. */
  readonly obeysModes: boolean;
};

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const simulatedBench = (): Bench => {
  const disk = simulatedDisk();
  disk.seed("/base", { kind: "folder" });
  return { disk, base: "/base", plant: disk.seed, uproot: disk.removeTree, obeysModes: true };
};

const realBench = (disk: Disk): Bench => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "disk-")));
  // Node cannot remove a tree deeper than the longest path.
  closers.push(() => void execFileSync("rm", ["-rf", base]));
  const uproot = (path: string): void => rmSync(path, { recursive: true, force: true });
  return { disk, base, plant: plantReal(uproot), uproot, obeysModes: process.getuid?.() !== 0 };
};

const plantReal =
  (uproot: (path: string) => void) =>
  (path: string, what: SeedEntry): void => {
    mkdirSync(dirname(path), { recursive: true });
    uproot(path);
    switch (what.kind) {
      case "file":
        return writeFileSync(path, what.text, { mode: what.mode ?? 0o644 });
      case "folder":
        mkdirSync(path, { mode: what.mode ?? 0o755 });
        return;
      case "link":
        return symlinkSync(what.to, path);
      case "other":
        execFileSync("/usr/bin/mkfifo", [path]);
        return;
    }
  };

const file = (text: string, mode?: number): SeedEntry =>
  mode === undefined ? { kind: "file", text } : { kind: "file", text, mode };
const link = (to: string): SeedEntry => ({ kind: "link", to });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const textIn = async (folder: Folder, name: string): Promise<string> => {
  const handle = await folder.openFile(name);
  const text = new TextDecoder().decode(await handle.read(0, 1000));
  await handle.close();
  return text;
};
const namesIn = async (folder: Folder): Promise<readonly string[]> => {
  const names: string[] = [];
  for await (const { name, kind } of folder.list()) names.push(`${kind} ${name}`);
  return names.toSorted();
};
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "done",
    (error: unknown) => (error instanceof Error && "code" in error ? error.code : error),
  );

describe.each([
  { name: "a real disk walked by handles", bench: () => realBench(realDisk) },
  { name: "a real disk walked by paths", bench: () => realBench(pathDisk) },
  { name: "a simulated disk", bench: simulatedBench },
])("$name", ({ bench: newBench }) => {
  let bench: Bench;
  let folder: Folder;
  const at = (name: string): string => `${bench.base}/${name}`;
  beforeEach(async () => {
    bench = newBench();
    folder = await bench.disk.openFolder(bench.base);
  });
  afterEach(() => folder.close());

  it("resolves a path to its canonical form", async () => {
    bench.plant(at("deep/f.txt"), file("here"));
    bench.plant(at("to"), link("deep/../link"));
    bench.plant(at("link"), link(at("deep")));
    bench.plant(at("loop"), link("loop"));

    expect(
      await Promise.all(
        ["to/f.txt", "deep", "gone", "deep/f.txt/x", "loop"].map((name) => bench.disk.canonicalPath(at(name))),
      ),
    ).toEqual([at("deep/f.txt"), at("deep"), undefined, undefined, undefined]);
  });

  it("finds nothing under a name that no file can have", async () => {
    const name = "é".repeat(200);
    expect([await bench.disk.canonicalPath(at(`${name}/f.txt`)), await folder.stat(name)]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it("opens a folder only by its canonical path", async () => {
    bench.plant(at("deep/f.txt"), file("here"));
    bench.plant(at("link"), link("."));
    const opened = (path: string): Promise<unknown> =>
      codeOf(bench.disk.openFolder(path).then((found) => found.close()));

    expect(await opened(at("deep"))).toBe("done");
    expect(await opened(at("link/deep"))).toBe("ELOOP");
    expect(await opened(at("link"))).toBe("ELOOP");
    expect(await opened(at("deep/f.txt"))).toBe("ENOTDIR");
    expect(await opened(at("gone"))).toBe("ENOENT");
  });

  it("lists a folder only by its canonical path, with the kinds of its entries", async () => {
    const { disk, base, plant } = bench;
    plant(join(base, "in", "file"), { kind: "file", text: "x" });
    plant(join(base, "in", "folder"), { kind: "folder" });
    plant(join(base, "in", "link"), { kind: "link", to: "file" });
    plant(join(base, "in", "pipe"), { kind: "other" });
    plant(join(base, "way"), { kind: "link", to: "in" });
    const listed = (await disk.listNames(join(base, "in"))).toSorted((one, other) => (one.name < other.name ? -1 : 1));
    expect(listed).toEqual([
      { name: "file", kind: "file" },
      { name: "folder", kind: "folder" },
      { name: "link", kind: "link" },
      { name: "pipe", kind: "other" },
    ]);
    for (const [path, code] of [
      ["way", "ELOOP"],
      ["way/folder", "ELOOP"],
      ["in/file", "ENOTDIR"],
      ["none", "ENOENT"],
    ] as const)
      await expect(disk.listNames(join(base, path))).rejects.toMatchObject({ code });
  });

  it("reads the head of a file by its path, unless it is unchanged or behind a link", async () => {
    bench.plant(at("folder/f.txt"), file("12345"));
    bench.plant(at("folder/link"), link("f.txt"));
    bench.plant(at("folder/pipe"), { kind: "other" });
    bench.plant(at("way"), link("folder"));
    const read = (name: string, known?: string): Promise<FileHead | undefined> =>
      bench.disk.readHead(at(name), { maxBytes: 3, ...(known === undefined ? {} : { known }) });
    const head = await read("folder/f.txt");
    expect(new TextDecoder().decode(head?.bytes as Uint8Array)).toBe("123");
    expect(await read("folder/f.txt", head?.identity)).toEqual({ identity: head?.identity, bytes: "unchanged" });
    for (const name of ["folder", "folder/link", "folder/pipe", "folder/none", "way/f.txt"])
      expect([name, await read(name)]).toEqual([name, undefined]);
    const names = ["folder/f.txt", "folder", "folder/link", "folder/pipe", "folder/none"];
    expect(await bench.disk.listIdentities(names.map(at))).toEqual([head?.identity, ...Array(4).fill(undefined)]);
    bench.plant(at("folder/f.txt"), file("67890"));
    expect(await bench.disk.listIdentities([at("folder/f.txt")])).not.toEqual([head?.identity]);
  });

  it("stats an entry without following links", async () => {
    bench.plant(at("f.txt"), file("12345", 0o640));
    bench.plant(at("folder/x"), file(""));
    bench.plant(at("link"), link("f.txt"));
    bench.plant(at("pipe"), { kind: "other" });
    const seen = await Promise.all(["f.txt", "folder", "link", "pipe", "gone"].map((name) => folder.stat(name)));

    expect(seen.map((entry) => entry?.kind)).toEqual(["file", "folder", "link", "other", undefined]);
    expect(seen[0]).toMatchObject({ size: 5, mode: 0o640 });
    expect((await folder.statSelf()).kind).toBe("folder");
    expect(await namesIn(folder)).toEqual(["file f.txt", "folder folder", "link link", "other pipe"]);
  });

  it("opens files and folders, and no links to them", async () => {
    bench.plant(at("f.txt"), file("here"));
    bench.plant(at("folder/x"), file("below"));
    bench.plant(at("to-file"), link("f.txt"));
    bench.plant(at("to-folder"), link("folder"));
    bench.plant(at("pipe"), { kind: "other" });
    const names = ["f.txt", "folder", "to-file", "to-folder", "pipe", "gone"];
    const asFiles = await Promise.all(
      names.map((name) => codeOf(folder.openFile(name).then((found) => found.close()))),
    );
    const asFolders = await Promise.all(
      names.map((name) => codeOf(folder.openFolder(name).then((found) => found.close()))),
    );

    expect(asFiles).toEqual(["done", "EISDIR", "ELOOP", "ELOOP", "ENXIO", "ENOENT"]);
    expect(asFolders).toEqual(["ENOTDIR", "done", "ELOOP", "ELOOP", "ENOTDIR", "ENOENT"]);
    expect(await textIn(folder, "f.txt")).toBe("here");
    expect([await folder.readLink("to-file"), await codeOf(folder.readLink("f.txt"))]).toEqual(["f.txt", "EINVAL"]);
  });

  it.each(["", ".", "..", "a/b", "/etc", "../x", "a\0b"])("rejects the name %j", async (name) => {
    const tried = [
      folder.stat(name),
      folder.openFolder(name),
      folder.openFile(name),
      folder.readLink(name),
      folder.makeFolder(name),
      folder.writeFile(name, bytes("x")),
      folder.remove(name),
    ];

    expect(await Promise.all(tried.map(codeOf))).toEqual(tried.map(() => "EINVAL"));
  });

  it("appends to a file, which it creates for its owner alone, and truncates it", async () => {
    const log = await folder.openAppend("log");
    await log.append(bytes("one "));
    await log.append(bytes("two"));
    await log.flush();
    await folder.flush();
    const again = await folder.openAppend("log");
    await again.append(bytes(" three"));
    expect([await textIn(folder, "log"), (await log.stat()).size, (await folder.stat("log"))?.mode]).toEqual([
      "one two three",
      13,
      0o600,
    ]);
    await log.truncate(3);
    await log.append(bytes("!"));

    expect(new TextDecoder().decode(await again.read(0, 100))).toBe("one!");
    expect((await again.stat()).identity).toBe((await folder.stat("log"))?.identity);
    await log.close();
    await again.close();
    expect(await codeOf(log.append(bytes("x")))).toBe("EBADF");
  });

  it("appends to regular files only, and never through a link", async () => {
    bench.plant(at("folder/x"), file(""));
    bench.plant(at("outside"), file("here"));
    bench.plant(at("link"), link("outside"));
    bench.plant(at("dangling"), link("gone"));
    bench.plant(at("pipe"), { kind: "other" });
    const names = ["folder", "link", "dangling", "pipe", ".."];

    expect(await Promise.all(names.map((name) => codeOf(folder.openAppend(name))))).toEqual([
      "EISDIR",
      "ELOOP",
      "ELOOP",
      "ENXIO",
      "EINVAL",
    ]);
    expect(await folder.stat("gone")).toBeUndefined();
  });

  it("reads any part of a file, and less only at its end", async () => {
    bench.plant(at("f.txt"), file("0123456789"));
    const handle = await folder.openFile("f.txt");
    const parts = [
      [0, 4],
      [8, 4],
      [10, 4],
      [99, 4],
      [2, 2 ** 40],
    ] as const;
    const read = await Promise.all(parts.map(([start, length]) => handle.read(start, length)));

    expect(read.map((part) => new TextDecoder().decode(part))).toEqual(["0123", "89", "", "", "23456789"]);
    expect(await handle.stat()).toEqual(await folder.stat("f.txt"));
    await handle.close();
  });

  it("keeps reading the opened file when another takes its name", async () => {
    bench.plant(at("f.txt"), file("old"));
    const handle = await folder.openFile("f.txt");
    await folder.writeFile("f.txt", bytes("new"));

    expect(new TextDecoder().decode(await handle.read(0, 9))).toBe("old");
    expect(await textIn(folder, "f.txt")).toBe("new");
    await handle.close();
  });

  it("writes a file atomically, keeps its mode, and leaves no temporary file", async () => {
    bench.plant(at("script"), file("old", 0o750));
    const identities = [
      await folder.writeFile("script", bytes("new")),
      await folder.writeFile("private", bytes("new"), 0o600),
    ];
    const seen = await Promise.all(["script", "private"].map((name) => folder.stat(name)));

    expect(seen.map((entry) => [entry?.mode, entry?.size, entry?.identity])).toEqual([
      [0o750, 3, identities[0]],
      [0o600, 3, identities[1]],
    ]);
    expect(await namesIn(folder)).toEqual(["file private", "file script"]);
  });

  it("replaces a link by the file, and does not touch its target", async () => {
    bench.plant(at("target"), file("untouched"));
    bench.plant(at("link"), link("target"));
    await folder.writeFile("link", bytes("mine"));

    expect([await textIn(folder, "link"), await textIn(folder, "target")]).toEqual(["mine", "untouched"]);
  });

  it("does not replace a folder by a file", async () => {
    bench.plant(at("folder/x"), file("kept"));

    expect(await codeOf(folder.writeFile("folder", bytes("x")))).toBe("EISDIR");
    expect(await namesIn(folder)).toEqual(["folder folder"]);
  });

  it("creates a folder or keeps an existing one, but not in place of another entry", async () => {
    bench.plant(at("f.txt"), file(""));
    bench.plant(at("link"), link("."));
    const made = ["new", "new", "f.txt", "link"];
    const codes: unknown[] = [];
    for (const name of made) codes.push(await codeOf(folder.makeFolder(name)));

    expect(codes).toEqual(["done", "done", "EEXIST", "EEXIST"]);
    expect(await namesIn(folder)).toEqual(["file f.txt", "folder new", "link link"]);
  });

  it("removes files, links and empty folders, and ignores missing entries", async () => {
    bench.plant(at("f.txt"), file(""));
    bench.plant(at("link"), link("full"));
    bench.plant(at("empty"), { kind: "folder" });
    bench.plant(at("full/x"), file("kept"));
    const codes = await Promise.all(
      ["f.txt", "link", "empty", "full", "gone"].map((name) => codeOf(folder.remove(name))),
    );

    expect(codes).toEqual(["done", "done", "done", "ENOTEMPTY", "done"]);
    expect(await namesIn(folder)).toEqual(["folder full"]);
  });

  it("renames files, links and folders, but not onto another name", async () => {
    bench.plant(at("f.txt"), file("text"));
    bench.plant(at("link"), link("f.txt"));
    bench.plant(at("full/x"), file("kept"));
    const pairs = [
      ["f.txt", "g.txt"],
      ["full", "moved"],
      ["link", "g.txt"],
      ["gone", "other"],
    ] as const;
    const codes: unknown[] = [];
    for (const [name, to] of pairs) codes.push(await codeOf(folder.rename(name, to)));

    expect(codes).toEqual(["done", "done", "EEXIST", "ENOENT"]);
    expect(await namesIn(folder)).toEqual(["file g.txt", "folder moved", "link link"]);
    expect(await textIn(folder, "g.txt")).toBe("text");
  });

  it("changes the identity of changed and replaced entries, and of no others", async () => {
    bench.plant(at("f.txt"), file("one"));
    bench.plant(at("g.txt"), file("one"));
    const before = (await folder.stat("f.txt"))?.identity;
    const again = (await folder.stat("f.txt"))?.identity;
    bench.plant(at("f.txt"), file("other"));
    const after = (await folder.stat("f.txt"))?.identity;

    expect(again).toBe(before);
    expect(new Set([before, after, (await folder.stat("g.txt"))?.identity]).size).toBe(3);
  });

  it("never follows a link that replaced a folder", async () => {
    bench.plant(at("d/f.txt"), file("inside"));
    bench.plant(at("out/f.txt"), file("outside"));
    const below = await folder.openFolder("d");
    bench.uproot(at("d"));
    bench.plant(at("d"), link("out"));
    const tried = [
      await codeOf(textIn(below, "f.txt")),
      await codeOf(below.writeFile("f.txt", bytes("mine"))),
      await codeOf(below.remove("f.txt")),
    ];
    await below.close();

    expect(tried).not.toContain("outside");
    expect(tried[1]).not.toBe("done");
    expect(await bench.disk.canonicalPath(at("out/f.txt"))).toBe(at("out/f.txt"));
    const out = await folder.openFolder("out");
    expect(await textIn(out, "f.txt")).toBe("outside");
    await out.close();
  });

  it("rejects every operation once it is closed", async () => {
    bench.plant(at("f.txt"), file("here"));
    const closed = await bench.disk.openFolder(bench.base);
    await closed.close();

    expect(
      await Promise.all([closed.stat("f.txt"), closed.writeFile("f.txt", bytes("")), closed.statSelf()].map(codeOf)),
    ).toEqual(["EBADF", "EBADF", "EBADF"]);
  });

  it("respects file modes", async ({ skip }) => {
    if (!bench.obeysModes) skip("file modes do not restrict root");
    bench.plant(at("secret"), file("x", 0o000));
    bench.plant(at("shut/x"), file("x"));
    bench.plant(at("fixed"), { kind: "folder", mode: 0o500 });
    const fixed = await folder.openFolder("fixed");

    expect([await codeOf(folder.openFile("secret")), await codeOf(fixed.writeFile("x", bytes("x")))]).toEqual([
      "EACCES",
      "EACCES",
    ]);
    await fixed.close();
  });
});

describe("a real disk", () => {
  const openedIn = (base: string): readonly string[] =>
    readdirSync("/proc/self/fd")
      .map((number) => {
        try {
          return readlinkSync(`/proc/self/fd/${number}`);
        } catch {
          return "";
        }
      })
      .filter((path) => path.startsWith(base));
  const hasProc = existsSync("/proc/self/fd");

  it.runIf(hasProc)("keeps using a folder that was moved, since it holds the handle and not the path", async () => {
    const { disk, base } = realBench(realDisk);
    mkdirSync(join(base, "d"));
    const folder = await disk.openFolder(join(base, "d"));
    renameSync(join(base, "d"), join(base, "moved"));
    await folder.writeFile("f.txt", bytes("here"));
    await folder.close();

    expect(readFileSync(join(base, "moved/f.txt"), "utf8")).toBe("here");
  });

  it.runIf(hasProc)("closes every handle, also on failure", async () => {
    for (const disk of [realDisk, pathDisk]) {
      const { base, plant } = realBench(disk);
      plant(join(base, "d/f.txt"), file("x"));
      plant(join(base, "link"), link("d"));
      plant(join(base, "pipe"), { kind: "other" });
      for (let turn = 0; turn < 20; turn++) {
        const folder = await disk.openFolder(base);
        expect(openedIn(base)).toEqual([base]);
        for (const name of ["d", "link", "pipe", "gone"]) {
          await codeOf(folder.openFolder(name).then((found) => found.close()));
          await codeOf(folder.openFile(name).then((found) => found.close()));
          await codeOf(folder.writeFile(name === "d" ? "d" : "put", bytes("x")));
        }
        for await (const { name } of folder.list()) if (name !== "") break;
        await folder.close();
        await codeOf(disk.openFolder(join(base, "link")));
        await codeOf(disk.openFolder(join(base, "d/f.txt")));
      }

      expect(openedIn(base)).toEqual([]);
    }
  });

  it("leaves no temporary file when a write fails", async () => {
    for (const disk of [realDisk, pathDisk]) {
      const { base } = realBench(disk);
      const folder = await disk.openFolder(base);

      expect(await codeOf(folder.writeFile("n".repeat(300), bytes("x")))).toBe("ENAMETOOLONG");
      expect(readdirSync(base)).toEqual([]);
      await folder.close();
    }
  });

  it("creates new files with the mode the umask allows", async () => {
    const { base } = realBench(realDisk);
    writeFileSync(join(base, "usual"), "");
    const folder = await realDisk.openFolder(base);
    await folder.writeFile("new", bytes(""));
    await folder.close();

    expect(statSync(join(base, "new")).mode).toBe(statSync(join(base, "usual")).mode);
  });

  it("does not change other hard links to the file", async () => {
    const { base } = realBench(realDisk);
    writeFileSync(join(base, "outside"), "kept");
    linkSync(join(base, "outside"), join(base, "inside"));
    const folder = await realDisk.openFolder(base);
    await folder.writeFile("inside", bytes("new"));
    await folder.close();

    expect([readFileSync(join(base, "outside"), "utf8"), readFileSync(join(base, "inside"), "utf8")]).toEqual([
      "kept",
      "new",
    ]);
  });

  it("waits for pending operations before it closes", async () => {
    const { base } = realBench(realDisk);
    const folder = await realDisk.openFolder(base);
    const puts = Array.from({ length: 20 }, (_, index) => folder.writeFile(`${index}`, bytes("x")));
    await folder.close();
    await Promise.all(puts);

    expect(readdirSync(base)).toHaveLength(20);
  });

  it("walks folders deeper than the longest path the system accepts", async () => {
    const { base } = realBench(realDisk);
    const name = "d".repeat(200);
    let folder = await realDisk.openFolder(base);
    for (let depth = 0; depth < 40; depth++) {
      await folder.makeFolder(name);
      const below = await folder.openFolder(name);
      await folder.close();
      folder = below;
    }
    await folder.writeFile("f.txt", bytes("deep"));

    expect(await textIn(folder, "f.txt")).toBe("deep");
    await folder.close();
  });
});
