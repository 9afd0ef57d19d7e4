import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { disks, file, folder, link, createRealFixture, type WorkspaceFixture } from "./open.cases.ts";
import type { Workspace } from "./open.ts";

let grounds: WorkspaceFixture;
let workspace: Workspace;
afterEach(() => grounds.close());

const all = { git: true, own: true };
const open = async (files: { readonly [path: string]: string }, newGrounds: () => WorkspaceFixture): Promise<void> => {
  grounds = newGrounds();
  workspace = await grounds.open();
  for (const [path, text] of Object.entries(files)) grounds.put(`${grounds.ws}/${path}`, file(text));
};
const kept = async (...paths: readonly string[]): Promise<readonly (string | undefined)[]> =>
  Promise.all(paths.map((path) => workspace.ignored(path, all)));

describe.each(disks)("ignore files on $name", ({ grounds: newGrounds }) => {
  it("keep out what they name, and tell which of them does", async () => {
    await open(
      {
        ".gitignore": "*.log\nbuild/\n!keep.log\n/top\n",
        ".git/info/exclude": "private\n",
        "sub/.gitignore": "!b.log\n/here\nmade/\n",
        "sub/made/.gitignore": "!x\n",
        ".geminiignore": "secret.env\n",
        ".parleyignore": "notes/**\n",
      },
      newGrounds,
    );

    expect(
      await kept(
        "a.log",
        "keep.log",
        "sub/a.log",
        "sub/b.log",
        "build/x",
        "sub/build/x/y",
        "top",
        "sub/top",
        "sub/here",
        "sub/deep/here",
      ),
    ).toEqual([
      ".gitignore",
      undefined,
      ".gitignore",
      undefined,
      ".gitignore",
      ".gitignore",
      ".gitignore",
      undefined,
      "sub/.gitignore",
      undefined,
    ]);
    expect(
      await kept("private", "sub/made/x", "secret.env", "sub/secret.env", "notes/x", "src/x", ".", ".git/config"),
    ).toEqual([
      ".git/info/exclude",
      "sub/.gitignore",
      ".geminiignore",
      ".geminiignore",
      ".parleyignore",
      undefined,
      undefined,
      "git",
    ]);
  });

  it("count by kind", async () => {
    await open({ ".gitignore": "a\n", ".geminiignore": "b\n" }, newGrounds);
    const by = (rules: { git: boolean; own: boolean }): Promise<unknown> =>
      Promise.all(["a", "b", ".git"].map((path) => workspace.ignored(path, rules)));

    expect(await by({ git: true, own: false })).toEqual([".gitignore", undefined, "git"]);
    expect(await by({ git: false, own: true })).toEqual([undefined, ".geminiignore", undefined]);
    expect(await by({ git: false, own: false })).toEqual([undefined, undefined, undefined]);
  });

  it("hold for what a link leads to, and for the link's own name", async () => {
    await open(
      { ".parleyignore": "secret.env\nprivate/\n", "secret.env": "x", "private/x": "x", "open.txt": "x" },
      newGrounds,
    );
    grounds.put(`${grounds.ws}/alias.env`, link("secret.env"));
    grounds.put(`${grounds.ws}/way`, link("private"));
    grounds.put(`${grounds.ws}/sub/secret.env`, link("../open.txt"));

    expect(await kept("alias.env", "way/x", "way", "sub/secret.env", "open.txt")).toEqual([
      ".parleyignore",
      ".parleyignore",
      ".parleyignore",
      ".parleyignore",
      undefined,
    ]);
  });

  it("hold as they are now", async () => {
    await open({ ".gitignore": "a\n" }, newGrounds);
    const before = await kept("a", "b", "sub/c");
    grounds.put(`${grounds.ws}/.gitignore`, file("b\nbb\n"));
    grounds.put(`${grounds.ws}/sub/.gitignore`, file("c\n"));
    const after = await kept("a", "b", "sub/c");
    grounds.remove(`${grounds.ws}/.gitignore`);

    expect([before, after, await kept("a", "b", "sub/c")]).toEqual([
      [".gitignore", undefined, undefined],
      [undefined, ".gitignore", "sub/.gitignore"],
      [undefined, undefined, "sub/.gitignore"],
    ]);
  });

  it("may be links inside the workspace, never out of it", async () => {
    await open({ "shared.ignore": "a\n" }, newGrounds);
    grounds.put(`${grounds.out}/rules`, file("b\n"));
    grounds.put(`${grounds.ws}/.parleyignore`, link("shared.ignore"));
    grounds.put(`${grounds.ws}/.gitignore`, link(`${grounds.out}/rules`));

    expect(await kept("a", "b")).toEqual([".parleyignore", undefined]);
  });

  it("are judged for a whole folder at once", async () => {
    await open({ ".gitignore": "*.log\n/sub/only\n", "sub/.gitignore": "made/\n!b.log\n" }, newGrounds);
    const judge = await workspace.ignoring("sub", all);

    expect([
      judge("a.log", false),
      judge("b.log", false),
      judge("made", true),
      judge("made", false),
      judge("only", false),
    ]).toEqual([".gitignore", undefined, "sub/.gitignore", undefined, ".gitignore"]);
  });

  it("that are kept for agents can be listed", async () => {
    await open({ ".parleyignore": "a\n" }, newGrounds);
    grounds.put(`${grounds.ws}/.geminiignore`, folder);

    expect(await workspace.ignoreFiles()).toEqual([`${grounds.ws}/.parleyignore`]);
  });
});

