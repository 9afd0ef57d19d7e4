import fs, { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRealDisk } from "./disk.ts";

const realDisk = createRealDisk();

/** As Node throws it: libuv has no name for this error, so the code is a sentence with the number. */
const quotaError = (): Error =>
  Object.assign(new Error(`Unknown system error -${constants.errno.EDQUOT}: write`), {
    errno: -constants.errno.EDQUOT,
    code: `Unknown system error -${constants.errno.EDQUOT}`,
    syscall: "write",
  });

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-quota-")));
  writeFileSync(join(base, "a.txt"), "before");
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  rmSync(base, { recursive: true, force: true });
});

it("a write beyond the quota fails as EDQUOT, and changes neither the file nor the folder", async () => {
  const folder = await realDisk.openFolder(base);
  const { identity } = (await folder.stat("a.txt"))!;
  const log = await folder.openAppend("log");
  vi.spyOn(fs, "writeSync").mockImplementation(() => {
    throw quotaError();
  });
  syncBuiltinESMExports();
  const failures = await Promise.allSettled([
    folder.replaceFile("a.txt", Buffer.from("after"), identity),
    folder.writeFile("b.txt", Buffer.from("new")),
    log.append(Buffer.from("line")),
  ]);
  await log.close();
  await folder.close();
  expect(failures.map((each) => (each.status === "rejected" ? (each.reason as { code: string }).code : ""))).toEqual([
    "EDQUOT",
    "EDQUOT",
    "EDQUOT",
  ]);
  expect([readdirSync(base).toSorted(), readFileSync(join(base, "a.txt"), "utf8")]).toEqual([
    ["a.txt", "log"],
    "before",
  ]);
});
