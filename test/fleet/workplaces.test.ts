import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSessionFolders, type SessionFolderKind } from "../../src/fleet/session-folders.ts";
import { describeWorkplace, type Workplace, type Workplaces } from "../../src/fleet/workplace.ts";
import { realWorld } from "../../src/world/real/world.ts";

const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync(
    "git",
    ["-c", "core.hooksPath=/dev/null", "-c", "user.name=Test", "-c", "user.email=test@example.com", ...args],
    {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env["PATH"] ?? "", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
    },
  ).trim();

const commit = (folder: string, name: string): void => {
  writeFileSync(join(folder, name), "text\n");
  git(folder, "add", "-A");
  git(folder, "commit", "-qm", name);
};

const stash = (folder: string): void => {
  writeFileSync(join(folder, "one.txt"), "x");
  git(folder, "stash", "-q");
};

describe("folders of sessions", () => {
  let home: string;
  let project: string;
  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), "parley-workplaces-")));
    project = join(home, "project");
    for (const folder of ["project", "base"]) mkdirSync(join(home, folder));
    git(project, "init", "-q", "-b", "main");
    commit(project, "one.txt");
    // Neither a hook nor a filter of the project may run.
    writeFileSync(join(project, ".git/hooks/post-checkout"), `#!/bin/sh\ntouch ${home}/hook-ran\n`, { mode: 0o755 });
    writeFileSync(join(project, ".git/info/attributes"), "* filter=planted\n");
    git(project, "config", "filter.planted.smudge", `touch ${home}/filter-ran; cat`);
  });
  afterEach(() => {
    expect(["hook-ran", "filter-ran"].filter((name) => existsSync(join(home, name)))).toEqual([]);
    rmSync(home, { recursive: true, force: true });
  });

  const open = (kind: SessionFolderKind): Workplaces =>
    openSessionFolders({ world: realWorld(), base: join(home, "base"), kind });
  const request = (id: string, fence = 1) => ({ tenant: "acme", id, fence, project });
  const isGone = async (): Promise<boolean> => true;

  it.each([
    ["folder", [], ""],
    ["worktree", ["one.txt"], "parley/s1"],
    ["clone", ["one.txt"], "parley/s1"],
  ] as const)("%s: begins as it should, and is the same for the next owner", async (kind, files, branch) => {
    const workplaces = open(kind);
    const first = await workplaces.open(request("s1"));
    expect(first.isNew).toBe(true);
    expect(files.filter((name) => existsSync(join(first.folder, name)))).toEqual(files);
    if (branch !== "") expect(git(first.folder, "branch", "--show-current")).toBe(branch);
    writeFileSync(join(first.folder, "mine.txt"), "mine");
    const next = await workplaces.open(request("s1", 2));
    expect({ folder: next.folder, isNew: next.isNew }).toEqual({ folder: first.folder, isNew: false });
    expect(readFileSync(join(next.folder, "mine.txt"), "utf8")).toBe("mine");
    const other = await workplaces.open(request("s2"));
    expect(other.folder).not.toBe(first.folder);
    expect(existsSync(join(other.folder, "mine.txt"))).toBe(false);
    expect(existsSync(join(project, "mine.txt"))).toBe(false);
  });

  it.each(["worktree", "clone"] as const)(
    "%s: a lost folder is made anew, with the work that was saved",
    async (kind) => {
      const workplaces = open(kind);
      const { folder } = await workplaces.open(request("s1"));
      commit(folder, "two.txt");
      if (kind === "clone") git(folder, "push", "-q", "origin", "parley/s1");
      rmSync(folder, { recursive: true });
      const anew = await workplaces.open(request("s1", 2));
      expect(anew.isNew).toBe(true);
      expect(existsSync(join(anew.folder, "two.txt"))).toBe(true);
    },
  );

  it("a folder whose making was interrupted is made again", async () => {
    const workplaces = open("clone");
    const { folder } = await workplaces.open(request("s1"));
    rmSync(`${folder}.json`);
    rmSync(join(folder, "one.txt"));
    expect((await workplaces.open(request("s1", 2))).isNew).toBe(true);
    expect(existsSync(join(folder, "one.txt"))).toBe(true);
  });

  it.each<readonly [SessionFolderKind, string, (folder: string) => void, string | undefined]>([
    ["folder", "nothing in it", () => undefined, undefined],
    ["folder", "a file", (folder) => writeFileSync(join(folder, "a"), ""), "it has files"],
    ["worktree", "commits", (folder) => commit(folder, "a"), undefined],
    ["worktree", "a new file", (folder) => writeFileSync(join(folder, "a"), ""), "it has changes without a commit"],
    [
      "worktree",
      "a commit on no branch",
      (folder) => {
        git(folder, "checkout", "-q", "--detach");
        commit(folder, "a");
      },
      "it has commits on no branch",
    ],
    ["clone", "a stash", stash, "it has commits that were not pushed"],
    ["clone", "nothing new", () => undefined, undefined],
    [
      "clone",
      "a changed file",
      (folder) => writeFileSync(join(folder, "one.txt"), "x"),
      "it has changes without a commit",
    ],
    ["clone", "a commit", (folder) => commit(folder, "a"), "it has commits that were not pushed"],
    [
      "clone",
      "a pushed commit",
      (folder) => {
        commit(folder, "a");
        git(folder, "push", "-q", "origin", "parley/s1");
      },
      undefined,
    ],
    [
      "clone",
      "a broken repository",
      (folder) => rmSync(join(folder, ".git/HEAD")),
      expect.stringContaining("git failed"),
    ],
  ])("%s of a session that is gone, with %s: removed only if nothing is lost", async (kind, _, work, kept) => {
    const workplaces = open(kind);
    const { folder } = await workplaces.open(request("s1"));
    work(folder);
    expect(await workplaces.sweep?.(async () => false)).toEqual([]);
    expect(await workplaces.sweep?.(isGone)).toEqual([
      { folder, tenant: "acme", id: "s1", ...(kept === undefined ? {} : { kept }) },
    ]);
    expect(existsSync(folder)).toBe(kept !== undefined);
    expect(await workplaces.sweep?.(isGone)).toHaveLength(kept === undefined ? 0 : 1);
    expect(existsSync(dirname(folder))).toBe(true);
  });

  it("runs no program that a session wrote into its repository's configuration", async () => {
    const workplaces = open("clone");
    const { folder } = await workplaces.open(request("s1"));
    git(folder, "config", "core.fsmonitor", `touch ${home}/hook-ran`);
    git(folder, "config", "filter.x.clean", `touch ${home}/hook-ran; cat`);
    writeFileSync(join(folder, ".gitattributes"), "* filter=x\n");
    writeFileSync(join(folder, "one.txt"), "changed");
    expect(await workplaces.sweep?.(isGone)).toMatchObject([{ kept: "it has changes without a commit" }]);
  });

  it("says why a folder cannot be made", async () => {
    rmSync(join(project, ".git"), { recursive: true });
    await expect(open("clone").open(request("s1"))).rejects.toThrow("The workplace of the session failed");
  });
});

describe("the notice about a workplace", () => {
  const close = async (): Promise<void> => undefined;
  const own: Workplace = { folder: "/w/s1", about: "a git clone of /p on branch parley/s1", isNew: false, close };
  const shared: Workplace = { folder: "/p", isNew: false, close };
  const told = describeWorkplace({ ...own, isNew: true }, { project: "/p" }, { hasWorked: false, notice: undefined });

  it.each<readonly [string, Workplace, boolean, string | undefined, string | undefined]>([
    ["the first time", { ...own, isNew: true }, false, undefined, told],
    ["known", own, true, told, undefined],
    ["elsewhere than before", { ...own, folder: "/v/s1" }, true, told, told?.replace("/w/", "/v/")],
    [
      "made anew",
      { ...own, isNew: true },
      true,
      told,
      `${told ?? ""} It was made anew: files of earlier turns that were not committed and pushed are not there. Look before you rely on them.`,
    ],
    ["the project itself", shared, true, undefined, undefined],
    ["the project itself, after another", shared, true, told, "The tools of this session work in /p."],
  ])("%s", (_, workplace, hasWorked, notice, expected) => {
    expect(describeWorkplace(workplace, { project: "/p" }, { hasWorked, notice })).toBe(expected);
  });
});
