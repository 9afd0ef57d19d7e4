import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { writeApiDocs } from "./api-docs.mjs";

const committed = fileURLToPath(new URL("../docs/api", import.meta.url));

const textsIn = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));

it("the API reference is up to date (if not: node oracles/api-docs.mjs)", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-api-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await writeApiDocs(folder);
  expect(textsIn(folder)).toEqual(textsIn(committed));
});
