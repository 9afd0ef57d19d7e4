import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseConfigKeys, listConfigKeysCall, safeGitCall, type GitQuery } from "./safe-git.ts";
import { sampleCases } from "../../../../test/support/tier.ts";

let base: string;
let repository: string;
let canary: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-git-")));
  repository = join(base, "repository");
  canary = join(base, "canary");
  mkdirSync(repository);
  plain("init", "--quiet");
  writeFileSync(join(repository, "kept.txt"), "one\n");
  writeFileSync(join(repository, "gone.bin"), "\0one\n");
  plain("add", ".");
  plain("-c", "user.name=A", "-c", "user.email=a@test", "commit", "--quiet", "-m", "first");
  writeFileSync(join(repository, "kept.txt"), "two\n");
  writeFileSync(join(repository, "gone.bin"), "\0two\n");
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

const plain = (...args: readonly string[]): string =>
  execFileSync("/usr/bin/git", [...args], {
    cwd: repository,
    env: { PATH: "/usr/bin:/bin", HOME: base, GIT_CONFIG_NOSYSTEM: "1" },
    encoding: "utf8",
    stdio: "pipe",
  });

const queries: readonly GitQuery[] = [
  { command: "ls-files", options: ["--modified"] },
  { command: "ls-files", options: ["--others", "--exclude-standard"] },
  { command: "diff", options: ["--stat", "--patch"] },
  { command: "diff", options: ["--cached", "--patch"] },
];

/** Runs every query as Parley does, and returns what git printed. */
const runAll = (cwd = repository): readonly string[] => {
  const location = { folder: cwd, searchPath: "/usr/bin:/bin" };
  const run = ({ args, env }: ReturnType<typeof listConfigKeysCall>): string =>
    spawnSync("/usr/bin/git", [...args], { cwd, env, encoding: "utf8" }).stdout;
  const keys = parseConfigKeys(run(listConfigKeysCall(location)));
  return queries.map((query) => run(safeGitCall(query, location, keys)));
};

