import { chmod, mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realDisk } from "../world/real-disk.ts";
import { openTrust } from "./trust.ts";

let base: string;
let home: string;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "parley-trust-")));
  home = join(base, "home", ".parley");
  await mkdir(join(base, "home"));
  await mkdir(join(base, "project/packages/one"), { recursive: true });
  await mkdir(join(base, "project-evil"));
});

afterEach(() => rm(base, { recursive: true, force: true }));

const trust = () => openTrust(realDisk, home);
const file = () => join(home, "trust.json");
const keep = async (text: string, mode = 0o600): Promise<void> => {
  await mkdir(home, { recursive: true });
  await writeFile(file(), text, { mode });
  await chmod(file(), mode);
};

describe("trust in a folder", () => {
  it("is not there until the person gives it, and then stays", async () => {
    expect(await trust().isTrusted(join(base, "project"))).toBe(false);
    expect(await trust().projectScope(join(base, "project"))).toBe("inert");
    await trust().trust(join(base, "project"));
    expect(await trust().isTrusted(join(base, "project"))).toBe(true);
    expect(await trust().projectScope(join(base, "project"))).toBe("tighten");
  });

  it("holds for what is below, not above, and not beside under a like name", async () => {
    await trust().trust(join(base, "project"));
    const found = ["project/packages/one", ".", "project-evil"].map((path) => trust().isTrusted(join(base, path)));
    expect(await Promise.all(found)).toEqual([true, false, false]);
  });

  it("goes by where a folder really is, not by the name of a link to it", async () => {
    await symlink(join(base, "project-evil"), join(base, "project", "link"));
    await symlink(join(base, "project"), join(base, "shortcut"));
    await trust().trust(join(base, "shortcut"));
    expect(await trust().isTrusted(join(base, "project"))).toBe(true);
    expect(await trust().isTrusted(join(base, "project", "link"))).toBe(false);
  });

  it("is not inherited by what a worktree says of itself", async () => {
    await trust().trust(join(base, "project"));
    await writeFile(join(base, "project-evil", ".git"), `gitdir: ${base}/project/.git/worktrees/x\n`);
    expect(await trust().isTrusted(join(base, "project-evil"))).toBe(false);
  });

  it("is kept where only the person can read and write it, whatever the umask", async () => {
    const before = process.umask(0);
    try {
      await trust().trust(join(base, "project"));
    } finally {
      process.umask(before);
    }
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect((await stat(home)).mode & 0o777).toBe(0o700);
    expect(JSON.parse(await readFile(file(), "utf8"))).toEqual({ version: 1, trusted: [join(base, "project")] });
  });

  it("keeps what was there when more is added", async () => {
    await trust().trust(join(base, "project"));
    await trust().trust(join(base, "project-evil"));
    await trust().trust(join(base, "project"));
    expect(JSON.parse(await readFile(file(), "utf8"))).toEqual({
      version: 1,
      trusted: [join(base, "project"), join(base, "project-evil")],
    });
  });

  it("does not come from a file that others could have written", async () => {
    await keep(JSON.stringify({ version: 1, trusted: [base] }), 0o666);
    expect(await trust().isTrusted(join(base, "project"))).toBe(false);
    await expect(trust().trust(base)).rejects.toThrow("others may write to it");
  });

  it("does not come from a file behind a link, and none is written through one", async () => {
    await mkdir(home);
    await writeFile(join(base, "elsewhere.json"), JSON.stringify({ version: 1, trusted: [base] }), { mode: 0o600 });
    await symlink(join(base, "elsewhere.json"), file());
    expect(await trust().isTrusted(join(base, "project"))).toBe(false);
    await expect(trust().trust(join(base, "project"))).rejects.toThrow("it is not a regular file");
    expect(JSON.parse(await readFile(join(base, "elsewhere.json"), "utf8"))).toEqual({ version: 1, trusted: [base] });
  });

  it.each([
    "{",
    "[]",
    "null",
    '{"trusted": "/"}',
    '{"trusted": [1]}',
    '{"trusted": ["relative"]}',
    '{"__proto__": {"trusted": ["/"]}}',
  ])("does not come from a file that says something else: %s", async (text) => {
    await keep(text);
    expect(await trust().isTrusted(join(base, "project"))).toBe(false);
    await expect(trust().trust(base)).rejects.toThrow("it is not what Parley wrote there");
    expect(await readFile(file(), "utf8")).toBe(text);
  });

  it("cannot be given to a folder that is not there", async () => {
    await expect(trust().trust(join(base, "nowhere"))).rejects.toThrow("There is no folder");
    expect(await trust().isTrusted(join(base, "nowhere"))).toBe(false);
  });

  it("given to the whole machine holds everywhere", async () => {
    await trust().trust("/");
    expect(await trust().isTrusted(join(base, "project"))).toBe(true);
  });
});
