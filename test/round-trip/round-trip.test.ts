import { describe, expect, it } from "vitest";
import { convertRequest } from "../../src/providers/request.ts";
import { bodyWith, families, type Family } from "./fields.ts";
import { lostInSilence } from "./leaves.ts";
import { fc, runsPerTier } from "../support/fast-check.ts";

const stub = { policy: { unsupportedMedia: "stub" } } as const;

/** Where bodies of each family also go: to a model that knows few of their fields. */
const elsewhere = ["anthropic/claude-sonnet-5", "openai-chat/gpt-4o", "openai/gpt-5.2", "google/gemini-3-pro-preview"];

describe.each(families.map((family) => ({ name: family.name, family })))("a body of $name", ({ family }) => {
  it.each(Object.keys(family.fields))("keeps or notes %s for its own model", (path) => {
    const body = bodyWith(family, [path]);
    expect(lostInSilence(body, convertRequest(body, family.model, family.model, stub))).toEqual([]);
  });

  it("loses no value without a note, whichever fields come together", () => {
    fc.assert(
      fc.property(fieldsOf(family), (paths) => {
        const body = bodyWith(family, paths);
        expect(lostInSilence(body, convertRequest(body, family.model, family.model, stub))).toEqual([]);
      }),
      { numRuns: runsPerTier(200) },
    );
  });

  it("changes nothing the second time", () => {
    fc.assert(
      fc.property(fieldsOf(family), (paths) => {
        const once = convertRequest(bodyWith(family, paths), family.model, family.model, stub).body;
        expect(convertRequest(once, family.model, family.model, stub).body).toEqual(once);
      }),
      { numRuns: runsPerTier(100) },
    );
  });

  it.each(elsewhere)("notes for %s what only its own API takes", (to) => {
    const settings = Object.keys(family.fields).filter((path) => !isHint(path) && !inMessages.test(path));
    for (const path of settings) {
      const body = bodyWith(family, [path]);
      const plain = convertRequest(bodyWith(family, []), family.model, to, stub);
      const made = convertRequest(body, family.model, to, stub);
      const isSame = JSON.stringify(made.body) === JSON.stringify(plain.body);
      if (isSame) expect([path, made.report.notes.length > plain.report.notes.length]).toEqual([path, true]);
    }
  });
});

describe("a carried field that its API would refuse in the new request", () => {
  const own = (body: object, model: string) => convertRequest(body, model, model, stub).body;

  it("is left out: json_object without the word in the input, strict on an open schema", () => {
    const parameters = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
    const made = own(
      {
        model: "gpt-4.1",
        input: [
          { role: "system", content: "Answer in JSON." },
          { role: "user", content: "hi" },
        ],
        text: { format: { type: "json_object" } },
        tools: [{ type: "function", name: "look", strict: true, parameters }],
      },
      "openai/gpt-4.1",
    );
    expect(made["text"]).toBeUndefined();
    expect(made["tools"]).toMatchObject([{ name: "look", strict: false }]);
  });

  it("is left out: a server tool beside functions, where the Gemini API requires a switch that is not set", () => {
    const tools = [{ functionDeclarations: [{ name: "look", description: "Looks." }] }, { googleSearch: {} }];
    const body = { contents: [{ role: "user", parts: [{ text: "hi" }] }], tools };
    const switched = { ...body, toolConfig: { includeServerSideToolInvocations: true } };
    const convert = (from: object, model: string) => convertRequest(from, model, model, stub);
    const made = convert(body, "google/gemini-3.8-flash");
    expect(made.body["tools"]).toMatchObject([{ functionDeclarations: [{ name: "look" }] }]);
    expect(made.report.notes.map(({ message }) => message)).toEqual([
      'A tool of the kind "googleSearch" at /tools/1 has no counterpart elsewhere and is left out.',
    ]);
    expect(convert(switched, "google/gemini-3.8-flash").body).toMatchObject({ tools: [{}, { googleSearch: {} }] });
    expect(convert(body, "vertex/gemini-3.8-flash").body).toMatchObject({ tools: [{}, { googleSearch: {} }] });
    expect(convert({ ...body, tools: [tools[1]] }, "google/gemini-3.8-flash").body).toMatchObject({
      tools: [{ googleSearch: {} }],
    });
  });

  it("stands for the tool the history used: it is declared once", () => {
    const computer = { type: "computer_20250124", name: "computer", display_width_px: 800, display_height_px: 600 };
    const used = { type: "tool_use", id: "toolu_1", name: "computer", input: {} };
    const messages = [
      { role: "user", content: "hi" },
      { role: "assistant", content: [used] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "ok" }] },
    ];
    const made = own(
      { model: "claude-opus-4-6", max_tokens: 9, messages, tools: [computer] },
      "anthropic/claude-opus-4-6",
    );
    expect(made["tools"]).toEqual([computer]);
  });
});

describe("a model whose accepted media is unknown", () => {
  const picture = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
  const body = {
    model: "some-model",
    messages: [{ role: "user", content: [{ type: "text", text: "look" }, picture] }],
  };

  it.each(["local/some-model", "openai-chat"])("is sent the pictures a body for it has, read from %s", (from) => {
    expect(convertRequest(body, from, "local/some-model").body["messages"]).toEqual(body.messages);
  });

  it("is sent no pictures of a body for another model", () => {
    expect(() => convertRequest(body, "local/other", "local/another")).toThrow(/cannot take image/);
  });
});

const inMessages = /^(messages|input|contents)\//;

/** Fields that change no response: Gemini streams by its URL, and caches without a key. */
const isHint = (path: string): boolean => path === "stream" || path === "prompt_cache_key";

const fieldsOf = (family: Family): fc.Arbitrary<string[]> => fc.subarray(Object.keys(family.fields), { minLength: 1 });
