import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realWorld } from "../../../world/real/world.ts";
import { listNestedRepositories } from "./git-index.ts";
import { findRepository } from "./find.ts";

const run = promisify(execFile);
const hasGit = existsSync("/usr/bin/git");

let base = "";
beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "index-")));
});
afterAll(() => rm(base, { recursive: true, force: true }));

const git = (cwd: string, ...args: readonly string[]) =>
  run("/usr/bin/git", ["-c", "user.name=k", "-c", "user.email=k@example.test", ...args], {
    cwd,
    env: { PATH: "/usr/bin:/bin", HOME: base, GIT_CONFIG_NOSYSTEM: "1" },
  });

/** A repository with files, and with another repository among them. */
const nested = async (name: string, ...options: readonly string[]): Promise<string> => {
  const root = join(base, name);
  const inner = join(root, "folder", "inner");
  await mkdir(inner, { recursive: true });
  await git(root, "init", "-q", ...options);
  await git(inner, "init", "-q", ...options);
  await writeFile(join(inner, "x"), "x");
  await git(inner, "add", "x");
  await git(inner, "commit", "-qm", "x");
  for (let at = 0; at < 20; at++) await writeFile(join(root, "folder", `file-${"y".repeat(at)}`), "y");
  await git(root, "add", ".");
  return root;
};

describe.skipIf(!hasGit)("a git index", () => {
  it.each([
    ["2", []],
    ["4", []],
    ["2", ["--object-format=sha256"]],
    ["4", ["--object-format=sha256"]],
  ] as const)("of version %s, made with %j, tells which are repositories of their own", async (version, options) => {
    const root = await nested(`v${version}${options.length}`, ...options);
    await git(root, "update-index", "--index-version", version);
    const index = await readFile(join(root, ".git", "index"));
    expect(index.readUInt32BE(4)).toBe(Number(version));
    expect(listNestedRepositories(index)).toEqual(["folder/inner"]);
  });

  it("with extended flags is parsed", async () => {
    const root = await nested("v3");
    await writeFile(join(root, "later"), "");
    await git(root, "add", "-N", "later");
    const index = await readFile(join(root, ".git", "index"));
    expect(index.readUInt32BE(4)).toBe(3);
    expect(listNestedRepositories(index)).toEqual(["folder/inner"]);
  });

  it("is rejected if it is truncated, split or something else", async () => {
    const root = await nested("cut");
    const index = await readFile(join(root, ".git", "index"));
    for (let length = 0; length < index.length; length++)
      expect(listNestedRepositories(index.subarray(0, length))).toBeUndefined();
    await git(root, "update-index", "--split-index");
    expect(listNestedRepositories(await readFile(join(root, ".git", "index")))).toBeUndefined();
  });
});

describe.skipIf(!hasGit)("a nested repository", () => {
  it("can make git run programs, so its configuration is checked too", async () => {
    const root = await nested("hostile");
    const { disk } = realWorld({});
    expect(await findRepository(disk, root)).toEqual({ root, risk: undefined });

    const canary = join(base, "canary");
    await appendFile(join(root, "folder", "inner", ".git", "config"), `[core]\n\tfsmonitor = touch ${canary} #\n`);
    expect(await findRepository(disk, root)).toEqual({
      root,
      risk: "nested repository folder/inner: the git configuration sets core.fsmonitor",
    });
    await git(root, "status");
    expect(existsSync(canary)).toBe(true);
  });

  it("may be an ordinary submodule", async () => {
    const root = await nested("outer");
    await git(root, "commit", "-qm", "x");
    const library = join(base, "library");
    await mkdir(library);
    await git(library, "init", "-q");
    await git(library, "commit", "-q", "--allow-empty", "-m", "x");
    await git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "lib/x");
    expect(await findRepository(realWorld({}).disk, root)).toEqual({ root, risk: undefined });
  });
});
