import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realWorld } from "../world/real/world.ts";
import { trustedEnvironment, withTrustedPrograms } from "./trusted-programs.ts";

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-trusted-")));
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  for (const name of ["xdg-open", "xclip", "vi", "sh"])
    writeFileSync(join(folder, "node_modules/.bin", name), "#!/bin/sh\n", { mode: 0o755 });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe.runIf(process.platform !== "win32")("a program that Parley starts for itself", () => {
  it("is not searched in the workspace", async () => {
    const env = { PATH: `${folder}/node_modules/.bin:/usr/bin:/bin` };
    const { processes } = withTrustedPrograms({ ...realWorld(), env }, folder);
    expect(await processes.find("xclip", env.PATH)).not.toBe(join(folder, "node_modules/.bin/xclip"));
    expect(await processes.find("sh", env.PATH)).toMatch(/^(?:\/usr)?\/bin\/sh$/);
  });

  it("gets a PATH without the workspace", async () => {
    const env = { PATH: `${folder}/node_modules/.bin:/usr/bin:/bin`, HOME: "/home/kim" };
    expect(await trustedEnvironment({ ...realWorld(), env }, folder)).toEqual({
      PATH: "/usr/bin:/bin",
      HOME: "/home/kim",
    });
  });
});
