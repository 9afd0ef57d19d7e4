import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { documents, settingsSchemaFile, updateDocument } from "../scripts/docs.ts";
import { commands } from "../src/cli/commands.ts";
import { done, Ledger, parseConversation, renderRequest, text, type Conversation } from "../src/api/index.ts";
import { parseScript } from "../src/sim/model/parse-script.ts";
import { ensureBuilt, root } from "./built.ts";
import { exchange, simulateProvider, type ExchangeOutcome } from "./support/exchange.ts";
import { perTier } from "./support/tier.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** All Markdown files of the repository, except generated ones. */
const documentsWithPaths = (): readonly string[] => trackedFiles.filter((path) => /^(?!docs\/api\/).*\.md$/.test(path));

const trackedFiles = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => path !== "" && existsSync(join(root, path)));

/** Paths in code spans: from the root of the repository and, in the README of a source folder, TypeScript files of that folder. */
const namedPaths = (path: string): readonly string[] => {
  const spans = [...read(path).matchAll(/`([\w./-]+)`/g)].map(([, span]) => span!);
  const isFolderReadme = /^(src|bench|oracles)\/.*README\.md$/.test(path);
  return spans.filter(
    (span) =>
      (/^(src|test|scripts|docs|examples|schemas|bench|oracles)\/[\w./-]+$/.test(span) && !/[A-Z]{3}/.test(span)) ||
      (isFolderReadme && /^[\w./-]+\.ts$/.test(span) && !span.startsWith(".")),
  );
};

const isNamedFile = (document: string, name: string): boolean => {
  const path = name.replace(/\/$/, "");
  return (
    existsSync(join(root, path)) ||
    existsSync(join(root, document, "..", path)) ||
    trackedFiles.some((file) => file.startsWith(`${dirname(document)}/`) && file.endsWith(`/${path}`)) ||
    existsSync(join(root, "src", path))
  );
};

beforeAll(ensureBuilt);

describe("the documents", () => {
  // The help of every command is long: `npm run test:all` compares it.
  it.each(documents.filter((path) => path !== perTier({ quick: "docs/command-line.md", all: "" })))(
    "%s quotes current output (update with npx tsx scripts/docs.ts)",
    (path) => {
      const text = read(path);
      expect(updateDocument(text)).toBe(text);
    },
  );

  it("are not updated with a failing command, unless it is marked as failing", () => {
    const block = (commands: string): string => `\`\`\`console\n${commands}\n\`\`\`\n`;
    for (const failing of ["$ false", "$ false | cat", "$ printf x |", "$ true # exits with 1", "$ no-such-program"])
      expect(() => updateDocument(block(failing))).toThrow("A document's command exits with");
    expect(updateDocument(block("$ exit 3 # exits with 3\n$ printf 'a\\n' |\n> cat"))).toBe(
      block("$ exit 3 # exits with 3\n$ printf 'a\\n' |\n> cat\na"),
    );
  });

  it.each([...documents, "AGENTS.md"])("%s links to existing files", (path) => {
    const links = [...read(path).matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map(([, link]) => link!);
    for (const link of links) expect(read(join(path, "..", link)).length).toBeGreaterThan(0);
  });

  it("name only files and folders that exist", () => {
    const missing = documentsWithPaths().flatMap((path) =>
      namedPaths(path)
        .filter((name) => !isNamedFile(path, name))
        .map((name) => `${path}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it("have the current settings schema (update with npx tsx scripts/docs.ts)", () => {
    expect(read(settingsSchemaFile.path)).toBe(settingsSchemaFile.text);
  });

  it("list every kind of note with its class", () => {
    const declared = [
      ...read("src/conversation/notes.ts").matchAll(/^ {2}"?([a-z-]+)"?: "(state|rendering|projection)",$/gm),
    ];
    const listed = [...read("docs/rendering.md").matchAll(/^\| `([a-z-]+)` +\| (\w+) +\|/gm)];
    const pairs = (matches: readonly RegExpExecArray[]) => matches.map(([, kind, noteClass]) => `${kind} ${noteClass}`);
    expect(pairs(declared).length).toBeGreaterThan(0);
    expect(pairs(listed)).toEqual(pairs(declared));
  });

  it("show a conversation that can be parsed and rendered", async () => {
    const [, example] = /```json\n(.*?)```/s.exec(read("docs/conversation-format.md"))!;
    const conversation = await parseConversation(JSON.parse(example!));
    expect(renderRequest(conversation, "anthropic").report.calls).toHaveLength(1);
  });

  it("have the help of every command", () => {
    const shown = [...read("docs/command-line.md").matchAll(/^\$ parley ([\w-]+) --help$/gm)].map(([, name]) => name);
    expect(shown).toEqual(commands.map(({ name }) => name));
  });

  it("list every fault of the simulators", () => {
    const declared = [...read("src/sim/faults/fault.ts").matchAll(/readonly type: ((?:"[a-z-]+"(?: \| )?)+)/g)].flatMap(
      ([, names]) => [...names!.matchAll(/[a-z-]+/g)].map(([name]) => name),
    );
    const [, table] = /^## Faults\n(.*)/ms.exec(read("docs/simulators.md"))!;
    const listed = [...table!.matchAll(/^\| (`[^|]+`) +\|/gm)].flatMap(([, cell]) =>
      [...cell!.matchAll(/[a-z-]+/g)].map(([name]) => name),
    );
    expect(declared.length).toBeGreaterThan(15);
    expect(listed).toEqual(declared);
  });

  it("show a simulator script that works as described", async () => {
    const [, example] = /```json\n(.*?)```/s.exec(read("docs/simulators.md"))!;
    const tools: Conversation["tools"] = [{ name: "weather", parameters: { type: "object", properties: {} } }];
    const claude = { provider: "anthropic", model: "claude-sonnet-5" };
    const ledger = new Ledger();
    // A simulated clock must not run while a module is being loaded.
    await import("eventsource-parser");
    const hear = async (): Promise<ExchangeOutcome> => {
      const set = simulateProvider("anthropic", {
        script: parseScript(JSON.parse(example!)),
        retryPolicy: { maxAttempts: 1 },
      });
      return exchange(set, { version: 1, tools, entries: ledger.entries, blobs: {} });
    };
    ledger.user([text("Hello.")]);
    expect((await hear()).response?.parts).toEqual([text("Ask me about the weather.")]);
    ledger.user([text("How is the Weather?")]);
    const asked = (await hear()).response;
    expect(asked?.parts).toMatchObject([
      { type: "thinking" },
      { type: "call", tool: "weather", input: { text: '{"city":"Oslo"}' } },
    ]);
    const [called] = ledger.model(claude, asked?.parts ?? []);
    ledger.complete(called!.id, "weather", done("4 C, rain"));
    expect((await hear()).response?.parts).toEqual([text("Four degrees, and rain.")]);
    ledger.model(claude, [text("Four degrees, and rain.")]);
    ledger.user([text("Now crash.")]);
    expect((await hear()).failure).toMatchObject({ kind: "overloaded", detail: "Come back later." });
  });

  it("keep AGENTS.md under 80 lines", () => {
    expect(read("AGENTS.md").split("\n").length).toBeLessThan(80);
  });
});
