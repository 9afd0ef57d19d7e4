import { execFile } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import { tempLockName } from "../../src/world/file-names.ts";
import { createRealDisk } from "../../src/world/real/disk/disk.ts";
import { perTier } from "../support/tier.ts";
import { bundleScript } from "../support/bundle-script.ts";

const edits = perTier({ quick: 30, all: 150 });

const realDisk = createRealDisk();

let base: string;
let project: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-two-")));
  project = join(base, "project");
  mkdirSync(project);
  writeFileSync(join(project, "shared.txt"), "");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const editor = fileURLToPath(new URL("../support/edit-many.ts", import.meta.url));

it(`no edit reported as done is lost when two processes edit one file ${edits} times each`, async () => {
  const script = bundleScript(editor, base);
  const run = async (name: string): Promise<readonly string[]> => {
    const { stdout } = await promisify(execFile)(process.execPath, [script, project, name, `${edits}`]);
    return stdout.trim().split("\n");
  };
  const reported = (await Promise.all([run("one"), run("two")])).flat();
  const kept = readFileSync(join(project, "shared.txt"), "utf8").trim().split("\n");
  expect(reported).toHaveLength(2 * edits);
  expect(kept.toSorted()).toEqual(reported.toSorted());
  expect(readdirSync(project)).toEqual(["shared.txt"]);
});

it("a half-written version left by a killed process does not block others, and is removed", async () => {
  const folder = await realDisk.openFolder(project);
  const { identity } = (await folder.stat("shared.txt"))!;
  const left = join(project, tempLockName("shared.txt"));
  writeFileSync(left, "half");
  const old = Date.now() / 1000 - 60;
  utimesSync(left, old, old);
  await folder.replaceFile("shared.txt", Buffer.from("next"), identity);
  expect([readFileSync(join(project, "shared.txt"), "utf8"), readdirSync(project)]).toEqual(["next", ["shared.txt"]]);
  await expect(folder.replaceFile("shared.txt", Buffer.from("late"), identity)).rejects.toMatchObject({
    code: "ESTALE",
  });
  await expect(folder.replaceFile("shared.txt", Buffer.from("late"), "absent")).rejects.toMatchObject({
    code: "ESTALE",
  });
  await folder.close();
});
