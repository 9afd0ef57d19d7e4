import { describe, expect, it } from "vitest";
import {
  convertToFunctionResponse,
  supportsMultimodalFunctionResponse,
  toolResultToParts,
  type GeminiPart,
  type GeminiPartList,
  type ToolOutputSettings,
} from "./function-response.ts";

const older = "gemini-2.5-pro";
const newer = "gemini-3-pro";

const png: GeminiPart = { inlineData: { mimeType: "image/png", data: "cG5n" } };
const jpeg: GeminiPart = { inlineData: { mimeType: "image/jpeg", data: "anBlZw==" } };
const pdf: GeminiPart = { fileData: { mimeType: "application/pdf", fileUri: "gs://bucket/report.pdf" } };

const convert = (content: GeminiPartList, model = older, settings?: ToolOutputSettings): GeminiPart[] =>
  convertToFunctionResponse("snap", "call-1", content, model, settings);

const answer = (response: Record<string, unknown>, parts?: GeminiPart[]): GeminiPart => ({
  functionResponse:
    parts === undefined ? { id: "call-1", name: "snap", response } : { id: "call-1", name: "snap", response, parts },
});

const binary = (items: number): Record<string, unknown> => ({
  output: `Binary content provided (${items} item(s)).`,
});

describe("convertToFunctionResponse", () => {
  it("answers with a string as it is", () => {
    expect(convert("Two files.")).toEqual([answer({ output: "Two files." })]);
    expect(convert("Two files.", newer)).toEqual([answer({ output: "Two files." })]);
  });

  it("reads a single text part as its text", () => {
    expect(convert({ text: "Two files." })).toEqual([answer({ output: "Two files." })]);
  });

  it("reads a list of one text part as its text", () => {
    expect(convert([{ text: "Two files." }])).toEqual([answer({ output: "Two files." })]);
  });

  it("joins several texts with line breaks, strings and parts alike", () => {
    expect(convert(["one", { text: "two" }, { text: "" }, "three"])).toEqual([answer({ output: "one\ntwo\n\nthree" })]);
  });

  it("puts bytes beside the response for Gemini 2", () => {
    expect(convert(png)).toEqual([answer(binary(1)), png]);
  });

  it("puts an addressed file beside the response", () => {
    expect(convert(pdf)).toEqual([answer(binary(1)), pdf]);
  });

  it("puts text in the response and bytes beside it", () => {
    expect(convert([{ text: "A cat." }, png])).toEqual([answer({ output: "A cat." }), png]);
  });

  it("reads a list of one inline part as that part", () => {
    expect(convert([png])).toEqual([answer(binary(1)), png]);
  });

  it("answers a part of another kind with an empty response", () => {
    expect(convert({ functionCall: { name: "other", args: {} } })).toEqual([answer({})]);
  });

  it("answers an empty string with an empty output", () => {
    expect(convert("")).toEqual([answer({ output: "" })]);
    expect(convert("", newer)).toEqual([answer({ output: "" })]);
  });

  it("answers an empty list with an empty response", () => {
    expect(convert([])).toEqual([answer({})]);
    expect(convert([], newer)).toEqual([answer({})]);
  });

  it("answers a part whose fields are all undefined with an empty response", () => {
    expect(convert({ text: undefined, inlineData: undefined, fileData: undefined })).toEqual([answer({})]);
  });

  it("gives a functionResponse without an id the id of the call", () => {
    const given: GeminiPart = { functionResponse: { name: "snap", response: { output: "done" } } };
    expect(convert(given)).toEqual([answer({ output: "done" })]);
  });

  it("replaces another id and name of a functionResponse and keeps its response", () => {
    const response = { flags: ["a"], isError: false, custom: { key: "value" } };
    const given: GeminiPart = { functionResponse: { id: "inner", name: "inner_tool", response } };
    expect(convert(given, newer)).toEqual([answer(response)]);
  });

  it("uses nothing but the functionResponse of a list that has one, and warns of the rest", () => {
    const given: GeminiPart = { functionResponse: { response: { output: "done" } } };
    const warnings: string[] = [];
    const config = { warn: (message: string) => void warnings.push(message) };
    for (const parts of [
      [{ text: "ignored" }, given, png],
      [given, png],
    ])
      expect(convert(parts, older, config)).toEqual([answer({ output: "done" })]);
    const warning =
      "convertToFunctionResponse received multiple parts with a functionResponse. " +
      "Only the functionResponse will be used, other parts will be ignored";
    expect(warnings).toEqual([warning, warning]);
    expect(convert([given], older, config)).toHaveLength(1);
    expect(warnings).toHaveLength(2);
  });

  it("keeps the files of a functionResponse where the model can see them", () => {
    const given: GeminiPart = { functionResponse: { response: { output: "done" }, parts: [png] } };
    expect(convert(given, newer)).toEqual([answer({ output: "done" }, [png])]);
    expect(convert(given, older)).toEqual([answer({ output: "done" }), png]);
  });

  it("leaves what it is given as it was", () => {
    const content = Object.freeze([Object.freeze({ text: "a" }), Object.freeze(png)]);
    expect(convert(content, newer)).toEqual([answer({ output: "a" }, [png])]);
  });
});

