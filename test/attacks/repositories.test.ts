import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { modes, openAttackFixture, type AttackFixture } from "./fixture.ts";
import { sampleCases } from "../support/tier.ts";

/* Repositories in shapes that git accepts and a configuration check may miss: nothing they name runs without approval. */

let fixture: AttackFixture;

beforeEach(() => {
  fixture = openAttackFixture();
});

afterEach(() => fixture.close());

const inside = (path: string): string => join(fixture.root, path);

const git = (cwd: string, ...words: readonly string[]): void =>
  void execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@test", ...words], {
    cwd,
    env: { PATH: "/usr/bin:/bin", HOME: fixture.home },
    stdio: "ignore",
  });

/** A repository with two commits and a change. */
const plain = (path: string): void => {
  mkdirSync(inside(path), { recursive: true });
  git(inside(path), "init", "-q", "-b", "main");
  fixture.put(`${path}/f`, "one\n");
  fixture.put(`${path}/.gitattributes`, "* diff=evil filter=evil\n");
  git(inside(path), "add", ".");
  git(inside(path), "commit", "-qm", "one");
  fixture.put(`${path}/f`, "two\n");
};

/** A configuration that runs a program at almost every step. */
const evil = (): string =>
  fixture.fill(
    '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch {CANARY}; false\n[diff "evil"]\n\ttextconv = touch {CANARY}; cat\n[filter "evil"]\n\tclean = touch {CANARY}; cat\n[diff]\n\texternal = touch {CANARY}; false\n',
  );

const poison = (path: string): void => writeFileSync(inside(path), evil(), { flag: "a" });

/** Each creates a repository and returns the folder commands run in. */
const shapes: readonly (readonly [name: string, plant: () => string])[] = [
  [
    "settings that run programs",
    () => {
      plain("r");
      poison("r/.git/config");
      return "r";
    },
  ],
  [
    "HEAD and commondir in a plain folder",
    () => {
      plain("r");
      poison("r/.git/config");
      renameSync(inside("r/.git"), inside("r/data"));
      cpSync(inside("r/data/HEAD"), inside("r/HEAD"));
      cpSync(inside("r/data/index"), inside("r/index"));
      fixture.put("r/commondir", "data\n");
      return "r";
    },
  ],
  [
    "a bare repository in a plain folder",
    () => {
      plain("w");
      git(fixture.root, "clone", "-q", "--bare", "w", "r");
      fixture.put("r/info/attributes", "* diff=evil\n");
      poison("r/config");
      return "r";
    },
  ],
  [
    "a bare repository with HEAD as a link",
    () => {
      plain("w");
      git(fixture.root, "clone", "-q", "--bare", "w", "r");
      fixture.put("r/info/attributes", "* diff=evil\n");
      poison("r/config");
      rmSync(inside("r/HEAD"));
      symlinkSync("refs/heads/main", inside("r/HEAD"));
      return "r";
    },
  ],
  [
    "hooks as a link",
    () => {
      plain("r");
      rmSync(inside("r/.git/hooks"), { recursive: true, force: true });
      fixture.put("h/post-index-change", fixture.fill("#!/bin/sh\ntouch {CANARY}\n"), 0o755);
      symlinkSync(inside("h"), inside("r/.git/hooks"));
      // Unchanged, with another time: git writes the index, and runs the hook.
      utimesSync(inside("r/.gitattributes"), 1, 1);
      return "r";
    },
  ],
  ...(
    [
      ["a carriage return", "gitdir: data\r\n"],
      ["a step up after a link", "gitdir: link/../data\n"],
      ["line ends after it", "gitdir: data\n\n\n"],
      ["a name with blanks", "gitdir: ./data\r"],
    ] as const
  ).map(
    ([name, text]) =>
      [
        `.git as a file with ${name}`,
        () => {
          plain("r");
          renameSync(inside("r/.git"), inside("r/data"));
          // A harmless one where a check by spelling would look.
          for (const decoy of ["r/data\r", "r/other/data", "r/./data\r"])
            cpSync(inside("r/data"), inside(decoy), { recursive: true });
          if (text.includes("link")) {
            fixture.folder("deep/down");
            cpSync(inside("r/data"), inside("deep/data"), { recursive: true });
            symlinkSync(inside("deep/down"), inside("r/link"));
            poison("deep/data/config");
          } else poison("r/data/config");
          fixture.put("r/.git", text);
          return "r";
        },
      ] as const,
  ),
  ...(
    [
      ["a leading blank", " data", "r/.git/ data", "r/.git/data"],
      ["a trailing carriage return", "data\r\n", "r/.git/data", "r/.git/data\r"],
      ["a step up after a link", "link/../data", "deep/data", "r/.git/data"],
    ] as const
  ).map(
    ([name, text, real, decoy]) =>
      [
        `commondir with ${name}`,
        () => {
          plain("r");
          fixture.folder("deep/down");
          for (const place of [real, decoy]) {
            fixture.folder(place);
            for (const part of ["objects", "refs", "config"])
              cpSync(inside(`r/.git/${part}`), inside(`${place}/${part}`), { recursive: true });
          }
          symlinkSync(inside("deep/down"), inside("r/.git/link"));
          poison(`${real}/config`);
          fixture.put("r/.git/commondir", text);
          return "r";
        },
      ] as const,
  ),
  [
    ".git without HEAD before the real one",
    () => {
      plain("r");
      poison("r/.git/config");
      fixture.put("r/sub/.git/config", "[core]\n\tbare = false\n");
      fixture.folder("r/sub/.git/objects");
      fixture.folder("r/sub/.git/refs");
      return "r/sub";
    },
  ],
  [
    ".git with a HEAD that is none before the real one",
    () => {
      plain("r");
      poison("r/.git/config");
      fixture.put("r/sub/.git/config", "[core]\n\tbare = false\n");
      fixture.put("r/sub/.git/HEAD", "nothing\n");
      fixture.folder("r/sub/.git/objects");
      fixture.folder("r/sub/.git/refs");
      return "r/sub";
    },
  ],
  [
    ".git without objects before the real one",
    () => {
      plain("r");
      poison("r/.git/config");
      fixture.put("r/sub/.git/config", "[core]\n\tbare = false\n");
      fixture.put("r/sub/.git/HEAD", "ref: refs/heads/main\n");
      fixture.folder("r/sub/.git/refs");
      return "r/sub";
    },
  ],
  [
    "settings as a link",
    () => {
      plain("r");
      poison("r/.git/config");
      renameSync(inside("r/.git/config"), inside("r/settings"));
      symlinkSync("../settings", inside("r/.git/config"));
      return "r";
    },
  ],
  [
    "settings of a second working tree",
    () => {
      plain("r");
      git(inside("r"), "config", "extensions.worktreeConfig", "true");
      writeFileSync(inside("r/.git/config.worktree"), evil());
      return "r";
    },
  ],
  [
    "a repository inside",
    () => {
      plain("r");
      plain("r/inner");
      git(inside("r"), "-c", "advice.addEmbeddedRepo=false", "add", "inner");
      git(inside("r"), "commit", "-qm", "inner");
      poison("r/inner/.git/config");
      return "r";
    },
  ],
  [
    "settings included",
    () => {
      plain("r");
      writeFileSync(inside("r/.git/config"), "[include]\n\tpath = ../more\n", { flag: "a" });
      fixture.put("r/more", evil());
      return "r";
    },
  ],
];

