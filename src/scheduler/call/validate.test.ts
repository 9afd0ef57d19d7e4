import { describe, expect, it } from "vitest";
import { z } from "zod";
import { parseCallInput } from "../../conversation/call-input.ts";
import type { Call } from "../../conversation/parts.ts";
import { defineTool, ToolFailure, type AnyTool } from "../../tools/tool.ts";
import { createRegistry } from "../registry.ts";
import { validateCall } from "./validate.ts";

const tool = (name: string, input: z.ZodType, more: object = {}): AnyTool =>
  defineTool({
    name,
    description: "",
    access: "read",
    input,
    touches: () => ({}),
    title: () => `Runs\u001b[2J ${name}`,
    run: () => Promise.reject(new Error("never")),
    ...more,
  }) as AnyTool;

const tools = createRegistry([
  tool(
    "read_file",
    z.object({ absolute_path: z.string(), offset: z.int().min(0).optional(), limit: z.int().optional() }),
    { aliases: { absolute_path: ["file_path", "path"] } },
  ),
  tool(
    "list",
    z.strictObject({
      paths: z.array(z.string()),
      options: z.object({ depth: z.number() }).optional(),
      kind: z.enum(["files", "folders"]).optional(),
      either: z.union([z.string(), z.number()]).optional(),
    }),
  ),
  tool("lines", z.object({ offset: z.number() }), {
    normalizeInput: ({ start, ...rest }: { start?: number }) => (start === undefined ? rest : { offset: start - 1 }),
  }),
  tool("nothing", z.object({})),
]);

const call = (name: string, text: string): Call => ({
  type: "call",
  id: "hist_tool_1",
  tool: name,
  input: parseCallInput({ text }),
});
const inputOf = async (name: string, value: object): Promise<unknown> =>
  (await validateCall(call(name, JSON.stringify(value)), tools)).input;
const failureOf = async (name: string, text: string): Promise<readonly unknown[]> => {
  const failure: unknown = await validateCall(call(name, text), tools).catch((error: unknown) => error);
  return failure instanceof ToolFailure ? [failure.type, failure.message] : [failure];
};

describe("arguments", () => {
  it("are parsed by the tool's schema, with a sanitized title", async () => {
    const valid = await validateCall(call("read_file", '{"absolute_path": "a", "extra": 1}'), tools);
    expect([valid.input, valid.title, valid.server]).toEqual([{ absolute_path: "a" }, "Runs␛[2J read_file", undefined]);
  });

  it("may use an alias some models know", async () => {
    expect(await inputOf("read_file", { file_path: "a" })).toEqual({ absolute_path: "a" });
    expect(await inputOf("read_file", { path: "a", offset: 1 })).toEqual({ absolute_path: "a", offset: 1 });
    expect(await inputOf("read_file", { path: "a", absolute_path: "b" })).toEqual({ absolute_path: "b" });
  });

  it("may have another shape the tool normalizes", async () => {
    expect(await inputOf("lines", { start: 5 })).toEqual({ offset: 4 });
  });

  const mismatches: readonly (readonly [value: string, ...lines: readonly string[]])[] = [
    ["{}", "- absolute_path: expected string, got nothing"],
    ['{"absolute_path": 5}', "- absolute_path: expected string, got the number 5"],
    ['{"absolute_path": null}', "- absolute_path: expected string, got null"],
    ['{"absolute_path": ["a", "b"]}', "- absolute_path: expected string, got a list of 2"],
    ['{"absolute_path": {}}', "- absolute_path: expected string, got an object"],
    [
      '{"absolute_path": "a", "offset": -1, "limit": "ten"}',
      "- offset: expected number to be >=0, got the number -1",
      '- limit: expected number, got the string "ten"',
    ],
  ];
  it.each(mismatches)("%s do not fit, and the message says why", async (value, ...lines) => {
    expect(await failureOf("read_file", value)).toEqual([
      "invalid_tool_params",
      [
        "The arguments of read_file do not fit:",
        ...lines,
        "read_file takes: absolute_path (string, required), offset (integer), limit (integer).",
      ].join("\n"),
    ]);
  });

  it("are checked at any depth", async () => {
    const [, message] = await failureOf(
      "list",
      '{"paths": ["a", 5], "options": {"depth": "x"}, "kind": "all", "either": {}, "extra": 1}',
    );
    expect(message).toBe(
      [
        "The arguments of list do not fit:",
        "- paths[1]: expected string, got the number 5",
        '- options.depth: expected number, got the string "x"',
        '- kind: expected one of "files"|"folders", got the string "all"',
        "- either: expected string or number, got an object",
        "- arguments: unknown parameter extra",
        'list takes: paths (list of string, required), options (object), kind ("files" or "folders"), either (string or number).',
      ].join("\n"),
    );
  });

  it("that are not an object are quoted", async () => {
    expect(await failureOf("nothing", '{"half": ')).toEqual([
      "invalid_tool_params",
      'The arguments of nothing are not a JSON object: {"half": \nnothing takes no parameters.',
    ]);
  });

  it.each(['{"__proto__": {"absolute_path": "a"}}', '{"constructor": 1}'])(
    "cannot reach a prototype: %s",
    async (text) => {
      const [type, message] = await failureOf("read_file", text);
      expect([type, message]).toEqual([
        "invalid_tool_params",
        expect.stringContaining("- absolute_path: expected string, got nothing"),
      ]);
    },
  );
});

describe("an unknown tool", () => {
  it.each([
    ["reed_file", 'There is no tool "reed_file". Did you mean read_file?'],
    ["ReadFile", 'There is no tool "ReadFile". Did you mean read_file?'],
    ["lists", 'There is no tool "lists". Did you mean list or lines?'],
    ["", 'There is no tool "". There are read_file, list, lines, nothing.'],
    ["frobnicate", 'There is no tool "frobnicate". There are read_file, list, lines, nothing.'],
    ["__proto__", 'There is no tool "__proto__". There are read_file, list, lines, nothing.'],
    ["x".repeat(300), `There is no tool "${"x".repeat(200)}...". There are read_file, list, lines, nothing.`],
  ])("%s is reported with the nearest names", async (name, message) => {
    expect(await failureOf(name, "{}")).toEqual(["tool_not_registered", message]);
  });
});
