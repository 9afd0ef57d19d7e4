import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { digestBodies } from "../support/digest-bodies.ts";

const expected = digestBodies();

it.each([
  { TZ: "UTC", LC_ALL: "C" },
  { TZ: "Pacific/Kiritimati", LC_ALL: "tr_TR.UTF-8", LANG: "tr_TR.UTF-8" },
  { TZ: "America/St_Johns", LC_ALL: "ja_JP.UTF-8", LANG: "ja_JP.UTF-8" },
])("writes the same bytes in another process under $TZ and $LC_ALL", (environment) => {
  const script = fileURLToPath(new URL("../support/print-digest.ts", import.meta.url));
  const printed = execFileSync(process.execPath, ["--import", "tsx", script], {
    env: { ...process.env, ...environment },
    encoding: "utf8",
  });
  expect(printed).toBe(expected);
});
