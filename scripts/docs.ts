/*
 * Keeps the documents in step with the code: `npx tsx scripts/docs.ts` writes the lazy list of providers, builds, runs
 * every console block again, and writes the tables, the examples and the schema of settings files. test/docs.test.ts checks them.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSettingsSchema } from "../src/settings/schema/json-schema.ts";
import { writeLazyProviders } from "./lazy-providers.ts";
import { tables } from "./tables.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Paths of the documents that are kept up to date. */
export const documents: readonly string[] = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];

/** The schema of settings files: its path and its current text. */
export const settingsSchemaFile: { readonly path: string; readonly text: string } = {
  path: "schemas/settings.schema.json",
  text: `${JSON.stringify(createSettingsSchema(), null, 2)}\n`,
};

/** Returns a document with up-to-date console blocks, tables and examples. Needs a current build. */
export const updateDocument = (text: string): string =>
  text
    .replaceAll(/(?<=^```console\n).*?(?=^```$)/gms, (block) => runBlock(block))
    .replaceAll(/(?<=^<!-- (?!end )([a-z-]+) -->\n\n).*?(?=\n\n<!-- end -->$)/gms, (_, name: string) =>
      renderTable(name),
    )
    .replaceAll(/(?<=^```ts (examples\/[\w.-]+)\n).*?(?=^```$)/gms, (_, path: string) =>
      readFileSync(join(root, path), "utf8"),
    );

const renderTable = (name: string): string => {
  const table = tables[name];
  if (table === undefined)
    throw new Error(`A document has the table "${name}", which scripts/tables.ts does not define.`);
  return table();
};

/**
 * Runs the commands of a block in order, in one folder that contains only a link to examples/. A line that starts with
 * `> ` continues the command above it. Every command must succeed, unless it ends with `# exits with N`.
 */
const runBlock = (block: string): string => {
  const folder = mkdtempSync(join(tmpdir(), "parley-docs-"));
  symlinkSync(join(root, "examples"), join(folder, "examples"));
  try {
    const commands = [...block.matchAll(/^\$ .*(?:\n> .*)*/gm)].map(([command]) => command);
    return commands.map((each) => `${each}\n${runCommand(each.replaceAll(/^[$>] /gm, ""), folder)}`).join("");
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const runCommand = (command: string, cwd: string): string => {
  const script = `exec 2>&1\nset -o pipefail\nparley() { node "$PARLEY" "$@"; }\n${command}`;
  const path = `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`;
  const env = { ...process.env, PATH: path, PARLEY: join(root, "dist", "parley.cjs") };
  const { status, stdout } = spawnSync("bash", ["-c", script], { cwd, env, encoding: "utf8" });
  const expected = Number(/# exits with (\d+)$/.exec(command)?.[1] ?? 0);
  if (status !== expected)
    throw new Error(
      `A document's command exits with ${status}, not ${expected}:\n${command}\n${stdout.slice(0, 2000)}`,
    );
  return stdout;
};

if (realpathSync(process.argv[1] ?? "") === fileURLToPath(import.meta.url)) {
  await writeLazyProviders();
  execFileSync(process.execPath, [join(root, "scripts", "setup.mjs")], { stdio: "inherit" });
  writeFileSync(join(root, settingsSchemaFile.path), settingsSchemaFile.text);
  for (const path of documents) {
    const text = readFileSync(join(root, path), "utf8");
    const fresh = updateDocument(text);
    if (fresh !== text) writeFileSync(join(root, path), fresh);
  }
}
