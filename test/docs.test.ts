import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { documents, upToDate } from "../scripts/docs.ts";
import { parseConversation, renderRequest } from "../src/index.ts";
import { ensureBuilt, root } from "./built.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");

beforeAll(ensureBuilt);

describe("the documents", () => {
  it.each(documents)("%s quotes what is so (npx tsx scripts/docs.ts writes it)", (path) => {
    const text = read(path);
    expect(upToDate(text)).toBe(text);
  });

  it.each([...documents, "AGENTS.md"])("%s links to files that are there", (path) => {
    const links = [...read(path).matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map(([, link]) => link!);
    for (const link of links) expect(read(join(path, "..", link)).length).toBeGreaterThan(0);
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

  it("show a conversation that can be read and rendered", async () => {
    const [, example] = /```json\n(.*?)```/s.exec(read("docs/conversation-format.md"))!;
    const conversation = await parseConversation(JSON.parse(example!));
    expect(renderRequest(conversation, "anthropic").report.calls).toHaveLength(1);
  });

  it("keep AGENTS.md under 80 lines", () => {
    expect(read("AGENTS.md").split("\n").length).toBeLessThan(80);
  });
});
