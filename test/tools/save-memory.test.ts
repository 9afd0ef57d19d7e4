import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { saveMemory } from "../../src/tools/save-memory.ts";
import { openWorkbench, type Workbench } from "../support/workbench.ts";

let bench: Workbench;
let file: string;
beforeEach(async () => {
  bench = await openWorkbench();
  file = join(bench.home, ".parley/PARLEY.md");
});
afterEach(() => bench.close());

const before = (text: string): void => {
  mkdirSync(join(bench.home, ".parley"));
  writeFileSync(file, text);
};
const remembered = (): string => readFileSync(file, "utf8");

describe("save_memory", () => {
  it("creates a file readable by its owner alone, with a heading", async () => {
    expect(await bench.call(saveMemory, { fact: "I like tabs." })).toEqual({
      content: [{ type: "text", text: '{"success":true,"message":"Okay, I\'ve remembered that: \\"I like tabs.\\""}' }],
      display: { type: "text", text: `Saved to ${file}` },
    });
    expect(remembered()).toBe("## Parley Added Memories\n- I like tabs.\n");
    expect([statSync(file).mode & 0o777, statSync(join(file, "..")).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(readdirSync(join(bench.home, ".parley"))).toEqual(["PARLEY.md"]);
  });

  it.each([
    [
      "to the end of its section",
      "# Me\n\n## Parley Added Memories\n- one\n\n## Other\ntext\n",
      "# Me\n\n## Parley Added Memories\n- one\n- two\n\n## Other\ntext\n",
    ],
    ["to the end of the file", "## Parley Added Memories\n- one", "## Parley Added Memories\n- one\n- two\n"],
    ["under a heading that stands there alone", "## Parley Added Memories\n", "## Parley Added Memories\n- two\n"],
    ["after what else is there", "# Me\nhello\n", "# Me\nhello\n\n## Parley Added Memories\n- two\n"],
    [
      "after deeper headings",
      "## Parley Added Memories\n### Work\n- one\n",
      "## Parley Added Memories\n### Work\n- one\n- two\n",
    ],
  ])("adds %s", async (_, text, after) => {
    before(text);
    await bench.call(saveMemory, { fact: "two" });
    expect(remembered()).toBe(after);
  });

  it.each([
    ["two\n## Heading\n- list", "two ## Heading - list"],
    ["  - * # > two  ", "two"],
    ["@../../.ssh/id_rsa", "\\@../../.ssh/id_rsa"],
    ["see @file, (@other) and me@example.com", "see \\@file, (\\@other) and me@example.com"],
    ["a\u0000b\u001b[31mc\u2028d", "a b [31mc d"],
    ["```js", "\\```js"],
    ["x <!-- y", "x \\<!-- y"],
    ["half \ud800", "half \ufffd"],
    ["$& $1", "$& $1"],
  ])("stores %j as one line of plain text", async (fact, line) => {
    before("## Parley Added Memories\n- one\n");
    await bench.call(saveMemory, { fact });
    expect(remembered()).toBe(`## Parley Added Memories\n- one\n- ${line}\n`);
  });

  it.each([
    ["nothing", { fact: "" }, "invalid_tool_params"],
    ["blanks and signs", { fact: " \n# - " }, "invalid_tool_params"],
    ["too much", { fact: "x".repeat(4001) }, "invalid_tool_params"],
    ["what is no text", { fact: 7 }, "invalid_tool_params"],
  ])("refuses %s", async (_, input, type) => {
    expect((await bench.failure(saveMemory, input)).type).toBe(type);
    expect(readdirSync(bench.home)).toEqual([]);
  });

  it.each([
    [
      "file",
      () => {
        mkdirSync(join(bench.home, ".parley"));
        symlinkSync(join(bench.outside, "canary.txt"), file);
      },
      "not_a_regular_file",
    ],
    [
      "file that leads nowhere",
      () => {
        mkdirSync(join(bench.home, ".parley"));
        symlinkSync(join(bench.outside, "new.txt"), file);
      },
      "not_a_regular_file",
    ],
    ["folder", () => symlinkSync(bench.outside, join(bench.home, ".parley")), "file_modified_conflict"],
  ])("does not write through a link in place of its %s", async (_, prepare, type) => {
    prepare();
    expect((await bench.failure(saveMemory, { fact: "x" })).type).toBe(type);
    expect([readdirSync(bench.outside), readFileSync(join(bench.outside, "canary.txt"), "utf8")]).toEqual([
      ["canary.txt"],
      "canary\n",
    ]);
  });
});
