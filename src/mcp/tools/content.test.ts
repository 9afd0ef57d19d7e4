import { describe, expect, it } from "vitest";
import type { ToolContent } from "../../tools/tool.ts";
import { toToolResult } from "./content.ts";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAFElEQVR4nGNgYGD4z4AGGNEFsCsCAB6fAgEBvQwWAAAAAElFTkSuQmCC";

const read = async (
  answer: unknown,
): Promise<{ readonly content: readonly ToolContent[]; readonly error: unknown; readonly kept: readonly string[] }> => {
  const kept: string[] = [];
  const files = { keep: async (text: string) => `/kept/${kept.push(text)}` };
  const { content, error } = await toToolResult(answer, { tool: "t", files });
  return { content, error, kept };
};

const contentOf = async (...blocks: readonly unknown[]): Promise<readonly ToolContent[]> =>
  (await read({ content: blocks })).content;

const image = (more: object): ToolContent => ({
  type: "file",
  mimeType: "image/png",
  bytes: Buffer.from(png, "base64"),
  width: 2,
  height: 3,
  ...more,
});
const claimedType = (text: string): ToolContent => ({ type: "text", text });

describe("a server's response", () => {
  it.each([
    ["a text", Buffer.from("<html>no picture</html>").toString("base64"), "image/png"],
    ["a PDF", Buffer.from("%PDF-1.7\n\u0000").toString("base64"), "image/jpeg"],
    ["noise", Buffer.from([1, 0, 2, 255, 9, 8, 7]).toString("base64"), "image/webp"],
    ["a signature and nothing behind it", Buffer.from("\x89PNG\r\n\x1a\n", "latin1").toString("base64"), "image/png"],
  ])("omits an invalid image: %s", async (_, data, mimeType) => {
    expect(await contentOf({ type: "image", data, mimeType })).toEqual([
      claimedType(`[Tool 't' provided image data whose bytes are not ${mimeType}. It was left out.]`),
    ]);
    expect(await contentOf({ type: "resource", resource: { uri: "a://b", blob: data, mimeType } })).toEqual([
      claimedType(`[Tool 't' provided embedded resource whose bytes are not ${mimeType}. It was left out.]`),
    ]);
  });

  it("keeps its order, with each file in its place", async () => {
    expect(
      await contentOf(
        { type: "text", text: "before" },
        { type: "image", data: png, mimeType: "image/png" },
        { type: "resource", resource: { uri: "note://a", text: "a note" } },
        { type: "resource", resource: { uri: "file:///x/pic.png?v=1", blob: png, mimeType: "image/png" } },
        { type: "resource_link", uri: "https://a.test/", name: "n", title: "A title" },
        { type: "text", text: "after" },
      ),
    ).toEqual([
      claimedType("before"),
      claimedType("[Tool 't' provided the following image data with mime-type: image/png]"),
      image({}),
      claimedType("a note"),
      claimedType("[Tool 't' provided the following embedded resource with mime-type: image/png]"),
      image({ name: "pic.png" }),
      claimedType("Resource Link: A title at https://a.test/"),
      claimedType("after"),
    ]);
  });

  it.each<[string, object, string]>([
    ["a picture under a wrong name", { type: "image", data: png, mimeType: "image/jpeg" }, "image/png"],
    ["one under no name", { type: "image", data: png }, "image/png"],
    [
      "one with line breaks in it",
      { type: "image", data: png.replace(/(.{20})/g, "$1\n"), mimeType: "image/png" },
      "image/png",
    ],
    ["bytes of an unknown format", { type: "audio", data: "AAECAw==", mimeType: "audio/x-odd" }, "audio/x-odd"],
    [
      "what calls itself by no type",
      { type: "audio", data: "AAECAw==", mimeType: "a b\n" },
      "application/octet-stream",
    ],
  ])("has the detected media type: %s", async (_, block, mimeType) => {
    const [words, file] = await contentOf(block);
    expect([words?.type, file]).toMatchObject(["text", { type: "file", mimeType }]);
  });

  it("is rejected where it is too large, or not a file", async () => {
    const large = Buffer.alloc(16 * 2 ** 20 + 1).toString("base64");
    expect(
      await contentOf(
        { type: "image", data: large, mimeType: "image/png" },
        { type: "image", data: "<svg>" },
        { type: "resource" },
      ),
    ).toEqual([
      claimedType("[Tool 't' provided image data of 16777217 bytes, which is too large.]"),
      claimedType("[Tool 't' provided image data that cannot be read.]"),
      claimedType("[Tool 't' provided embedded resource that cannot be read.]"),
    ]);
  });

  it.each<[string, unknown, readonly ToolContent[]]>([
    [
      "a value beside words",
      { content: [{ type: "text", text: "21 degrees" }], structuredContent: { degrees: 21 } },
      [claimedType("21 degrees"), { type: "structured", value: { degrees: 21 } }],
    ],
    [
      "a value said in words as well",
      { content: [{ type: "text", text: '{\n "degrees": 21 }' }], structuredContent: { degrees: 21 } },
      [claimedType('{\n "degrees": 21 }')],
    ],
    [
      "a value that only wraps the words",
      { content: [{ type: "text", text: "hello" }], structuredContent: { content: "hello" } },
      [claimedType("hello")],
    ],
    ["a value alone", { structuredContent: [1, 2] }, [{ type: "structured", value: [1, 2] }]],
    ["nothing", {}, [claimedType("(The tool returned no content.)")]],
  ])("is not repeated: %s", async (_, answer, expected) => {
    expect((await read(answer)).content).toEqual(expected);
  });

  it("is truncated as a whole, and stored where it is cut", async () => {
    const { content, kept } = await read({
      content: Array.from({ length: 500 }, () => ({ type: "text", text: "x".repeat(50_000) })),
    });
    const total = content.reduce((sum, item) => sum + (item.type === "text" ? item.text.length : 0), 0);
    expect([content.length, total < 200_000, kept.length, content.at(-1)]).toEqual([
      201,
      true,
      200,
      claimedType("[300 more content blocks of this result were left out.]"),
    ]);
  });
});
