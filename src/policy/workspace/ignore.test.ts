import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { disks, file, folder, link, createRealFixture, type WorkspaceFixture } from "./open.cases.ts";
import type { Workspace } from "./open.ts";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";

let fixture: WorkspaceFixture;
let workspace: Workspace;
afterEach(() => fixture.close());

const all = { git: true, own: true };
const open = async (
  files: { readonly [path: string]: string },
  createFixture: () => WorkspaceFixture,
): Promise<void> => {
  fixture = createFixture();
  workspace = await fixture.open();
  for (const [path, text] of Object.entries(files)) fixture.put(`${fixture.ws}/${path}`, file(text));
};
const kept = async (...paths: readonly string[]): Promise<readonly (string | undefined)[]> =>
  Promise.all(paths.map((path) => workspace.ignored(path, all)));

describe.each(disks)("ignore files on $name", ({ createFixture }) => {
  it("exclude what they name, and report which file does", async () => {
    await open(
      {
        ".gitignore": "*.log\nbuild/\n!keep.log\n/top\n",
        ".git/info/exclude": "private\n",
        "sub/.gitignore": "!b.log\n/here\nmade/\n",
        "sub/made/.gitignore": "!x\n",
        ".geminiignore": "secret.env\n",
        ".parleyignore": "notes/**\n",
      },
      createFixture,
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

  it("of other agents exclude too", async () => {
    await open(
      { ".aiexclude": "KEYS.*\n*.pem\n", ".cursorignore": "/data/\n", ".parleyignore": "!open.pem\n" },
      createFixture,
    );
    expect(await kept("KEYS.txt", "sub/a.pem", "open.pem", "data/x", "sub/data/x")).toEqual([
      ".aiexclude",
      ".aiexclude",
      undefined,
      ".cursorignore",
      undefined,
    ]);
  });

  it("for agents count in folders too, as git's do, and git cannot include what they exclude", async () => {
    await open(
      {
        ".aiexclude": "*.pem\n",
        ".gitignore": "!a.pem\n",
        "sub/.aiexclude": "/keys/\nnotes.txt\n!open.pem\n",
        "sub/deep/.cursorignore": "x*\n",
        "sub/deep/.gitignore": "!x1\n",
      },
      createFixture,
    );
    const paths = ["a.pem", "sub/a.pem", "sub/open.pem", "sub/keys/k", "sub/b/keys/k", "sub/b/notes.txt", "notes.txt"];
    expect(await kept(...paths, "sub/deep/x1", "sub/x1")).toEqual([
      ".aiexclude",
      ".aiexclude",
      undefined,
      "sub/.aiexclude",
      undefined,
      "sub/.aiexclude",
      undefined,
      "sub/deep/.cursorignore",
      undefined,
    ]);
  });

  it("apply by kind", async () => {
    await open({ ".gitignore": "a\n", ".geminiignore": "b\n" }, createFixture);
    const by = (rules: { git: boolean; own: boolean }): Promise<unknown> =>
      Promise.all(["a", "b", ".git"].map((path) => workspace.ignored(path, rules)));

    expect(await by({ git: true, own: false })).toEqual([".gitignore", undefined, "git"]);
    expect(await by({ git: false, own: true })).toEqual([undefined, ".geminiignore", undefined]);
    expect(await by({ git: false, own: false })).toEqual([undefined, undefined, undefined]);
  });

  it("apply to the target of a link, and to its own name", async () => {
    await open(
      { ".parleyignore": "secret.env\nprivate/\n", "secret.env": "x", "private/x": "x", "open.txt": "x" },
      createFixture,
    );
    fixture.put(`${fixture.ws}/alias.env`, link("secret.env"));
    fixture.put(`${fixture.ws}/way`, link("private"));
    fixture.put(`${fixture.ws}/sub/secret.env`, link("../open.txt"));

    expect(await kept("alias.env", "way/x", "way", "sub/secret.env", "open.txt")).toEqual([
      ".parleyignore",
      ".parleyignore",
      ".parleyignore",
      ".parleyignore",
      undefined,
    ]);
  });

  it("apply with their current content", async () => {
    await open({ ".gitignore": "a\n" }, createFixture);
    const before = await kept("a", "b", "sub/c");
    fixture.put(`${fixture.ws}/.gitignore`, file("b\nbb\n"));
    fixture.put(`${fixture.ws}/sub/.gitignore`, file("c\n"));
    const after = await kept("a", "b", "sub/c");
    fixture.remove(`${fixture.ws}/.gitignore`);

    expect([before, after, await kept("a", "b", "sub/c")]).toEqual([
      [".gitignore", undefined, undefined],
      [undefined, ".gitignore", "sub/.gitignore"],
      [undefined, undefined, "sub/.gitignore"],
    ]);
  });

  it("may be links inside the workspace, never out of it", async () => {
    await open({ "shared.ignore": "a\n" }, createFixture);
    fixture.put(`${fixture.out}/rules`, file("b\n"));
    fixture.put(`${fixture.ws}/.parleyignore`, link("shared.ignore"));
    fixture.put(`${fixture.ws}/.gitignore`, link(`${fixture.out}/rules`));

    expect(await kept("a", "b")).toEqual([".parleyignore", undefined]);
  });

  it("are matched for a whole folder at once", async () => {
    await open({ ".gitignore": "*.log\n/sub/only\n", "sub/.gitignore": "made/\n!b.log\n" }, createFixture);
    const judge = await workspace.ignoring("sub", all);

    expect([
      judge("a.log", false),
      judge("b.log", false),
      judge("made", true),
      judge("made", false),
      judge("only", false),
    ]).toEqual([".gitignore", undefined, "sub/.gitignore", undefined, ".gitignore"]);
  });

  it("for agents can be listed", async () => {
    await open({ ".parleyignore": "a\n" }, createFixture);
    fixture.put(`${fixture.ws}/.geminiignore`, folder);

    expect(await workspace.ignoreFiles()).toEqual([`${fixture.ws}/.parleyignore`]);
  });
});

describe("ignore files", () => {
  it("cannot take long to match", async () => {
    await open({ ".gitignore": "**/a/**/a/**/a/**/b\n" }, disks[2]?.createFixture ?? createRealFixture);
    const path = "a/".repeat(500);

    expect(await kept(`${path}x`)).toEqual(["ignore files that are too long to check at this depth"]);
    expect(await kept("a/a/a/b", "a/a/a/c")).toEqual([".gitignore", undefined]);
  });

  it("ignore case on a disk that ignores case", async () => {
    await open({ ".geminiignore": "secret.env\n" }, disks[2]?.createFixture ?? createRealFixture);
    const caseless = await fixture.open({ disk: folded(fixture) });

    expect(await Promise.all([workspace, caseless].map((one) => one.ignored("SECRET.env", all)))).toEqual([
      undefined,
      ".geminiignore",
    ]);
  });

  const hasGit = spawnSync("git", ["--version"]).status === 0;

  it.runIf(hasGit)("agree with git", async () => {
    fixture = createRealFixture();
    const git = (...args: readonly string[]): string =>
      execFileSync("git", ["-c", "core.excludesFile=/dev/null", "-c", "core.ignoreCase=false", ...args], {
        cwd: fixture.ws,
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
            mkdirSync(join(fixture.ws, at), { recursive: true });
            writeFileSync(join(fixture.ws, at, ".gitignore"), content);
          }
          const paths = asked.filter((each) => !asked.some((other) => other.startsWith(`${each}/`)));
          for (const each of paths) mkdirSync(join(fixture.ws, dirname(each)), { recursive: true });
          const said = spawnSync(
            "git",
            ["-c", "core.ignoreCase=false", "check-ignore", "--no-index", "-z", "--stdin"],
            {
              cwd: fixture.ws,
              input: paths.map((each) => `${each}\0`).join(""),
              encoding: "utf8",
            },
          ).stdout.split("\0");
          workspace = await fixture.open();
          const ours = await Promise.all(paths.map((each) => workspace.ignored(each, { git: true, own: false })));
          await workspace.close();
          expect(paths.filter((_, index) => ours[index] !== undefined)).toEqual(
            paths.filter((each) => said.includes(each)),
          );
        },
      ),
      { numRuns: runsPerTier(60) },
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
