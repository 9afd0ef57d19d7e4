import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRealDisk } from "../../world/real/disk/disk.ts";
import { openTrustStore } from "./folders.ts";

const realDisk = createRealDisk();

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

const trust = () => openTrustStore(realDisk, home);
/** Every file kept, as it says. */
const kept = async (): Promise<readonly unknown[]> => {
  const names = await readdir(join(home, "trust"));
  const texts = await Promise.all(names.map((name) => readFile(join(home, "trust", name), "utf8")));
  return texts.toSorted().map((text) => JSON.parse(text) as unknown);
};
const onlyFile = async (): Promise<string> => join(home, "trust", (await readdir(join(home, "trust")))[0] ?? "");

describe("trust in a folder", () => {
  it("does not exist until it is given, and then persists", async () => {
    expect(await trust().isTrusted(join(base, "project"))).toBe(false);
    expect(await trust().projectScope(join(base, "project"))).toBe("inert");
    await trust().trustFolder(join(base, "project"));
    expect(await trust().isTrusted(join(base, "project"))).toBe(true);
    expect(await trust().projectScope(join(base, "project"))).toBe("tighten");
  });

  it("holds for folders below, not above, and not for a sibling with a similar name", async () => {
    await trust().trustFolder(join(base, "project"));
    const found = ["project/packages/one", ".", "project-evil"].map((path) => trust().isTrusted(join(base, path)));
    expect(await Promise.all(found)).toEqual([true, false, false]);
  });

  it("belongs to the canonical path, not to a link", async () => {
    await symlink(join(base, "project-evil"), join(base, "project", "link"));
    await symlink(join(base, "project"), join(base, "shortcut"));
    await trust().trustFolder(join(base, "shortcut"));
    expect(await trust().isTrusted(join(base, "project"))).toBe(true);
    expect(await trust().isTrusted(join(base, "project", "link"))).toBe(false);
  });

  it("is not inherited through a worktree's own .git file", async () => {
    await trust().trustFolder(join(base, "project"));
    await writeFile(join(base, "project-evil", ".git"), `gitdir: ${base}/project/.git/worktrees/x\n`);
    expect(await trust().isTrusted(join(base, "project-evil"))).toBe(false);
  });

  it("is stored in files that only the owner can read and write, whatever the umask", async () => {
    const before = process.umask(0);
    try {
      await trust().trustFolder(join(base, "project"));
    } finally {
      process.umask(before);
    }
    expect((await stat(await onlyFile())).mode & 0o777).toBe(0o600);
    expect((await stat(join(home, "trust"))).mode & 0o777).toBe(0o700);
    expect((await stat(home)).mode & 0o777).toBe(0o700);
    expect(await kept()).toEqual([{ trusted: join(base, "project") }]);
  });

  it("keeps existing answers when more are added", async () => {
    await trust().trustFolder(join(base, "project"));
    await trust().trustFolder(join(base, "project-evil"));
    await trust().trustFolder(join(base, "project"));
    expect(await kept()).toEqual([{ trusted: join(base, "project") }, { trusted: join(base, "project-evil") }]);
  });

  it("given concurrently is stored completely", async () => {
    const folders = Array.from({ length: 40 }, (_, index) => join(base, "project", `part${index}`));
    await Promise.all(folders.map((folder) => mkdir(folder)));
    await Promise.all(folders.map((folder) => trust().trustFolder(folder)));
    expect(await Promise.all(folders.map((folder) => trust().isTrusted(folder)))).toEqual(folders.map(() => true));
    expect(await kept()).toEqual(folders.toSorted().map((trusted) => ({ trusted })));
  });

  it("does not come from a file that other users can write", async () => {
    await trust().trustFolder(join(base, "project"));
    await chmod(await onlyFile(), 0o620);
    expect(await trust().isTrusted(join(base, "project"))).toBe(false);
  });

  it("does not come from a folder that other users can write in", async () => {
    await trust().trustFolder(join(base, "project"));
    await chmod(join(home, "trust"), 0o777);
    expect(await trust().isTrusted(join(base, "project"))).toBe(false);
    await expect(trust().trustFolder(join(base, "project-evil"))).rejects.toThrow("other users can write to it");
  });

  it("does not come from a linked file, and is not written through a link", async () => {
    await trust().trustFolder(join(base, "project"));
    const file = await onlyFile();
    await rename(file, join(base, "elsewhere.json"));
    await symlink(join(base, "elsewhere.json"), file);
    expect(await trust().isTrusted(join(base, "project"))).toBe(false);
    await expect(trust().trustFolder(join(base, "project"))).rejects.toThrow("is not a regular file");
    expect((await lstat(file)).isSymbolicLink()).toBe(true);
  });

  it("does not come from a linked folder, and is not written through a link", async () => {
    await trust().trustFolder(join(base, "project"));
    await rename(join(home, "trust"), join(base, "elsewhere"));
    await symlink(join(base, "elsewhere"), join(home, "trust"));
    expect(await trust().isTrusted(join(base, "project"))).toBe(false);
    await expect(trust().trustFolder(join(base, "project-evil"))).rejects.toThrow("is not a regular folder");
    expect(await readdir(join(base, "elsewhere"))).toHaveLength(1);
  });

  it.each(["", "{", "[]", '{"trusted": "/"}'])(
    "does not come from a file that says something else: %s",
    async (text) => {
      await trust().trustFolder(join(base, "project"));
      await writeFile(await onlyFile(), text);
      expect(await trust().isTrusted(join(base, "project"))).toBe(false);
    },
  );

  it("can be listed and removed, also from a deleted folder", async () => {
    expect([await trust().listTrusted(), await trust().untrustFolder(join(base, "project"))]).toEqual([[], false]);
    await trust().trustFolder(join(base, "project-evil"));
    await trust().trustFolder(join(base, "project"));
    expect(await trust().listTrusted()).toEqual([join(base, "project"), join(base, "project-evil")]);
    await rm(join(base, "project-evil"), { recursive: true });
    expect(await trust().untrustFolder(join(base, "project-evil"))).toBe(true);
    expect(await trust().untrustFolder(join(base, "project", "packages"))).toBe(false);
    expect(await trust().listTrusted()).toEqual([join(base, "project")]);
    expect(await trust().isTrusted(join(base, "project"))).toBe(true);
  });

  it("is listed only if it is valid", async () => {
    await trust().trustFolder(join(base, "project"));
    const file = await onlyFile();
    await writeFile(join(home, "trust", "else.json"), '{"trusted": "/"}', { mode: 0o600 });
    await writeFile(join(home, "trust", "torn.json"), '{"trus', { mode: 0o600 });
    expect(await trust().listTrusted()).toEqual([join(base, "project")]);
    await chmod(file, 0o620);
    expect(await trust().listTrusted()).toEqual([]);
  });

  it("cannot be given to a folder that does not exist", async () => {
    await expect(trust().trustFolder(join(base, "nowhere"))).rejects.toThrow("nowhere does not exist.");
    expect(await trust().isTrusted(join(base, "nowhere"))).toBe(false);
  });

  it("given to the root folder holds everywhere", async () => {
    await trust().trustFolder("/");
    expect(await trust().isTrusted(join(base, "project"))).toBe(true);
  });
});