describe("ignore files", () => {
  it("cannot make anyone wait", async () => {
    await open({ ".gitignore": "**/a/**/a/**/a/**/b\n" }, disks[2]?.grounds ?? createRealFixture);
    const path = "a/".repeat(500);

    expect(await kept(`${path}x`)).toEqual(["ignore files that are too long to check at this depth"]);
    expect(await kept("a/a/a/b", "a/a/a/c")).toEqual([".gitignore", undefined]);
  });

  it("keep out a name in any case where the disk does not tell them apart", async () => {
    await open({ ".geminiignore": "secret.env\n" }, disks[2]?.grounds ?? createRealFixture);
    const caseless = await grounds.open({ disk: folded(grounds) });

    expect(await Promise.all([workspace, caseless].map((one) => one.ignored("SECRET.env", all)))).toEqual([
      undefined,
      ".geminiignore",
    ]);
  });

  const hasGit = spawnSync("git", ["--version"]).status === 0;

  it.runIf(hasGit)("say what git says", async () => {
    grounds = createRealFixture();
    const git = (...args: readonly string[]): string =>
      execFileSync("git", ["-c", "core.excludesFile=/dev/null", "-c", "core.ignoreCase=false", ...args], {
        cwd: grounds.ws,
        encoding: "utf8",
      });
    git("init", "-q");
    const name = fc.constantFrom("a", "b", "ab", "a.b", "c d", "[a]", "#a", "!a");
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
    const glob = fc.constantFrom("a", "b", "a*", "*", "**", "?b", "[ab]", "*.b", "c d", "\\[a]", "\\#a", "\\!a");
    const pattern = fc
      .tuple(
        fc.constantFrom("", "", "!"),
        fc.constantFrom("", "", "/"),
        fc.array(glob, { minLength: 1, maxLength: 2 }),
        fc.constantFrom("", "", "/"),
      )
      .map(([sign, start, globs, end]) => `${sign}${start}${globs.join("/")}${end}`);
    const text = fc.array(pattern, { minLength: 1, maxLength: 4 }).map((lines) => lines.join("\n"));
    const where = fc.constantFrom("", "a/", "a/b/", "ab/");
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(where, text, { minKeys: 1, maxKeys: 3 }),
        fc.uniqueArray(path, { minLength: 1, maxLength: 8 }),
        async (texts, asked) => {
          git("clean", "-q", "-ffdx");
          for (const [at, content] of Object.entries(texts)) {
            mkdirSync(join(grounds.ws, at), { recursive: true });
            writeFileSync(join(grounds.ws, at, ".gitignore"), content);
          }
          const paths = asked.filter((each) => !asked.some((other) => other.startsWith(`${each}/`)));
          for (const each of paths) mkdirSync(join(grounds.ws, dirname(each)), { recursive: true });
          const said = spawnSync(
            "git",
            ["-c", "core.ignoreCase=false", "check-ignore", "--no-index", "-z", "--stdin"],
            {
              cwd: grounds.ws,
              input: paths.map((each) => `${each}\0`).join(""),
              encoding: "utf8",
            },
          ).stdout.split("\0");
          workspace = await grounds.open();
          const ours = await Promise.all(paths.map((each) => workspace.ignored(each, { git: true, own: false })));
          await workspace.close();
          expect(paths.filter((_, index) => ours[index] !== undefined)).toEqual(
            paths.filter((each) => said.includes(each)),
          );
        },
      ),
      { numRuns: 60, seed: 7 },
    );
  });
});

/** The same disk, as one that finds a name in capitals too. */
const folded = ({ disk }: WorkspaceFixture): WorkspaceFixture["disk"] => ({
  ...disk,
  openFolder: async (path) => {
    const opened = await disk.openFolder(path);
    return { ...opened, stat: async (name) => (await opened.stat(name)) ?? opened.stat(name.toLowerCase()) };
  },
});
