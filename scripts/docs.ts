/*
 * Keeps the documents true: `npx tsx scripts/docs.ts` runs every console block
 * again and writes the tables that the code knows, and the schema of settings files. test/docs.test.ts holds them to it.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { settingsSchema } from "../src/settings/schema.ts";
import { tables } from "./tables.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The documents that are kept true, by path. */
export const documents: readonly string[] = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];

/** The schema of settings files, by path and as it should be. */
export const schema: { readonly path: string; readonly text: string } = {
  path: "schemas/settings.schema.json",
  text: `${JSON.stringify(settingsSchema(), null, 2)}\n`,
};

/** A document as it should be. Needs a current build. */
export const upToDate = (text: string): string =>
  text
    .replaceAll(/(?<=^```console\n).*?(?=^```$)/gms, (block) => runBlock(block))
    .replaceAll(/(?<=^<!-- (?!end )([a-z-]+) -->\n\n).*?(?=\n\n<!-- end -->$)/gms, (_, name: string) =>
      tableNamed(name),
    );

const tableNamed = (name: string): string => {
  const table = tables[name];
  if (table === undefined) throw new Error(`A document asks for the table "${name}", which nobody makes.`);
  return table();
};

/** Runs the commands of a block, one after the other in one empty folder beside the examples. */
const runBlock = (block: string): string => {
  const folder = mkdtempSync(join(tmpdir(), "parley-docs-"));
  symlinkSync(join(root, "examples"), join(folder, "examples"));
  try {
    const commands = block.split("\n").filter((line) => line.startsWith("$ "));
    return commands.map((line) => `${line}\n${runCommand(line.slice(2), folder)}`).join("");
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const runCommand = (command: string, cwd: string): string => {
  const script = `exec 2>&1\nparley() { node "$PARLEY" "$@"; }\n${command}`;
  const path = `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`;
  const env = { ...process.env, PATH: path, PARLEY: join(root, "dist", "parley.cjs") };
  return spawnSync("bash", ["-c", script], { cwd, env, encoding: "utf8" }).stdout;
};

if (realpathSync(process.argv[1] ?? "") === fileURLToPath(import.meta.url)) {
  writeFileSync(join(root, schema.path), schema.text);
  for (const path of documents) {
    const text = readFileSync(join(root, path), "utf8");
    const fresh = upToDate(text);
    if (fresh !== text) writeFileSync(join(root, path), fresh);
  }
}
