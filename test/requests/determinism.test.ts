import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundleScript } from "../support/bundle-script.ts";
import { digestBodies } from "../support/digest-bodies.ts";
import { sampleCases } from "../support/tier.ts";

const expected = digestBodies();

let folder: string;
let script: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-digest-"));
  script = bundleScript(fileURLToPath(new URL("../support/print-digest.ts", import.meta.url)), folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const environments = [
  { TZ: "Pacific/Kiritimati", LC_ALL: "tr_TR.UTF-8", LANG: "tr_TR.UTF-8" },
  { TZ: "UTC", LC_ALL: "C" },
  { TZ: "America/St_Johns", LC_ALL: "ja_JP.UTF-8", LANG: "ja_JP.UTF-8" },
];

it.each(sampleCases(environments, 3))(
  "writes the same bytes in another process under $TZ and $LC_ALL",
  (environment) => {
    const printed = execFileSync(process.execPath, [script], {
      env: { ...process.env, ...environment },
      encoding: "utf8",
    });
    expect(printed).toBe(expected);
  },
);
