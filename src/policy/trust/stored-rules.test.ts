import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRealDisk } from "../../world/real/disk/disk.ts";
import { parsePermissionRule, type PermissionRule } from "../gate/permission-rules.ts";
import { isStorable, openRuleStore, type StoredRule } from "./stored-rules.ts";

const disk = createRealDisk();
let base: string;
let home: string;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "stored-rules-")));
  home = join(base, "home");
  for (const folder of ["home", "project", "other"]) await mkdir(join(base, folder));
});

afterEach(() => rm(base, { recursive: true }));

const rulesOf = (folder: string) => openRuleStore(disk, home, join(base, folder));
const allow = (text: string): StoredRule => ({ list: "allow", rule: parsePermissionRule(text)! });
const exact: StoredRule = { list: "allow", rule: { type: "command", words: ["rm", "-rf", "build"], exact: true } };
const server: StoredRule = { list: "allow", rule: { type: "server", name: "github", identity: "abc" } };

describe("a rule stored for a project", () => {
  it("comes back as it was stored, in a later session, and only for this folder", async () => {
    const deny: StoredRule = { list: "deny", rule: parsePermissionRule("host:evil.test")! };
    const all = [allow("edits"), allow("run_shell_command(npm test)"), exact, server, deny];
    for (const each of all) await rulesOf("project").add(each);
    expect(await rulesOf("project").list()).toEqual(all);
    expect(await rulesOf("other").list()).toEqual([]);
    await symlink(join(base, "project"), join(base, "link"));
    expect(await rulesOf("link").list()).toEqual(all);
  });

  it("is never written into the project", async () => {
    await rulesOf("project").add(allow("edits"));
    expect([await readdir(join(base, "project")), await readdir(home)]).toEqual([[], ["permissions"]]);
  });

  it("can be taken back, also from a deleted folder", async () => {
    await rulesOf("project").add(exact);
    await rulesOf("project").add(allow("edits"));
    expect(await rulesOf("other").remove(exact)).toBe(false);
    expect(await rulesOf("project").remove(allow("run_shell_command(rm -rf build)"))).toBe(false);
    expect(await rulesOf("project").remove(exact)).toBe(true);
    await rm(join(base, "project"), { recursive: true });
    expect(await rulesOf("project").list()).toEqual([allow("edits")]);
    expect(await rulesOf("project").remove(allow("edits"))).toBe(true);
    expect(await rulesOf("project").list()).toEqual([]);
  });

  it("does not count in a file that others can write, or whose text was changed", async () => {
    await rulesOf("project").add(allow("edits"));
    const [name = ""] = await readdir(join(home, "permissions"));
    const file = join(home, "permissions", name);
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace("edits", "run_shell_command"));
    expect(await rulesOf("project").list()).toEqual([]);
    await writeFile(file, text);
    expect(await rulesOf("project").list()).toEqual([allow("edits")]);
    await chmod(file, 0o620);
    expect(await rulesOf("project").list()).toEqual([]);
    await chmod(join(home, "permissions"), 0o777);
    await expect(rulesOf("project").list()).rejects.toThrow("other users can write to it");
  });

  it.each<[PermissionRule, boolean]>([
    [{ type: "command", words: ["npm", "test"] }, true],
    [{ type: "command", words: ["rm", "my file"], exact: true }, false],
    [{ type: "command", words: ["rm", "a;b"], exact: true }, false],
    [{ type: "tool", name: "a tool" }, false],
    [{ type: "tool", name: "edits" }, false],
    [{ type: "server", name: "git\nhub" }, true],
    [{ type: "edits" }, true],
  ])("must be one whose text says all of it: %j", async (rule, expected) => {
    expect(isStorable(rule)).toBe(expected);
    const stored = rulesOf("project").add({ list: "allow", rule });
    if (!expected) await expect(stored).rejects.toThrow("cannot be stored");
    else expect(await stored.then(() => rulesOf("project").list())).toEqual([{ list: "allow", rule }]);
  });
});
