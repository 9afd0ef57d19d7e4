import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { root } from "../built.ts";
import { bundleScript } from "./bundle-script.ts";
import { perTier, seedFor } from "./tier.ts";

const [reach, targets] = perTier({
  quick: ["two", "a provider of two APIs"],
  all: ["five", "a provider of every API"],
  nightly: ["every", "every provider"],
} as const);
const block = perTier({ quick: 500, all: 2500 });

/**
 * One test a block of histories; a failure names the seed, and `npm run fuzz` shrinks it. Each history is for
 * one provider of two APIs (quick) or of all five (CI), in turn, and for every provider at night. They run from one file in a process of their own: as vitest loads
 * modules, every call of another module is slower, and the whole takes half as long again.
 */
export const checkHistories = ({ from, count }: { from: number; count: number }): void => {
  let folder: string;
  let script: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "parley-histories-"));
    script = bundleScript(join(root, "test/support/check-histories-child.ts"), folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const first = seedFor(from);
  for (let start = first; start < first + count; start += block) {
    it(`keeps every promise to ${targets} for histories ${start} to ${start + block - 1}`, async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [script, `${start}`, `${block}`, reach]);
      expect(JSON.parse(stdout)).toEqual({ kept: block });
    });
  }
};
