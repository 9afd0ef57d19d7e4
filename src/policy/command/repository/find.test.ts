import { describe, expect, it } from "vitest";
import { simulatedDisk } from "../../../world/simulated/disk.ts";
import { findRepository } from "./find.ts";

const plain = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
const usual = `${plain}; a comment\n[remote "origin"]\n\turl = https://example.test/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n`;

/** A disk with these files, and folders for names that end in a slash. */
const diskWith = (files: { readonly [path: string]: string }) => {
  const disk = simulatedDisk();
  for (const [path, text] of Object.entries(files))
    disk.seed(path, path.endsWith("/") ? { kind: "folder" } : { kind: "file", text });
  return disk;
};

/** The files every repository has besides its configuration. */
const whole = (path: string): { readonly [path: string]: string } => ({
  [`${path}/HEAD`]: "ref: refs/heads/main\n",
  [`${path}/objects/`]: "",
  [`${path}/refs/`]: "",
});

/** Finds it on a disk where every folder with settings has the rest too. */
const find = (files: { readonly [path: string]: string }, folder = "/site") => {
  const repositories = Object.keys(files).flatMap((path) => /^(.*\/\.git)\/config$/.exec(path)?.[1] ?? []);
  const rest = Object.assign({}, ...repositories.map(whole)) as { readonly [path: string]: string };
  return findRepository(diskWith({ "/site/": "", ...rest, ...files }), folder);
};

describe("the repository git would find", () => {
  it("is the nearest one above the folder, without risk if its configuration is harmless", async () => {
    expect(await find({ "/site/.git/config": usual, "/site/a/b/c": "" }, "/site/a/b")).toEqual({
      root: "/site",
      risk: undefined,
    });
    expect(await find({ "/site/a/b": "" }, "/site/a")).toEqual({ root: undefined, risk: undefined });
    expect(await find({ "/.git/config": plain, "/site/a": "" })).toEqual({ root: "/", risk: undefined });
    expect(await find({ "/site/.git/config": plain, "/site/a/.git/config": "[core]\npager = x\n" }, "/site/a")).toEqual(
      {
        root: "/site/a",
        risk: "the git configuration sets core.pager",
      },
    );
  });

  it.each([
    "[core]\n\tfsmonitor = touch x",
    "[core]\n\tpager = x",
    "[CORE]\n\tPager = x",
    "[core]\n\teditor = x",
    "[core]\n\thooksPath = x",
    "[core]\n\tsshCommand = x",
    "[core]\n\tworktree = /",
    "[core]\n\tattributesFile = /x",
    "[pager]\n\tlog = x",
    "[alias]\n\tstatus = !x",
    "[diff]\n\texternal = x",
    '[diff "x"]\n\ttextconv = y',
    '[filter "x"]\n\tclean = y',
    '[merge "x"]\n\tdriver = y',
    "[include]\n\tpath = /x",
    '[includeIf "gitdir:/"]\n\tpath = /x',
    "[credential]\n\thelper = x",
    "[gpg]\n\tprogram = x",
    '[gpg "ssh"]\n\tprogram = x',
    '[remote "origin"]\n\tuploadpack = x',
    '[remote "origin"]\n\tpromisor = true',
    "[uploadpack]\n\tpackObjectsHook = x",
    "[interactive]\n\tdiffFilter = x",
    '[url "ext::x"]\n\tinsteadOf = y',
    "[protocol]\n\tallow = always",
    "[extensions]\n\tpartialClone = origin",
    "[core] pager = x",
    "[core]\n\tbare = \\\nfalse",
    "[core.x]\n\tpager = y",
    "[core]\n\tbare = false\n[",
    "something else",
  ])("is a risk with the configuration %j", async (config) => {
    const { root, risk } = await find({ "/site/.git/config": `${plain}${config}\n` });
    expect({ root, isRisk: risk !== undefined }).toEqual({ root: "/site", isRisk: true });
  });

  it("is a risk if it is unusual", async () => {
    const risk = async (files: { readonly [path: string]: string }) => (await find(files)).risk;
    expect(await risk({ "/site/HEAD": "", "/site/objects/": "" })).toBe("/site looks like a bare repository");
    expect(await risk({ "/site/.git/": "" })).toBe("its configuration cannot be read");
    expect(await risk({ "/site/.git": "gitdir: /nowhere\n" })).toBe("its .git leads nowhere");
    expect(await risk({ "/site/.git": "something" })).toBe("its .git leads nowhere");
    expect(await risk({ "/site/.git/config": plain, "/site/.git/hooks/post-index-change": "" })).toBe(
      "it has a post-index-change hook",
    );
    expect(await risk({ "/site/.git/config": plain, "/site/.git/config.worktree": "[core]\nfsmonitor = x" })).toBe(
      "the git configuration sets core.fsmonitor",
    );
    expect(await risk({ "/site/HEAD": "", "/site/commondir": "/x" })).toMatch(/bare repository/);
    expect(await risk({ "/site/HEAD": "", "/site/refs/": "" })).toMatch(/bare repository/);
    expect(await risk({ "/site/HEAD": "" })).toBeUndefined();
    const linked = diskWith({ "/site/": "", "/else/config": plain });
    linked.seed("/site/.git", { kind: "link", to: "/else" });
    expect((await findRepository(linked, "/site")).risk).toBe("its .git leads nowhere");
  });

  it("is found through a second working tree", async () => {
    const tree = {
      "/site/.git": "gitdir: /main/.git/worktrees/site\n",
      "/main/.git/worktrees/site/commondir": "../..\n",
      "/main/.git/worktrees/site/HEAD": "ref: refs/heads/site\n",
    };
    expect(await find({ ...tree, "/main/.git/config": usual })).toEqual({ root: "/site", risk: undefined });
    expect(await find({ ...tree, "/main/.git/config": "[core]\nfsmonitor = x\n" })).toEqual({
      root: "/site",
      risk: "the git configuration sets core.fsmonitor",
    });
  });
});
