import { describe, expect, it } from "vitest";
import type { SimModelRequest, RequestTurn } from "./types.ts";
import { parseScript, ScriptFormatError } from "./parse-script.ts";
import { selectReply, toModelReply, type Script } from "./script.ts";

const user = (text: string): RequestTurn => ({ by: "user", text, files: [] });
const model = (text: string, ...tools: readonly string[]): RequestTurn => ({
  by: "model",
  text,
  calls: tools.map((tool) => ({ id: tool, tool, input: {} })),
});
const results = (...tools: readonly string[]): RequestTurn => ({
  by: "tools",
  results: tools.map((tool) => ({ id: tool, tool, text: "", isError: false, files: [] })),
});
const modelRequest = (...turns: readonly RequestTurn[]): SimModelRequest => ({
  model: "claude-opus-5-5",
  system: "You are terse.",
  tools: [{ name: "ls", description: "", parameters: {} }],
  serverTools: [],
  turns,
});

const listing: Script = {
  rules: [
    { prompt: "stop", replies: [{ say: "Stopped." }] },
    { prompt: "list", replies: [{ call: { tool: "ls", input: {} } }, { say: "Two files." }] },
  ],
  otherwise: { say: "What?" },
};

describe("a script", () => {
  it("uses its replies in order during a tool loop", () => {
    expect(selectReply(listing, modelRequest(user("list it")))).toEqual({ call: { tool: "ls", input: {} } });
    expect(selectReply(listing, modelRequest(user("list it"), model("", "ls"), results("ls")))).toEqual({
      say: "Two files.",
    });
  });

  it("starts again with every prompt, even the same one", () => {
    const history = [user("list it"), model("", "ls"), results("ls"), model("Two files.")];
    expect(selectReply(listing, modelRequest(...history, user("list it")))).toEqual({
      call: { tool: "ls", input: {} },
    });
    expect(selectReply(listing, modelRequest(...history, user("thanks")))).toEqual({ say: "What?" });
  });

  it("keeps its position when files or messages follow the results", () => {
    const loop = [user("list it"), model("", "ls"), results("ls")];
    expect(selectReply(listing, modelRequest(...loop, user("This is file f:")))).toEqual({ say: "Two files." });
    expect(selectReply(listing, modelRequest(...loop, model("."), user("This is file f:")))).toEqual({
      say: "Two files.",
    });
    expect(selectReply(listing, modelRequest(...loop, user("stop")))).toEqual({ say: "Stopped." });
  });

  it("has no reply after its last one", () => {
    const over = modelRequest(user("list it"), model("", "ls"), results("ls"), model("Two files."), results("ls"));
    expect(selectReply(listing, over)).toEqual({ say: "What?" });
    expect(selectReply({ rules: listing.rules }, over)).toBeUndefined();
  });

  it("continues after a paused response", () => {
    const script: Script = { rules: [{ replies: [{ say: "One,", finish: "paused" }, { say: " two." }] }] };
    expect(selectReply(script, modelRequest(user("count"), model("One,")))).toEqual({ say: " two." });
  });

  it("matches the system prompt, the tools and the model", () => {
    const picks = (rule: object): boolean =>
      selectReply({ rules: [{ ...rule, replies: [{ say: "yes" }] }] }, modelRequest(user("list"))) !== undefined;
    expect(
      [
        { system: "terse" },
        { tool: "ls" },
        { model: "/opus-[5-9]/" },
        { prompt: "/^LIST$/i", tool: "ls" },
        { system: "verbose" },
        { tool: "rm" },
        { model: "gpt" },
        { prompt: "/^LIST$/" },
        { prompt: "list", tool: "rm" },
      ].map(picks),
    ).toEqual([true, true, true, true, false, false, false, false, false]);
  });

  it("returns thinking, text and calls in this order, or any parts as given", () => {
    const call = { tool: "ls", input: { path: "/" } };
    expect(toModelReply({ call, say: "Look.", think: "Hm.", finish: "length" })).toEqual({
      parts: [
        { type: "think", text: "Hm." },
        { type: "say", text: "Look." },
        { type: "call", ...call },
      ],
      finish: "length",
    });
    expect(
      toModelReply({
        parts: [
          { type: "call", ...call },
          { type: "say", text: "Look." },
        ],
      }),
    ).toEqual({
      parts: [
        { type: "call", ...call },
        { type: "say", text: "Look." },
      ],
    });
  });
});

describe("a script as JSON", () => {
  it("is parsed as it is; a single call needs no brackets", () => {
    const value = {
      rules: [
        {
          prompt: "/x/i",
          replies: [{ call: { tool: "ls", input: { a: null } } }, { error: { status: 529, message: "no" } }],
        },
      ],
      otherwise: { parts: [{ type: "cite", text: "t", sources: [{ title: "T", uri: "https://example.com" }] }] },
    };
    const [rule] = value.rules;
    expect(parseScript(value)).toEqual({
      ...value,
      rules: [{ ...rule, replies: [{ call: [{ tool: "ls", input: { a: null } }] }, rule?.replies[1]] }],
    });
  });

  it("is refused with every invalid path and what is expected there", () => {
    const wrong = {
      rules: [{ prompt: "/(/", replies: [{ say: 1, sya: "x", call: { tol: "ls", input: {} } }] }, { replies: [] }],
      otherwise: { finish: "done", parts: [{ type: "shout" }], error: { status: 200, message: "" } },
    };
    expect(() => parseScript(wrong)).toThrow(ScriptFormatError);
    const lines = messageOf(() => parseScript(wrong)).split("\n");
    expect(lines.map((line) => line.split(":")[0])).toEqual([
      "rules[0].prompt",
      "rules[0].replies[0].say",
      "rules[0].replies[0].call[0].tool",
      "rules[0].replies[0].call[0]",
      "rules[0].replies[0]",
      "rules[1].replies",
      "otherwise.parts[0].type",
      "otherwise.finish",
      "otherwise.error.status",
    ]);
    expect(lines[0]).toBe("rules[0].prompt: expected text to find, or a valid /pattern/flags");
    expect(lines[1]).toBe("rules[0].replies[0].say: Invalid input: expected string, received number");
    expect(messageOf(() => parseScript([]))).toBe("the script: Invalid input: expected object, received array");
  });
});

const messageOf = (work: () => unknown): string => {
  try {
    work();
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
};
