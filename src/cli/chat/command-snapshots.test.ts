import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openWorkspace } from "../../policy/workspace/open.ts";
import { EditSnapshots } from "../../tui/app/session/edit-snapshots.ts";
import { realWorld } from "../../world/real/world.ts";
import { openCommandSnapshots } from "./command-snapshots.ts";

const git = "/usr/bin/git";
const made: string[] = [];
afterEach(() => {
  for (const each of made.splice(0)) rmSync(each, { recursive: true, force: true });
});

/** A project with a committed file, and the snapshots of a session in it. */
const stage = ({ isRepository = true, hasGit = true } = {}) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-snapshots-")));
  made.push(base);
  const [home, root] = [join(base, "home"), join(base, "project")];
  const put = (path: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  };
  const run = (...args: readonly string[]): string =>
    execFileSync(git, ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: root, encoding: "utf8" });
  put("a.txt", "one\n");
  put(".gitignore", "ignored/\n");
  if (isRepository) {
    run("init", "-q");
    run("add", "-A");
    run("commit", "-qm", "first");
  }
  const open = (session = "s") => openCommandSnapshots({ home, root, session, git: hasGit ? git : undefined });
  return { base, home, root, put, run, open };
};

describe("snapshots around commands", () => {
  it("store every kind of change, byte for byte, and name what they cannot store", async () => {
    const { root, put, open } = stage();
    put(".gitattributes", "* text=auto eol=lf\n");
    put("gone.txt", "gone\n");
    put("crlf.txt", "a\r\nb\r\n");
    put("folder.txt", "was a file\n");
    put("large.bin", new Uint8Array(2 ** 20 + 1));
    const snapshots = open();
    expect(await snapshots.capture()).toEqual([]);
    expect(await snapshots.capture()).toEqual([]);
    put("a.txt", "two\n");
    put("crlf.txt", "a\r\nc\r\n");
    put("new/b.bin", Uint8Array.of(0, 255, 13, 10));
    put("ignored/x", "x");
    put("large.bin", new Uint8Array(2 ** 20 + 2));
    rmSync(join(root, "gone.txt"));
    rmSync(join(root, "folder.txt"));
    put("folder.txt/inside", "file\n");
    const changes = await snapshots.capture();
    const content = async (blob: string | undefined): Promise<string | undefined> =>
      blob === undefined ? undefined : Buffer.from((await snapshots.read(blob)) ?? []).toString("latin1");
    const seen = await Promise.all(
      changes.map(async ({ path, before, after, problem }) => [
        path,
        problem ?? [await content(before), await content(after)],
      ]),
    );
    expect(Object.fromEntries(seen)).toEqual({
      "a.txt": ["one\n", "two\n"],
      "crlf.txt": ["a\r\nb\r\n", "a\r\nc\r\n"],
      "folder.txt": ["was a file\n", undefined],
      "folder.txt/inside": [undefined, "file\n"],
      "gone.txt": ["gone\n", undefined],
      "large.bin": "it is larger than 1 MB",
      "new/b.bin": [undefined, "\0\xff\r\n"],
    });
    expect(snapshots.problem()).toBeUndefined();
  });

  it("let a removed, a changed and a merely chmodded script be executable again", async () => {
    const { base, root, put, open } = stage();
    const scripts = ["removed.sh", "changed.sh", "chmodded.sh"];
    for (const name of [...scripts, "plain.sh"]) put(name, "#!/bin/sh\n");
    for (const name of scripts) chmodSync(join(root, name), 0o755);
    const snapshots = open();
    await snapshots.capture();
    rmSync(join(root, "removed.sh"));
    put("changed.sh", "other\n");
    for (const name of ["changed.sh", "chmodded.sh"]) chmodSync(join(root, name), 0o644);
    chmodSync(join(root, "plain.sh"), 0o755);
    const { disk, files } = realWorld();
    const edits = new EditSnapshots({ files }, join(base, "home"), "s");
    edits.recordCommand(await snapshots.capture(), { root, entries: 1 });
    const workspace = await openWorkspace({ disk, roots: [root], home: join(base, "h"), scratch: join(base, "h/s") });
    await edits.restore(await edits.lastCount(), { workspace, disk, readStored: snapshots.read });
    await workspace.close();
    const state = [...scripts, "plain.sh"].map((name) => [
      readFileSync(join(root, name), "utf8"),
      (statSync(join(root, name)).mode & 0o100) !== 0,
    ]);
    expect(state).toEqual([...scripts.map(() => ["#!/bin/sh\n", true]), ["#!/bin/sh\n", false]]);
  });

  it("change nothing of the user's repository, and run no program it names", async () => {
    const { base, root, put, run, open } = stage();
    const marker = join(base, "ran");
    put("run.sh", `#!/bin/sh\ntouch ${marker}\ncat\n`);
    chmodSync(join(root, "run.sh"), 0o755);
    run("config", "filter.evil.clean", join(root, "run.sh"));
    run("config", "filter.evil.required", "true");
    run("config", "core.fsmonitor", join(root, "run.sh"));
    run("config", "core.hooksPath", root);
    put(".gitattributes", "* filter=evil\n");
    rmSync(marker, { force: true });
    const state = () => [
      readFileSync(join(root, ".git/index")).toString("base64"),
      statSync(join(root, ".git/objects")).mtimeMs,
      readFileSync(join(root, ".git/HEAD"), "utf8"),
      readFileSync(join(root, ".git/logs/HEAD"), "utf8"),
    ];
    const before = state();
    const snapshots = open();
    await snapshots.capture();
    put("a.txt", "two\n");
    expect((await snapshots.capture()).map(({ path }) => path)).toEqual(["a.txt"]);
    expect([state(), existsSync(marker), snapshots.problem()]).toEqual([before, false, undefined]);
  });

  it("work in a folder without a repository, and in the next session", async () => {
    const { put, open } = stage({ isRepository: false });
    const first = open("one");
    await first.capture();
    put("a.txt", "two\n");
    const [change] = await first.capture();
    const second = open("two");
    await second.capture();
    expect(Buffer.from((await second.read(change?.before ?? "")) ?? []).toString()).toBe("one\n");
    expect(await second.read("../../HEAD")).toBeUndefined();
  });

  it("say why nothing is stored", async () => {
    const { put, open } = stage({ hasGit: false });
    const snapshots = open();
    await snapshots.capture();
    put("a.txt", "two\n");
    expect([await snapshots.capture(), snapshots.problem()]).toEqual([[], "git is not installed"]);
  });
});
