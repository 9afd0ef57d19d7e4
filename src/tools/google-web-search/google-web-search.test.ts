import { describe, expect, it } from "vitest";
import type { SideQueryModel, Capabilities, GroundedAnswer } from "../capabilities.ts";
import { addCitations } from "./citations.ts";
import { googleWebSearch } from "./google-web-search.ts";
import { normalizeResult } from "../result/normalize.ts";
import { ToolFailure, type ToolResult } from "../tool.ts";

const sources = [
  { title: "One", uri: "https://one.test/" },
  { title: "Two", uri: "https://two.test/" },
  { title: "Three", uri: "https://three.test/" },
];
const list = "\n\nSources:\n[1] One (https://one.test/)\n[2] Two (https://two.test/)\n[3] Three (https://three.test/)";

describe("citations", () => {
  it.each<[string, string, GroundedAnswer["supports"], string]>([
    ["stand after what they support", "Ice is cold.", [{ end: 12, sources: [0] }], "Ice is cold.[1]"],
    ["stand within the text", "Ice is cold. Fire is hot.", [{ end: 12, sources: [1] }], "Ice is cold.[2] Fire is hot."],
    ["are counted in bytes", "Größe: 5 €. Ende", [{ end: 15, sources: [0] }], "Größe: 5 €.[1] Ende"],
    ["are counted in bytes beyond the first plane", "👩‍💻 codes. Then", [{ end: 18, sources: [0] }], "👩‍💻 codes.[1] Then"],
    [
      "come in order, however they are given",
      "a b c",
      [
        { end: 5, sources: [2] },
        { end: 1, sources: [0] },
      ],
      "a[1] b c[3]",
    ],
    [
      "of one place stand together, each once",
      "ab",
      [
        { end: 2, sources: [1, 0] },
        { end: 2, sources: [1, 2] },
      ],
      "ab[1][2][3]",
    ],
    [
      "of overlapping parts keep their own places",
      "abcd",
      [
        { end: 3, sources: [0] },
        { end: 4, sources: [0, 1] },
      ],
      "abc[1]d[1][2]",
    ],
    ["do not cut a letter in two", "€!", [{ end: 1, sources: [0] }], "€[1]!"],
    ["past the end stand at the end", "ab", [{ end: 99, sources: [0] }], "ab[1]"],
    [
      "of unlisted sources are left out",
      "ab",
      [
        { end: 1, sources: [7, -1, 1.5] },
        { end: Number.NaN, sources: [0] },
      ],
      "ab",
    ],
    ["of the beginning are left out", "ab", [{ end: 0, sources: [0] }], "ab"],
  ])("%s", (_, text, supports, expected) => {
    expect(addCitations({ text, sources, supports })).toBe(expected + list);
  });

  it("without sources do not change the text", () => {
    expect(addCitations({ text: "ab", sources: [], supports: [{ end: 1, sources: [0] }] })).toBe("ab");
  });

  it("name a source that has no title, on one line", () => {
    const found = {
      text: "ab",
      supports: [],
      sources: [
        { title: " ", uri: "https://x.test/" },
        { title: "a\n[9] b", uri: "u" },
      ],
    };
    expect(addCitations(found)).toBe("ab\n\nSources:\n[1] Untitled (https://x.test/)\n[2] a [9] b (u)");
  });
});

describe("google_web_search", () => {
  const run = async (
    query: string,
    google: SideQueryModel["google"] | undefined,
    signal = new AbortController().signal,
  ): Promise<ToolResult> => {
    const model = google === undefined ? undefined : { ask: () => Promise.reject(new Error("not asked")), google };
    const capabilities = { model, signal, files: { keep: () => Promise.resolve("/kept") } } as unknown as Capabilities;
    return normalizeResult(await googleWebSearch.run({ query } as never, capabilities));
  };
  const answer: GroundedAnswer = {
    text: "Snow is white.",
    sources: sources.slice(0, 1),
    supports: [{ end: 14, sources: [0] }],
    failed: [],
  };

  it("returns the answer with its sources", async () => {
    const asked: unknown[] = [];
    const result = await run("snow", (...question) => {
      asked.push(question.slice(0, 2));
      return Promise.resolve(answer);
    });
    expect({ asked, result }).toEqual({
      asked: [["snow", "search"]],
      result: {
        content: [
          {
            type: "text",
            text: 'Web search results for "snow":\n\nSnow is white.[1]\n\nSources:\n[1] One (https://one.test/)',
          },
        ],
        display: { type: "text", text: 'Search results for "snow" returned.' },
      },
    });
  });

  it("says that nothing was found", async () => {
    expect(await run("snow", () => Promise.resolve({ ...answer, text: " \n" }))).toEqual({
      content: [{ type: "text", text: 'No search results or information found for query: "snow"' }],
      display: { type: "text", text: "No information found." },
    });
  });

  it("stores a long answer in a file and says where", async () => {
    const { content } = await run("snow", () => Promise.resolve({ ...answer, text: "x".repeat(200_000) }));
    expect(content).toHaveLength(1);
    expect(content[0]).toMatchObject({ text: expect.stringContaining("/kept") as string });
  });

  it("names what is needed where there are no Google credentials", async () => {
    for (const google of [undefined, async () => undefined])
      await expect(run("snow", google)).rejects.toMatchObject({
        type: "web_search_failed",
        message: expect.stringContaining("Set GEMINI_API_KEY") as string,
      });
  });

  it("fails with the reason of the failed search", async () => {
    await expect(run("snow", () => Promise.reject(new Error("quota is used up")))).rejects.toEqual(
      new ToolFailure("web_search_failed", 'Error during web search for query "snow": quota is used up'),
    );
  });

  it("is cancelled, not failed, when aborted", async () => {
    const stop = new AbortController();
    const searching = run("snow", () => Promise.reject(new Error("aborted")), stop.signal);
    stop.abort(new Error("enough"));
    await expect(searching).rejects.toEqual(new Error("enough"));
  });

  it.each([{}, { query: "" }, { query: "  " }, { query: 7 }])("refuses %j", async (args) => {
    expect((await googleWebSearch.input.safeParseAsync(args)).success).toBe(false);
  });
});
