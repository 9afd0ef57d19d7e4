import { describe, expect, it } from "vitest";
import { mediaAt, storeBytes } from "../../conversation/media.ts";
import { normalizeResult } from "./normalize.ts";
import { ToolFailure, type ToolDisplay } from "../tool.ts";

const png = Uint8Array.from(
  Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAC0lEQVR4nGNgQAcAABIAAbHTaYQAAAAASUVORK5CYII=", "base64"),
);
const picture = { type: "file", mimeType: "image/png", bytes: png, width: 2, height: 3 } as const;
const shown = (text: string): ToolDisplay => ({ type: "text", text });
const idOf = (bytes: Uint8Array): string => storeBytes(bytes, { mimeType: "image/png" }).media.id;

const contentOf = async (returned: unknown): Promise<unknown> => (await normalizeResult(returned)).content;

describe("a tool", () => {
  it("may return a text", async () => {
    expect(await normalizeResult("done")).toEqual({
      content: [{ type: "text", text: "done" }],
      display: shown("done"),
    });
  });

  it("may return an object, a number, a list, or nothing", async () => {
    expect(await normalizeResult({ a: [1, 2] })).toEqual({
      content: [{ type: "structured", value: { a: [1, 2] } }],
      display: shown('{\n  "a": [\n    1,\n    2\n  ]\n}'),
    });
    expect(await contentOf(42)).toEqual([{ type: "structured", value: 42 }]);
    expect(await contentOf(["a", "b"])).toEqual([{ type: "structured", value: ["a", "b"] }]);
    expect(await contentOf([])).toEqual([{ type: "structured", value: [] }]);
    expect(await normalizeResult(undefined)).toEqual({ content: [], display: shown("(no output)") });
    expect(await contentOf(null)).toEqual([]);
    expect(await contentOf({ content: "a page", links: 3 })).toEqual([
      { type: "structured", value: { content: "a page", links: 3 } },
    ]);
    expect(await contentOf(new Map([["a", new Set([1, 2])]]))).toEqual([{ type: "structured", value: { a: [1, 2] } }]);
    expect(await contentOf({ samples: Float32Array.of(1, 0.5) })).toEqual([
      { type: "structured", value: { samples: [1, 0.5] } },
    ]);
  });

  it.each([
    ["bytes", png],
    ["a Buffer", Buffer.from(png)],
    ["an ArrayBuffer", png.buffer],
    ["a Blob", new Blob([png], { type: "image/png" })],
    ["a part of a larger buffer", new Uint8Array([0, ...png, 0]).subarray(1, 1 + png.length)],
    ["a file", picture],
    ["a stored file", storeBytes(png, { mimeType: "image/png" })],
    ["a type and base64", { mimeType: "image/png", data: Buffer.from(png).toString("base64") }],
    ["an MCP image", { type: "image", mimeType: "image/png", data: Buffer.from(png).toString("base64") }],
    ["a Gemini part", { inlineData: { mimeType: "image/png", data: Buffer.from(png).toString("base64") } }],
    ["a data URL", { type: "file", url: `data:image/png;base64,${Buffer.from(png).toString("base64")}` }],
  ])("may return %s directly", async (_, returned) => {
    const { content, display } = await normalizeResult(returned);
    expect(content).toEqual([{ ...picture, bytes: expect.any(Uint8Array) as Uint8Array }]);
    expect(content.map((piece) => "bytes" in piece && Buffer.from(piece.bytes).equals(png))).toEqual([true]);
    expect(display).toEqual(shown(`[file: image/png, ${png.length} bytes]`));
  });

  it("may return a file by its URL", async () => {
    const url = "https://example.com/a.png?size=1";
    const file = { type: "file", mimeType: "image/png", url };
    expect(await contentOf({ type: "file", url })).toEqual([file]);
    expect(await contentOf(mediaAt(url, { mimeType: "image/png" }))).toEqual([file]);
    expect(await contentOf({ mimeType: "image/png", fileUri: url })).toEqual([file]);
    expect(await contentOf({ fileData: { mimeType: "image/png", fileUri: url } })).toEqual([file]);
    expect(await contentOf({ url, title: "A page" })).toEqual([
      { type: "structured", value: { url, title: "A page" } },
    ]);
  });

  it("may return texts, values and files in one list, which stay in order", async () => {
    expect(await contentOf(["before", picture, { a: 1 }, "after"])).toEqual([
      { type: "text", text: "before" },
      picture,
      { type: "structured", value: { a: 1 } },
      { type: "text", text: "after" },
    ]);
  });

  it("may return bytes inside a value, which become files referenced in their place", async () => {
    const other = Uint8Array.of(1, 2, 3, 0);
    expect(await contentOf({ name: "x", shot: png, rest: [{ mimeType: "audio/wav", data: other }] })).toEqual([
      {
        type: "structured",
        value: {
          name: "x",
          shot: `See file ${idOf(png)}`,
          rest: [{ mimeType: "audio/wav", data: `See file ${idOf(other)}` }],
        },
      },
      picture,
      { type: "file", mimeType: "audio/wav", bytes: other },
    ]);
    const cyclic: Record<string, unknown> = { shot: png };
    cyclic["self"] = cyclic;
    expect(await contentOf({ content: [{ type: "structured", value: cyclic }] })).toEqual([
      { type: "structured", value: { shot: `See file ${idOf(png)}`, self: "[circular reference]" } },
      picture,
    ]);
  });

  it("may leave out the display, or give a text for it", async () => {
    const content = [{ type: "text", text: "done" }];
    expect(await normalizeResult({ content })).toEqual({ content, display: shown("done") });
    expect(await normalizeResult({ content, display: "Saved." })).toEqual({ content, display: shown("Saved.") });
    expect(await normalizeResult({ content, display: { type: "table" } })).toMatchObject({ display: shown("done") });
    expect(await normalizeResult({ content: ["one", "two"], display: "Two." })).toMatchObject({
      content: [
        { type: "text", text: "one" },
        { type: "text", text: "two" },
      ],
    });
    const error = { type: "timeout", message: "Too slow." } as const;
    expect(await normalizeResult({ content: [], error })).toEqual({
      content: [],
      display: shown("Too slow."),
      error,
    });
  });

  it("fails where it returns an error", async () => {
    await expect(normalizeResult(new ToolFailure("timeout", "Too slow."))).rejects.toThrow("Too slow.");
  });
});