const touch = (): string => `touch ${canary}`;
const config = (key: string, value: string): void => void plain("config", key, value);
const attributes = (text: string): void => writeFileSync(join(repository, ".gitattributes"), text);
const program = (path: string): void => {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${touch()}\n`, { mode: 0o755 });
};

/** Each of these makes an ordinary git command run the canary, or would with one more option. */
const traps: readonly (readonly [name: string, set: () => void])[] = [
  ["a file system monitor", () => config("core.fsmonitor", touch())],
  ["a hook in the hooks folder", () => program(join(repository, ".git/hooks/post-index-change"))],
  [
    "a hooks path",
    () => {
      program(join(base, "hooks/post-index-change"));
      config("core.hooksPath", join(base, "hooks"));
    },
  ],
  ["a pager", () => config("core.pager", touch())],
  ["a pager of one command", () => config("pager.log", touch())],
  ["an editor", () => config("core.editor", touch())],
  ["an external diff", () => config("diff.external", touch())],
  [
    "a diff driver by attribute",
    () => {
      attributes("* diff=evil\n");
      config("diff.evil.command", touch());
    },
  ],
  [
    "a text conversion by attribute",
    () => {
      attributes("* diff=evil\n");
      config("diff.evil.textconv", touch());
    },
  ],
  [
    "a clean filter by attribute",
    () => {
      attributes("* filter=evil\n");
      config("filter.evil.clean", touch());
      config("filter.evil.required", "true");
    },
  ],
  [
    "a filter process whose name holds dots and an equals sign",
    () => {
      attributes("* filter=e=v.il\n");
      config("filter.e=v.il.process", touch());
    },
  ],
  [
    "a filter named by the attributes inside .git",
    () => {
      mkdirSync(join(repository, ".git/info"), { recursive: true });
      writeFileSync(join(repository, ".git/info/attributes"), "* filter=evil\n");
      config("filter.evil.clean", touch());
    },
  ],
  ["an ssh command", () => config("core.sshCommand", touch())],
  ["a credential helper", () => config("credential.helper", `!${touch()}`)],
  [
    "a program that checks signatures, asked for by a format",
    () => {
      program(join(base, "gpg"));
      const signed = plain("cat-file", "commit", "HEAD").replace(
        "\n\n",
        "\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\n",
      );
      writeFileSync(join(base, "signed"), signed);
      plain("update-ref", "HEAD", plain("hash-object", "-t", "commit", "-w", join(base, "signed")).trim());
      config("format.pretty", "%H %G?");
      config("gpg.program", join(base, "gpg"));
      config("log.showSignature", "true");
    },
  ],
  ["a hook of upload-pack", () => config("uploadpack.packObjectsHook", touch())],
  ["an alias with a builtin's name", () => config("alias.status", `!${touch()}`)],
  [
    "an included file",
    () => {
      writeFileSync(join(base, "evil"), `[core]\n\tfsmonitor = "${touch()}"\n[filter "inc"]\n\tclean = "${touch()}"\n`);
      attributes("* filter=inc\n");
      config("include.path", join(base, "evil"));
    },
  ],
  [
    "a promised object behind a transport that runs a program",
    () => {
      const object = plain("rev-parse", "HEAD:kept.txt").trim();
      rmSync(join(repository, ".git/objects", object.slice(0, 2), object.slice(2)), { force: true });
      config("core.repositoryFormatVersion", "1");
      config("extensions.partialClone", "origin");
      config("remote.origin.promisor", "true");
      config("remote.origin.url", `ext::touch ${canary}`);
      config("protocol.ext.allow", "always");
    },
  ],
  [
    "a submodule whose address is an option and whose own configuration is hostile",
    () => {
      const inner = join(repository, "inner");
      mkdirSync(inner);
      const within = (...args: readonly string[]) =>
        execFileSync("/usr/bin/git", ["-C", inner, ...args], { env: { PATH: "/usr/bin:/bin", HOME: base } });
      within("init", "--quiet");
      within("-c", "user.name=A", "-c", "user.email=a@test", "commit", "--quiet", "--allow-empty", "-m", "x");
      writeFileSync(
        join(repository, ".gitmodules"),
        `[submodule "inner"]\n\tpath = inner\n\turl = -u./x\n\tupdate = !${touch()}\n\tignore = none\n`,
      );
      plain("add", "inner");
      config("submodule.inner.ignore", "none");
      within("config", "core.fsmonitor", touch());
      writeFileSync(join(inner, "new"), "");
    },
  ],
];

describe("a safe git call in a hostile repository", () => {
  it.each(sampleCases(traps, 4))("runs nothing for %s", (_, set) => {
    set();
    const answers = runAll();
    expect(existsSync(canary)).toBe(false);
    expect(answers[0]).toContain("kept.txt");
  });

  it("would have run the canary without this, so the traps are real", () => {
    config("core.fsmonitor", touch());
    plain("status");
    expect(existsSync(canary)).toBe(true);
  });

  it("prints the same as git", () => {
    writeFileSync(join(repository, "new.txt"), "new\n");
    writeFileSync(join(repository, "staged.txt"), "staged\n");
    plain("add", "staged.txt");
    const [modified, untracked, diff, staged] = runAll();
    expect(modified).toBe("gone.bin\nkept.txt\n");
    expect(untracked).toBe("new.txt\n");
    expect(diff).toContain("-one\n+two\n");
    expect(staged).toContain("+staged\n");
  });

  it("does not use a bare repository", () => {
    const bare = join(base, "bare");
    execFileSync("/usr/bin/git", ["init", "--quiet", "--bare", bare], { env: { PATH: "/usr/bin:/bin", HOME: base } });
    execFileSync("/usr/bin/git", ["-C", bare, "config", "core.fsmonitor", touch()], {
      env: { PATH: "/usr/bin:/bin", HOME: base },
    });
    expect(runAll(bare)).toEqual(["", "", "", ""]);
    expect(existsSync(canary)).toBe(false);
  });

  it("does not look outside the folder, whatever work tree the repository names", () => {
    mkdirSync(join(base, "secret"));
    writeFileSync(join(base, "secret", "kept.txt"), "secret\n");
    config("core.worktree", join(base, "secret"));
    expect(runAll().join("")).not.toContain("secret");
  });

  it("treats a path that begins with a dash as a path, not as an option", () => {
    const { args, env } = safeGitCall(
      { command: "diff", paths: ["--output=stolen"] },
      { folder: repository, searchPath: "/usr/bin:/bin" },
      [],
    );
    spawnSync("/usr/bin/git", [...args], { cwd: repository, env });
    expect(existsSync(join(repository, "stolen"))).toBe(false);
  });

  it("reads the configuration keys also behind a .git that is a link", () => {
    const elsewhere = join(base, "elsewhere");
    execFileSync("/bin/mv", [join(repository, ".git"), elsewhere]);
    symlinkSync(elsewhere, join(repository, ".git"));
    execFileSync("/usr/bin/git", ["-C", repository, "config", "core.fsmonitor", touch()], {
      env: { PATH: "/usr/bin:/bin", HOME: base },
    });
    runAll();
    expect(existsSync(canary)).toBe(false);
  });
});
