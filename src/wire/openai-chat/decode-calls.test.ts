import { describe, expect, it } from "vitest";
import { chunk, doneLine, decodeBody, decodeDeltas, decodeChat } from "./decode.cases.ts";

const openai = "openai-chat/gpt-5.6";

/** The calls in an answer, short: id, tool, arguments. */
const calls = (...pieces: readonly (object | readonly object[])[]): readonly unknown[] =>
  decodeDeltas(openai, ...pieces.map((piece) => ({ tool_calls: Array.isArray(piece) ? piece : [piece] }))).parts.map(
    (part) => (part.type === "call" ? [part.seal?.id, part.tool, ...Object.values(part.input)] : part),
  );

const named = (name: string, args?: unknown) => ({
  function: { name, ...(args !== undefined && { arguments: args }) },
});
const args = (text: string) => ({ function: { arguments: text } });

describe("the pieces of calls", () => {
  it("are announced once the name is complete, and end with the response", () => {
    const frames = [
      { index: 0, id: "a", type: "function", ...named("look", "") },
      { index: 0, ...args('{"n":') },
      { index: 0, ...args("1}") },
      { index: 1, id: "b", ...named("list", "") },
    ].map((call) => chunk({ tool_calls: [call] }));

    expect(decodeChat(openai, ...frames, chunk({}, "tool_calls"), doneLine).slice(1)).toEqual([
      { type: "call-start", index: 0, tool: "look", id: "a" },
      { type: "call-delta", index: 0, text: '{"n":' },
      { type: "call-delta", index: 0, text: "1}" },
      {
        type: "part-end",
        index: 0,
        part: { type: "call", tool: "look", input: { text: '{"n":1}' }, seal: { id: "a" } },
      },
      { type: "call-start", index: 1, tool: "list", id: "b" },
      { type: "part-end", index: 1, part: { type: "call", tool: "list", input: { text: "" }, seal: { id: "b" } } },
      { type: "finish", reason: "calls", raw: "tool_calls" },
    ]);
  });

  it.each<[string, readonly (object | readonly object[])[], readonly unknown[]]>([
    [
      "by index, and in turns",
      [
        { index: 5, id: "a", ...named("f", "{") },
        { index: 2, id: "b", ...named("g", "{") },
        { index: 5, ...args('"x":1}') },
        { index: 2, ...args("}") },
      ],
      [
        ["a", "f", '{"x":1}'],
        ["b", "g", "{}"],
      ],
    ],
    [
      "with blank ids and names after the first",
      [
        { index: 0, id: "a", ...named("f", "") },
        { index: 0, id: "", type: "function", ...named("", "{}") },
      ],
      [["a", "f", "{}"]],
    ],
    [
      "with id and name in each",
      [
        { index: 0, id: "a", ...named("f", '{"x":') },
        { index: 0, id: "a", ...named("f", "{}}") },
      ],
      [["a", "f", '{"x":{}}']],
    ],
    [
      "with another id in each, which only a name makes a call of its own",
      [
        { index: 0, id: "a", ...named("f", "{") },
        { index: 0, id: "b", ...args("}") },
        { index: 0, id: "c", ...named("f", "{}") },
      ],
      [
        ["a", "f", "{}"],
        ["c", "f", "{}"],
      ],
    ],
    [
      "without an index, by id",
      [
        { id: "a", ...named("f", "{") },
        { id: "b", ...named("g", "{") },
        { id: "a", ...args("}") },
        { id: "b", ...args(" }") },
      ],
      [
        ["a", "f", "{}"],
        ["b", "g", "{ }"],
      ],
    ],
    [
      "without index and id, by place in the list",
      [
        [named("f", "{"), named("g", "{")],
        [args("}"), args(" }")],
      ],
      [
        [undefined, "f", "{}"],
        [undefined, "g", "{ }"],
      ],
    ],
    [
      "without index, id and place, by order",
      [{ index: 3, id: "a", ...named("f", "{") }, args("}")],
      [["a", "f", "{}"]],
    ],
    [
      "whole, all numbered 0 in one list",
      [
        [
          { index: 0, id: "", ...named("f", "") },
          { index: 0, id: "", ...named("g", "") },
        ],
      ],
      [
        [undefined, "f", ""],
        [undefined, "g", ""],
      ],
    ],
    [
      "whole, all numbered 0 one after another",
      [
        { index: 0, ...named("f", '{"n":1}') },
        { index: 0, ...named("f", '{"n":2}') },
        { index: 0, ...named("g", "{}") },
      ],
      [
        [undefined, "f", '{"n":1}'],
        [undefined, "f", '{"n":2}'],
        [undefined, "g", "{}"],
      ],
    ],
    [
      "whole, and all with the same id",
      [
        { id: "a", ...named("f", '{"n":1}') },
        { id: "a", ...named("f", '{"n":2}') },
      ],
      [
        ["a", "f", '{"n":1}'],
        ["a", "f", '{"n":2}'],
      ],
    ],
    [
      "whole, sent twice",
      [
        { index: 0, id: "a", ...named("f", "{}") },
        { index: 0, id: "a", ...named("f", "{}") },
      ],
      [["a", "f", "{}"]],
    ],
    [
      "with the name in pieces, or said again",
      [
        { index: 0, id: "a", ...named("get_") },
        { index: 0, ...named("weather", "") },
        { index: 0, ...named("get_weather", "{}") },
      ],
      [["a", "get_weather", "{}"]],
    ],
    [
      "with the name or the id last",
      [
        { index: 0, id: "a", ...args("{}") },
        { index: 0, ...named("f") },
        { index: 1, ...named("g", "{}") },
        { index: 1, id: "b" },
      ],
      [
        ["a", "f", "{}"],
        ["b", "g", "{}"],
      ],
    ],
    ["without a name at all", [{ index: 0, id: "a", ...args("{}") }], [["a", "", "{}"]]],
    ["with numbers for ids", [{ index: 0, id: 7, ...named("f", "{}") }], [["7", "f", "{}"]]],
    [
      "with arguments as an object",
      [
        { index: 0, id: "a", ...named("f", { n: 1 }) },
        { index: 0, ...named("f", { n: 2 }) },
      ],
      [
        ["a", "f", { n: 1 }],
        [undefined, "f", { n: 2 }],
      ],
    ],
    ["with arguments that are null", [{ index: 0, id: "a", ...named("f", null) }], [["a", "f", ""]]],
    [
      "in free text",
      [
        { index: 0, id: "a", type: "custom", custom: { name: "f", input: "x" } },
        { index: 0, custom: { input: "y" } },
      ],
      [["a", "f", { input: "xy" }]],
    ],
    ["flat", [{ index: 0, id: "a", name: "f", arguments: "{}" }], [["a", "f", "{}"]]],
    ["that say nothing", [{}, { index: 0, id: "", ...named("", "") }], []],
  ])("find their call: %s", (_name, pieces, expected) => {
    expect(calls(...pieces)).toEqual(expected);
  });

  it("are read in the field of old as well", () => {
    const call = { type: "call", tool: "look", input: { text: '{"n":1}' } };
    const deltas = [{ name: "look", arguments: "" }, { arguments: '{"n":' }, { arguments: "1}" }];

    expect(decodeDeltas(openai, ...deltas.map((function_call) => ({ function_call }))).parts).toEqual([call]);
    expect(
      decodeBody(openai, { choices: [{ message: { function_call: { name: "look", arguments: '{"n":1}' } } }] }).parts,
    ).toEqual([call]);
  });

  it("begin in order with the words", () => {
    const { parts } = decodeDeltas(
      openai,
      { content: "a", tool_calls: [{ index: 0, id: "x", ...named("f", "{}") }] },
      { content: "b" },
    );

    expect(parts.map((part) => part.type)).toEqual(["text", "call", "text"]);
  });

  it("without end, in number or depth, end the answer", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = { deep };
    const many = Array.from({ length: 1001 }, (_, index) => ({ index, ...named("f", "{}") }));

    expect(decodeChat(openai, chunk({ tool_calls: many })).at(-1)).toEqual({
      type: "malformed",
      what: "The calls have no end.",
    });
    expect(decodeChat(openai, chunk({ tool_calls: [named("f", deep)] })).at(-1)).toEqual({
      type: "malformed",
      what: "The arguments of a call have no end.",
    });
  });
});
