import { z } from "zod";
import { describe, expect, it } from "vitest";
import { storeBytes } from "../../conversation/media.ts";
import { defineTool } from "../../tools/tool.ts";
import type { FinishedCall } from "../events.ts";
import { call, createHarness } from "../harness.cases.ts";

/** The result of a call of a tool that returns this. */
const end = async (returned: () => unknown): Promise<FinishedCall | undefined> => {
  const at = createHarness();
  const tool = defineTool({
    name: "own",
    description: "A tool of a program that uses the library.",
    access: "read",
    input: z.object({}),
    touches: () => ({}),
    title: () => "Own",
    run: returned,
  });
  at.registry.set("own", { tool });
  const [finished] = await at.scheduler.schedule([call(1, "own")], new AbortController().signal);
  return finished;
};

describe("a tool of a program that uses the library", () => {
  it.each([
    ["a text", () => "done", [{ type: "text", text: "done" }]],
    ["a promise of a text", async () => "done", [{ type: "text", text: "done" }]],
    ["an object", () => ({ a: 1 }), [{ type: "structured", value: { a: 1 } }]],
    ["no display", () => ({ content: [{ type: "text", text: "done" }] }), [{ type: "text", text: "done" }]],
    ["nothing", () => undefined, []],
  ])("completes when it returns %s", async (_, returned, content) => {
    expect(await end(returned)).toMatchObject({ outcome: { status: "complete", content } });
  });

  it("may return bytes as media, alone and inside a value", async () => {
    const bytes = Uint8Array.of(0, 1, 2);
    const { media, blob } = storeBytes(bytes, { mimeType: "application/octet-stream" });
    const blobs = { [blob.hash]: blob.base64 };
    expect(await end(() => bytes)).toMatchObject({ outcome: { status: "complete", content: [media] }, blobs });
    expect(await end(() => ({ bytes, about: "zeros" }))).toMatchObject({
      outcome: { content: [{ type: "structured", value: { bytes: `See file ${media.id}`, about: "zeros" } }, media] },
      blobs,
    });
  });

  it("may return a file by its URL", async () => {
    const source = { type: "uri", uri: "https://example.com/a.png" };
    expect(await end(() => ({ type: "file", mimeType: "image/png", url: source.uri }))).toMatchObject({
      outcome: { status: "complete", content: [{ type: "media", kind: "image", mimeType: "image/png", source }] },
      blobs: {},
    });
  });

  it("fails with its own message when it returns an error, or a value that cannot be read", async () => {
    expect(await end(() => new Error("No paper."))).toMatchObject({
      outcome: { status: "error" },
      error: { type: "unhandled_exception", message: "The tool failed unexpectedly: No paper." },
    });
    const broken = {
      get a(): never {
        throw new Error("Not readable.");
      },
    };
    expect(await end(() => broken)).toMatchObject({
      error: { message: "The tool failed unexpectedly: Not readable." },
    });
  });
});