const questions = [
  "git status",
  "git diff",
  "git log -p -3",
  "git show",
  "git diff HEAD",
  "git grep one",
  "git blame f",
  "git ls-files -m",
  "git stash list",
];

describe("a repository that runs programs", () => {
  it.each(sampleCases(shapes, 3))("runs none of them without approval: %s", async (_, plant) => {
    const folder = plant();
    for (const command of questions) {
      for (const at of [folder, "."]) {
        const text = at === "." ? `cd ${folder} && ${command}` : command;
        const result = await fixture.run("run_shell_command", { command: text, directory: at }, { mode: "plan" });
        expect([text, result.verdict === "ask", fixture.hasMark()]).toEqual([text, false, false]);
      }
    }
  });

  it.each(sampleCases(shapes, 3))("runs them with ordinary git: %s", (_, plant) => {
    const folder = plant();
    for (const words of [["status"], ["diff"], ["log", "-p"], ["show"]]) {
      try {
        git(inside(folder), ...words);
      } catch {
        // It may fail after its program has run.
      }
    }
    expect(fixture.hasMark()).toBe(true);
  });

  it.each(["HEAD", "sub/HEAD", "sub/head", "sub/commondir", "sub/gitdir", "x.git/config"])(
    "is not written as an ordinary edit: %s",
    async (path) => {
      const options = { ...modes.interactive, mode: "auto_edit" } as const;
      const result = await fixture.run("write_file", { file_path: path, content: "ref: refs/heads/main\n" }, options);
      expect(result.verdict).toBe("ask");
    },
  );

  it("is queried without approval if it is harmless", async () => {
    plain("r");
    for (const command of questions) {
      const result = await fixture.run("run_shell_command", { command, directory: "r" }, { mode: "plan" });
      expect([command, result.verdict]).toEqual([command, "allow"]);
    }
    const log = await fixture.run("run_shell_command", { command: "git log --oneline", directory: "r" });
    expect(log.text).toContain("one");
  });
});
