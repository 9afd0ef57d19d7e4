import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

/*
 * The words of the code, the screen and the documents are those of docs/glossary.md. Private words hide things from
 * search, and two types of one name from readers.
 */

const root = fileURLToPath(new URL("..", import.meta.url));

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((item) => {
    const path = join(folder, item.name);
    if (item.isDirectory()) return skipped.has(item.name) ? [] : filesBelow(path);
    return /\.(ts|mjs|cjs|md|json)$/.test(item.name) ? [path] : [];
  });

/** Installed, generated or recorded: not our words. */
const skipped = new Set(["node_modules", "schemas", "golden", "old-format", "api", ".cache"]);

const folders = ["src", "test", "docs", "bench", "scripts", "examples", "oracles"];
const files = [...folders.flatMap(filesBelow), "README.md", "AGENTS.md", "SECURITY.md", "schemas/settings.schema.json"];
const own = relative(root, fileURLToPath(import.meta.url));

const banned =
  /\/\*\* (what|whoever|nobody|somebody) |\b(nobody|somebody|whoever|anybody|how-manieth|go(es)? on with|went on with|has the word|(is|are) told|is heard|on (its|their) way|under way)\b/i;

/** Files that need one of these words, and why. */
const exempt: Readonly<Record<string, string>> = {
  [own]: "lists them",
  "src/context/estimate-tokens.test.ts": "a sample text whose tokens were counted",
  "test/support/command-runs.ts": "nobody is a Unix account",
  "test/support/sandbox-fixture.ts": "nobody is a Unix account",
};

const linesOf = (path: string): readonly { readonly at: string; readonly line: string }[] =>
  readFileSync(join(root, path), "utf8")
    .split("\n")
    .map((line, index) => ({ at: `${path}:${index + 1}`, line }));

describe("the language", () => {
  it("has no private words", () => {
    const searched = files.filter((path) => !Object.hasOwn(exempt, path));
    const found = searched.flatMap(linesOf).filter(({ line }) => banned.test(line));
    expect(found.map(({ at, line }) => `${at}: ${line.trim()}`)).toEqual([]);
  });

  it("has no file named by a gerund or a participle", () => {
    const names = files.filter((path) =>
      /(?:^|\/)(?:[a-z]+-)*(?:[a-z]+ing|told|kept|heard|said|asked|given|shown)\.ts$/.test(path),
    );
    expect(names.filter((path) => !nouns.test(path))).toEqual([]);
  });

  it("declares each exported type once", () => {
    const places = new Map<string, string[]>();
    for (const path of files.filter((each) => each.startsWith("src/") && !/\.(test|cases)\.ts$/.test(each)))
      for (const [, name] of readFileSync(join(root, path), "utf8").matchAll(
        /^export (?:abstract )?(?:type|interface|class) ([A-Z]\w*)/gm,
      ))
        places.set(name!, [...(places.get(name!) ?? []), path]);
    const doubled = [...places].filter(([, paths]) => paths.length > 1);
    expect(doubled.map(([name, paths]) => `${name}: ${paths.join(", ")}`)).toEqual([]);
  });

  it("keeps folders small enough to read: at most 30 files in each", () => {
    const count = new Map<string, number>();
    for (const path of files.filter(
      (each) => each.startsWith("src/") && each.endsWith(".ts") && !/\.(test|cases)\.ts$/.test(each),
    ))
      count.set(join(path, ".."), (count.get(join(path, "..")) ?? 0) + 1);
    expect([...count].filter(([, size]) => size > 30)).toEqual([]);
  });
});

/** Words that end so and are things: what a file of this name holds is no riddle. */
const nouns = /(?:^|\/|-)(?:setting|spending|grounding|sampling|pairing|thinking|greeting)\.ts$/;
