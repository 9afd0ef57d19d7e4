import { describe, expect, it } from "vitest";
import { text } from "../../src/conversation/builders.ts";
import { Ledger } from "../../src/conversation/ledger.ts";
import { destinationOf } from "../../src/providers/find.ts";
import { lint } from "../../src/rules/lint.ts";
import { builtinTools } from "../../src/tools/builtins.ts";
import { declareTool } from "../../src/tools/declare.ts";
import { composeRequest } from "../../src/wire/compose.ts";
import { rows } from "../support/media-matrix.ts";

const declared = await Promise.all(builtinTools.map(declareTool));

describe("the declarations of the tools", () => {
  it("are these sixteen, by their names", () => {
    expect(
      declared.map(({ name, parameters }) => [
        name,
        Object.keys(parameters?.["properties"] ?? {}),
        parameters?.["required"],
      ]),
    ).toEqual([
      ["list_directory", ["path", "ignore", "file_filtering_options"], ["path"]],
      ["read_file", ["absolute_path", "offset", "limit"], ["absolute_path"]],
      ["search_file_content", ["pattern", "path", "include"], ["pattern"]],
      ["glob", ["pattern", "path", "case_sensitive", "respect_git_ignore"], ["pattern"]],
      [
        "read_many_files",
        ["paths", "include", "exclude", "recursive", "useDefaultExcludes", "file_filtering_options"],
        ["paths"],
      ],
      [
        "replace",
        ["file_path", "old_string", "new_string", "expected_replacements"],
        ["file_path", "old_string", "new_string"],
      ],
      [
        "smart_edit",
        ["file_path", "instruction", "old_string", "new_string"],
        ["file_path", "instruction", "old_string", "new_string"],
      ],
      ["write_file", ["file_path", "content"], ["file_path", "content"]],
      ["web_fetch", ["prompt"], ["prompt"]],
      ["run_shell_command", ["command", "description", "directory", "background"], ["command"]],
      ["save_memory", ["fact"], ["fact"]],
      ["google_web_search", ["query"], ["query"]],
      ["background_tasks", ["action", "id", "wait"], ["action"]],
      ["write_todos", ["todos"], ["todos"]],
      ["ask_user", ["questions"], ["questions"]],
      ["present_plan", ["plan"], ["plan"]],
    ]);
  });

  it("are plain JSON Schema, without noise", () => {
    expect(declared.find(({ name }) => name === "read_file")).toEqual({
      name: "read_file",
      description: expect.stringContaining("Reads a file.") as string,
      parameters: {
        type: "object",
        properties: {
          absolute_path: { type: "string", minLength: 1, description: expect.any(String) as string },
          offset: { type: "integer", description: expect.any(String) as string },
          limit: { type: "integer", minimum: 1, description: expect.any(String) as string },
        },
        required: ["absolute_path"],
      },
    });
  });

  it("describe every parameter, and are short", () => {
    const words = JSON.stringify(declared);
    expect(words.length).toBeLessThan(9000);
    for (const { parameters } of declared)
      for (const schema of Object.values(parameters?.["properties"] ?? {}))
        expect(schema).toMatchObject({ description: expect.stringMatching(/\w{3}.*\.$/) as string });
  });

  it.each(rows)("break no rule of %s, and are sent whole", (row) => {
    const ledger = new Ledger();
    ledger.user([text("Go.")]);
    const destination = destinationOf(row);
    const { body, report } = composeRequest(
      { version: 1, tools: declared, entries: ledger.entries, blobs: {} },
      destination,
    );
    const { provider, model } = destination.target;
    const target = { wire: destination.wire.id, provider, model };
    expect(lint(body, target).filter(({ level }) => level === "error")).toEqual([]);
    for (const { name } of declared) expect(JSON.stringify(body)).toContain(`"${name}"`);
    expect(report.notes).toEqual([]);
  });
});
