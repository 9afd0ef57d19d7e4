import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { replace } from "../../src/tools/edit/replace.ts";
import { openWorkbench, type Workbench } from "../support/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const edit = (old_string: string, new_string: string, more = {}) => ({
  file_path: "a.ts",
  old_string,
  new_string,
  ...more,
});

describe("replace", () => {
  it("replaces the one occurrence, and shows the diff", async () => {
    const path = bench.put("a.ts", "const a = 1;\nconst b = 2;\n");
    expect(await bench.call(replace, edit("b = 2", "b = 3"))).toEqual({
      content: [{ type: "text", text: `Successfully modified file: ${path} (1 replacement).` }],
      display: {
        type: "diff",
        path,
        before: "const a = 1;\nconst b = 2;\n",
        after: "const a = 1;\nconst b = 3;\n",
        patch: `--- ${path}\n+++ ${path}\n@@ -1,2 +1,2 @@\n const a = 1;\n-const b = 2;\n+const b = 3;\n`,
        stat: { aiAdded: 1, aiRemoved: 1, userAdded: 0, userRemoved: 0 },
      },
    });
    expect(bench.text("a.ts")).toBe("const a = 1;\nconst b = 3;\n");
  });

  it.each([
    ["as many as expected", { expected_replacements: 3 }],
    ["however many there are", { expected_replacements: 0 }],
    ["however many there are, by its newer name", { allow_multiple: true, instruction: "all of them" }],
  ])("replaces %s", async (_, more) => {
    bench.put("a.ts", "x x x");
    expect(await bench.callText(replace, edit("x", "$&y", more))).toBe(
      "Successfully modified file: {WS}/a.ts (3 replacements).",
    );
    expect(bench.text("a.ts")).toBe("$&y $&y $&y");
  });

  it("creates a file from an empty old_string", async () => {
    expect(await bench.callText(replace, edit("", "first\r\n", { file_path: "new/a.ts" }))).toBe(
      "Created new file: {WS}/new/a.ts with provided content.",
    );
    expect(bench.text("new/a.ts")).toBe("first\r\n");
  });

  it("fills an empty file from an empty old_string", async () => {
    bench.put("a.ts", "");
    await bench.callText(replace, edit("", "first\n"));
    expect(bench.text("a.ts")).toBe("first\n");
  });

  it.each([
    ["quoted with plain line ends", "a\r\nb\r\nc\r\n", edit("a\nb", "A\nB\nBB"), "A\r\nB\r\nBB\r\nc\r\n"],
    ["quoted with carriage returns", "a\nb\nc\n", edit("a\r\nb", "A\r\nB"), "A\nB\nc\n"],
    ["in a file of both kinds", "a\r\nb\nc\r\nd\ne\r\n", edit("b\nc", "B\nC"), "a\r\nB\r\nC\r\nd\ne\r\n"],
  ])("keeps line endings: %s", async (_, before, input, after) => {
    bench.put("a.ts", before);
    await bench.callText(replace, input);
    expect(bench.text("a.ts")).toBe(after);
  });

  it.each([
    [
      "nothing like it",
      edit("something else", "x"),
      "edit_no_occurrence_found",
      "Failed to edit a.ts: 0 occurrences found for old_string. Read the file again: it may have changed. No edits were made.",
    ],
    [
      "the same with other blanks",
      edit("if (a) {\n  go();\n}", "x"),
      "edit_no_occurrence_found",
      "Failed to edit a.ts: 0 occurrences found for old_string. The same lines are at line 2 with different whitespace; quote them exactly. No edits were made.",
    ],
    [
      "only its first line",
      edit("  if (a) {\n    stop();\n  }", "x"),
      "edit_no_occurrence_found",
      "Failed to edit a.ts: 0 occurrences found for old_string. Its first line is at line 2, but what follows differs; read the file from there. No edits were made.",
    ],
    [
      "more than one",
      edit("a", "x"),
      "edit_expected_occurrence_mismatch",
      "Expected 1 occurrence of old_string in a.ts but found 2. Include more context, or set expected_replacements: 2.",
    ],
    [
      "fewer than expected",
      edit("go()", "x", { expected_replacements: 2 }),
      "edit_expected_occurrence_mismatch",
      "Expected 2 occurrences of old_string in a.ts but found 1. Include more context, or set expected_replacements: 1.",
    ],
    [
      "no change",
      edit("go()", "go()"),
      "edit_no_change",
      "No changes to apply to a.ts: old_string and new_string are the same.",
    ],
    [
      "an empty quotation in a file that is there",
      edit("", "x"),
      "attempt_to_create_existing_file",
      "a.ts already exists; an empty old_string only creates new files.",
    ],
    [
      "a file that is not there",
      edit("a", "b", { file_path: "none.ts" }),
      "file_not_found",
      "File not found: none.ts. To create it, use an empty old_string.",
    ],
    ["a folder", edit("a", "b", { file_path: "." }), "target_is_directory", ". is a folder, not a file."],
  ])("fails with a hint: %s", async (_, input, type, message) => {
    bench.put("a.ts", "let a;\n    if (a) {\n      go();\n    }\n");
    expect(await bench.failure(replace, input)).toEqual({ type, message });
    expect(bench.text("a.ts")).toBe("let a;\n    if (a) {\n      go();\n    }\n");
  });

  it("rejects a file excluded from models, and reveals none of its content", async () => {
    bench.put(".geminiignore", "a.ts\n");
    bench.put("a.ts", "canary\n");
    expect(await bench.failure(replace, edit("canar", "x"))).toEqual({
      type: "policy_violation",
      message: "a.ts is excluded from models by .geminiignore.",
    });
  });

  it("proposes what it would write, and takes the person's version of it", async () => {
    bench.put("a.ts", "one\ntwo\n");
    const input = edit("two", "three");
    const proposal = await bench.propose(replace, input);
    expect(proposal).toEqual({ path: join(bench.root, "a.ts"), before: "one\ntwo\n", after: "one\nthree\n" });
    const amended = replace.amend?.(input as never, proposal, "one\nfour\n") as typeof input;
    const approved = { before: "one\ntwo\n", after: "one\nfour\n", proposed: "one\nthree\n" };
    const { display } = await bench.call(replace, amended, { approved });
    expect(display).toMatchObject({ stat: { aiAdded: 1, aiRemoved: 1, userAdded: 1, userRemoved: 1 } });
    expect(bench.text("a.ts")).toBe("one\nfour\n");
  });

  it("conflicts where the file changed after it was approved, though the edit still fits", async () => {
    const path = bench.put("a.ts", "one\ntwo\n");
    writeFileSync(path, "zero\ntwo\n");
    const approved = { before: "one\ntwo\n", after: "one\nthree\n" };
    expect((await bench.failure(replace, edit("two", "three"), { approved })).type).toBe("file_modified_conflict");
    expect(bench.text("a.ts")).toBe("zero\ntwo\n");
  });
});
