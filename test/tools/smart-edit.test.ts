import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SideQueryModel } from "../../src/tools/capabilities.ts";
import { smartEdit } from "../../src/tools/edit/smart-edit.ts";
import { openWorkbench, type Workbench } from "../support/workbench.ts";
import { perTier } from "../support/tier.ts";

/** The length of a long file and of the text that is looked for, in lines or words. */
const [pieces, oldPieces] = perTier({ quick: [5_000, 200], all: [200_000, 3000] } as const);

let bench: Workbench;
let prompts: string[];
let answer: () => Promise<string>;
const model: SideQueryModel = {
  ask: (prompt) => {
    prompts.push(prompt);
    return answer();
  },
};
beforeEach(async () => {
  prompts = [];
  answer = async () => "{}";
  bench = await openWorkbench({ model });
});
afterEach(() => bench.close());

const edit = (old_string: string, new_string: string, file_path = "a.ts") => ({
  file_path,
  instruction: "Say it better.",
  old_string,
  new_string,
});
const done = "Successfully modified file: {WS}/a.ts (1 replacement).";

describe("smart_edit finds text", () => {
  it.each([
    ["as it is quoted", "let a = 1;\n", edit("a = 1", "a = 2"), "let a = 2;\n", ""],
    [
      "with other blanks around its lines, and takes over the indentation",
      "class A {\n    go() {\n        run();\n    }\n}\n",
      edit("go() {\n    run();\n}", "go() {\n    run();\n\n    stop();\n}"),
      "class A {\n    go() {\n        run();\n\n        stop();\n    }\n}\n",
      " The text was found with different indentation.",
    ],
    [
      "indented less than quoted",
      "if (a) {\n  b();\n}\n",
      edit("    if (a) {\n      b();\n    }\n", "    if (c) {\n      b();\n    }\n"),
      "if (c) {\n  b();\n}\n",
      " The text was found with different indentation.",
    ],
    [
      "indented with tabs",
      "f() {\n\tif (x) {\n\t\ty();\n\t}\n}\n",
      edit("if (x) {\n\ty();\n} ", "if (x) {\n\tz();\n}"),
      "f() {\n\tif (x) {\n\t\tz();\n\t}\n}\n",
      " The text was found with different indentation.",
    ],
    [
      "to take it out",
      "a\n  b\n  c\nd\n",
      edit("b\nc\n", ""),
      "a\nd\n",
      " The text was found with different indentation.",
    ],
    [
      "with other spacing",
      "  call( one,two ,\n    three );\n",
      edit("call(one, two, three);", "call(one);"),
      "  call(one);\n",
      " The text was found with different whitespace.",
    ],
    [
      "with other spacing in the middle of a line",
      "x = f( 1,2 ) + g();\n",
      edit("f(1, 2)", "f(3)"),
      "x = f(3) + g();\n",
      " The text was found with different whitespace.",
    ],
  ])("%s", async (_, before, input, after, note) => {
    bench.put("a.ts", before);
    expect(await bench.callText(smartEdit, input)).toBe(done + note);
    expect(bench.text("a.ts")).toBe(after);
    expect(prompts).toEqual([]);
  });

  it("and keeps carriage returns", async () => {
    bench.put("a.ts", "{\r\n    a();\r\n    b();\r\n}\r\n");
    await bench.callText(smartEdit, edit("a();\nb();", "a();\nc();\nd();"));
    expect(bench.text("a.ts")).toBe("{\r\n    a();\r\n    c();\r\n    d();\r\n}\r\n");
  });

  it("but not inside longer words", async () => {
    bench.put("a.ts", "prefoo( 1 );\nfoo2( 1 );\n");
    expect((await bench.failure(smartEdit, edit("foo(1)", "bar(1)"))).type).toBe("edit_no_occurrence_found");
  });

  it.each([
    ["as it is quoted", "a;\na;\n", edit("a;", "b;")],
    ["with other blanks", "  a;\n  b;\nx\n  a;\n  b;\n", edit("a;\nb;", "c;")],
    ["with other spacing", "f( 1 );\nf(1 );\n", edit("f(1)", "g")],
  ])("and rejects several occurrences: %s", async (_, before, input) => {
    bench.put("a.ts", before);
    expect(await bench.failure(smartEdit, input)).toEqual({
      type: "edit_expected_occurrence_mismatch",
      message: "Expected 1 occurrence of old_string in a.ts but found 2. Include more context.",
    });
    expect(bench.text("a.ts")).toBe(before);
    expect(prompts).toEqual([]);
  });

  it.each([
    ["lines", "same\n", `${"same\n".repeat(oldPieces)}other`],
    ["words", "same ", `${"same ".repeat(oldPieces)}other`],
  ])("and gives up quickly on %s that only look alike", async (_, piece, old) => {
    bench.put("a.ts", piece.repeat(pieces));
    expect((await bench.failure(smartEdit, edit(old, "x"))).type).toBe("edit_no_occurrence_found");
  });
});

