import { describe, expect, it } from "vitest";
import type { OpenedFile } from "../capabilities.ts";
import { sniffFile, sniffLength } from "./sniff.ts";

/** A file with this text, and the reads of it. */
const openText = (text: string): { readonly file: OpenedFile; readonly reads: (readonly [number, number])[] } => {
  const bytes = Buffer.from(text);
  const reads: (readonly [number, number])[] = [];
  const place = { path: "/a", shown: "a", kind: "file", size: bytes.length, modified: 0, identity: "1" } as const;
  const read: OpenedFile["read"] = async (at, length) => {
    reads.push([at, length]);
    return bytes.subarray(at, at + length);
  };
  return { file: { place, read, close: async () => undefined }, reads };
};

describe("the content type of an open file", () => {
  it("is known after one read, which also returned the file", async () => {
    const { file, reads } = openText("one\ntwo\n");
    const sniffed = await sniffFile(file, "a.txt");
    expect(sniffed.contentType).toEqual({ kind: "text", encoding: "utf-8" });
    expect(Buffer.from(await sniffed.file.read(4, 3)).toString()).toBe("two");
    expect(Buffer.from(await sniffed.file.read(0, 100)).toString()).toBe("one\ntwo\n");
    expect(reads).toEqual([[0, 8]]);
  });

  it("leaves the rest of a long file to be read", async () => {
    const { file, reads } = openText(`${"x".repeat(sniffLength)}end`);
    const sniffed = await sniffFile(file, "a.txt");
    expect(Buffer.from(await sniffed.file.read(sniffLength, 3)).toString()).toBe("end");
    expect(reads).toEqual([
      [0, sniffLength],
      [sniffLength, 3],
    ]);
  });
});