describe("convertToFunctionResponse, by model", () => {
  it("puts bytes inside the response from Gemini 3 on", () => {
    expect(convert(png, newer)).toEqual([answer(binary(1), [png])]);
  });

  it("puts bytes inside whatever their type", () => {
    const gif: GeminiPart = { inlineData: { mimeType: "image/gif", data: "Z2lm" } };
    expect(convert(gif, newer)).toEqual([answer(binary(1), [gif])]);
  });

  it.each(["claude-3-5-sonnet", "gpt-4o", "some-other-model", ""])("puts bytes beside the response for %j", (model) => {
    expect(convert(png, model)).toEqual([answer(binary(1)), png]);
  });

  it("puts an addressed file beside the response for Gemini 3 too", () => {
    expect(convert(pdf, newer)).toEqual([answer(binary(1)), pdf]);
  });

  it("sorts text, bytes and an addressed file for Gemini 3", () => {
    expect(convert([{ text: "one" }, jpeg, { text: "two" }, pdf], newer)).toEqual([
      answer({ output: "one\ntwo" }, [jpeg]),
      pdf,
    ]);
  });

  it("keeps the order of the files beside the response for Gemini 2", () => {
    expect(convert([{ text: "one" }, jpeg, { text: "two" }, pdf])).toEqual([answer({ output: "one\ntwo" }), jpeg, pdf]);
    expect(convert([pdf, jpeg])).toEqual([answer(binary(2)), pdf, jpeg]);
  });

  it("puts several pictures inside for Gemini 3 and beside for Gemini 2", () => {
    expect(convert([png, jpeg], newer)).toEqual([answer(binary(2), [png, jpeg])]);
    expect(convert([png, jpeg], older)).toEqual([answer(binary(2)), png, jpeg]);
  });
});

describe("convertToFunctionResponse, with a limit", () => {
  it("keeps both ends of a long string and says how much is missing", () => {
    expect(convert(`${"a".repeat(50)}${"b".repeat(50)}`, older, { maxCharacters: 7 })).toEqual([
      answer({ output: "aaaa\n[93 of 100 characters of the output of snap are left out here.]\nbbb" }),
    ]);
  });

  it("limits joined texts and leaves the files alone", () => {
    expect(convert([{ text: "a".repeat(10) }, png, { text: "b".repeat(10) }], newer, { maxCharacters: 4 })).toEqual([
      answer({ output: "aa\n[17 of 21 characters of the output of snap are left out here.]\nbb" }, [png]),
    ]);
  });

  it("leaves an output alone that fits", () => {
    expect(convert("1234", older, { maxCharacters: 4 })).toEqual([answer({ output: "1234" })]);
    expect(convert("1234", older, {})).toEqual([answer({ output: "1234" })]);
  });

  it("never keeps half a character", () => {
    const [{ functionResponse } = {}] = convert("😀".repeat(10), older, { maxCharacters: 6 });
    expect(functionResponse?.response).toEqual({
      output: "😀\n[16 of 20 characters of the output of snap are left out here.]\n😀",
    });
  });

  it("says how much there was even when nothing is kept", () => {
    expect(convert("1234", older, { maxCharacters: 0 })).toEqual([
      answer({ output: "\n[4 of 4 characters of the output of snap are left out here.]\n" }),
    ]);
  });
});

describe("supportsMultimodalFunctionResponse", () => {
  it.each([
    "gemini-3-pro",
    "gemini-3-flash",
    "gemini-3.1-pro-preview",
    "gemini-3.8-flash",
    "gemini-3",
    "gemini-4-argon",
    "gemini-12-pro",
    "models/gemini-3-pro",
    "projects/p/locations/l/publishers/google/models/gemini-3-pro",
  ])("holds for %s", (model) => {
    expect(supportsMultimodalFunctionResponse(model)).toBe(true);
  });

  it.each([
    "gemini-2.5-pro",
    "gemini-2.5-flash",
    "gemini-2.0-flash",
    "models/gemini-2.5-pro",
    "gemini-1.5-pro",
    "claude-3-opus",
    "claude-3-5-sonnet",
    "gpt-4o",
    "gpt-4-turbo",
    "gemma-4-27b",
    "my-gemini-3-pro",
    "gemini-3-pro/variant",
    "gemini-pro-latest",
    "some-other-model",
    "gemini",
    "gemini-",
    "",
  ])("does not hold for %j", (model) => {
    expect(supportsMultimodalFunctionResponse(model)).toBe(false);
  });
});

describe("toolResultToParts", () => {
  const as = { name: "snap", id: "call-1" };

  it("reports success when no status is given", () => {
    expect(toolResultToParts({ details: [] }, as)).toEqual([answer({ status: "success" })]);
  });

  it("joins the words and merges the objects", () => {
    expect(toolResultToParts({ details: ["one", { a: 1, b: 1 }, "two", { b: 2 }] }, as)).toEqual([
      answer({ status: "success", text_result: "one\ntwo", structured_result: { a: 1, b: 2 } }),
    ]);
  });

  it("passes the status on", () => {
    expect(toolResultToParts({ status: "error", details: ["No such file."] }, as)).toEqual([
      answer({ status: "error", text_result: "No such file." }),
    ]);
  });

  it("puts bytes and then addressed files in parts of their own, without display names", () => {
    const details = [
      { mimeType: "application/pdf", fileUri: "gs://bucket/report.pdf", displayName: "report.pdf" },
      "Drawn.",
      { mimeType: "image/png", data: "cG5n", displayName: "a.png" },
    ];
    expect(toolResultToParts({ details }, as)).toEqual([
      answer({ status: "success", text_result: "Drawn." }),
      { inlineData: { mimeType: "image/png", data: "cG5n" } },
      { fileData: { mimeType: "application/pdf", fileUri: "gs://bucket/report.pdf" } },
    ]);
  });

  it("tells an object with a media type from a file", () => {
    const row = { mimeType: "image/png", data: "cG5n", caption: "A cat" };
    expect(toolResultToParts({ details: [row, { mimeType: "image/png" }] }, as)).toEqual([
      answer({ status: "success", structured_result: row }),
    ]);
  });
});