describe("smart_edit asks a model once", () => {
  it("for the text that was meant", async () => {
    bench.put("a.ts", "const total = sum(items);\n");
    answer = async () => 'Here it is:\n```json\n{"old": "total = sum(items)", "new": "total = max(items)"}\n```';
    expect(await bench.callText(smartEdit, edit("total = sum(list)", "total = max(list)"))).toBe(
      `${done} The text was not found as quoted; a model corrected old_string.`,
    );
    expect(bench.text("a.ts")).toBe("const total = max(items);\n");
    expect(prompts).toEqual([expect.stringContaining("The edit is for: Say it better.")]);
    expect(prompts[0]).toContain("<old>\ntotal = sum(list)\n</old>");
    expect(prompts[0]).toContain("<file>\nconst total = sum(items);\n\n</file>");
  });

  it.each([
    ["does not know", async () => "{}"],
    ["says something else", async () => "I cannot help with that."],
    ["is wrong again", async () => '{"old": "nowhere", "new": "x"}'],
    ["cannot be asked", () => Promise.reject(new Error("offline"))],
  ])("and reports the original failure where it %s", async (_, says) => {
    bench.put("a.ts", "one\n");
    answer = says;
    expect(await bench.failure(smartEdit, edit("two", "three"))).toEqual({
      type: "edit_no_occurrence_found",
      message:
        "Failed to edit a.ts: 0 occurrences found for old_string. Read the file again: it may have changed. No edits were made.",
    });
    expect(prompts).toHaveLength(1);
  });

  it("and not again for an approved edit", async () => {
    bench.put("a.ts", "one\n");
    answer = async () => '{"old": "one", "new": "three"}';
    const proposal = await bench.propose(smartEdit, edit("two", "three"));
    expect(proposal.after).toBe("three\n");
    const approved = { before: "one\n", after: "three\n" };
    await bench.call(smartEdit, edit("two", "three"), { approved });
    expect(bench.text("a.ts")).toBe("three\n");
    expect(prompts).toHaveLength(1);
  });

  it("and stops when aborted", async () => {
    bench.put("a.ts", "one\n");
    const stop = new AbortController();
    answer = () => {
      stop.abort(new Error("stopped"));
      return Promise.reject(new Error("gone"));
    };
    await expect(bench.call(smartEdit, edit("two", "three"), { signal: stop.signal })).rejects.toThrow("gone");
  });

  it("or none, where none is available", async () => {
    const alone = await openWorkbench();
    alone.put("a.ts", "one\n");
    expect((await alone.failure(smartEdit, edit("two", "three"))).type).toBe("edit_no_occurrence_found");
    await alone.close();
  });
});

describe("smart_edit", () => {
  it("creates a file from an empty old_string", async () => {
    expect(await bench.callText(smartEdit, edit("", "new\n", "b.ts"))).toBe(
      "Created new file: {WS}/b.ts with provided content.",
    );
    expect(bench.text("b.ts")).toBe("new\n");
  });

  it.each([
    ["no change", edit("one", "one"), "edit_no_change"],
    ["an empty quotation in a file that is there", edit("", "x"), "attempt_to_create_existing_file"],
    ["a file that is not there", edit("a", "b", "none.ts"), "file_not_found"],
    ["a folder", edit("a", "b", "."), "target_is_directory"],
    ["a missing instruction", { file_path: "a.ts", old_string: "one", new_string: "two" }, "invalid_tool_params"],
  ])("fails on %s", async (_, input, type) => {
    bench.put("a.ts", "one\n");
    expect((await bench.failure(smartEdit, input)).type).toBe(type);
    expect(bench.text("a.ts")).toBe("one\n");
  });

  it("does not show a model files excluded from it", async () => {
    bench.put(".parleyignore", "a.ts\n");
    bench.put("a.ts", "canary\n");
    expect((await bench.failure(smartEdit, edit("x", "y"))).type).toBe("policy_violation");
    expect(prompts).toEqual([]);
  });

  it("writes the user's version of its proposal", async () => {
    bench.put("a.ts", "{\n  one();\n}\n");
    const input = edit("  one( );", "  two();");
    const proposal = await bench.propose(smartEdit, input);
    const amended = smartEdit.amend?.(input as never, proposal, "{\n  three();\n}\n") as typeof input;
    const approved = { before: proposal.before, after: "{\n  three();\n}\n", proposed: proposal.after };
    await bench.call(smartEdit, amended, { approved });
    expect(bench.text("a.ts")).toBe("{\n  three();\n}\n");
  });
});
