import { describe, expect, it } from "vitest";
import { measureFile, countTextTokens } from "./tokens.ts";

const png = (width: number, height: number): string => {
  const bytes = Buffer.alloc(33);
  bytes.write("\u0089PNG\r\n\u001a\n", "latin1");
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes.toString("base64");
};

const gif = (width: number, height: number): string => {
  const bytes = Buffer.alloc(13);
  bytes.write("GIF89a", "latin1");
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return bytes.toString("base64");
};

/** A JPEG whose frame header follows a comment. */
const jpeg = (width: number, height: number): string => {
  const comment = Buffer.from([0xff, 0xfe, 0, 6, 1, 2, 3, 4]);
  const frame = Buffer.from([0xff, 0xc2, 0, 11, 8, 0, 0, 0, 0, 1, 1, 0x11, 0]);
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), comment, frame]).toString("base64");
};

const webp = (kind: "VP8 " | "VP8L" | "VP8X", width: number, height: number): string => {
  const bytes = Buffer.alloc(40);
  bytes.write(`RIFF    WEBP${kind}`, "latin1");
  if (kind === "VP8 ") {
    bytes.writeUInt16LE(width, 26);
    bytes.writeUInt16LE(height, 28);
  } else if (kind === "VP8L") bytes.writeUInt32LE((width - 1) | ((height - 1) << 14), 21);
  else {
    bytes.writeUIntLE(width - 1, 24, 3);
    bytes.writeUIntLE(height - 1, 27, 3);
  }
  return bytes.toString("base64");
};

const image = (base64: string): object => measureFile({ kind: "image", mimeType: "image/png", base64 });

describe("tokens", () => {
  it("of a text are one for every four bytes", () => {
    expect(["", "a", "abcd", "abcde", "äää"].map(countTextTokens)).toEqual([0, 1, 1, 2, 2]);
  });

  it.each([
    ["png", png(1000, 750)],
    ["gif", gif(1000, 750)],
    ["jpeg", jpeg(1000, 750)],
    ["webp, lossy", webp("VP8 ", 1000, 750)],
    ["webp, lossless", webp("VP8L", 1000, 750)],
    ["webp, extended", webp("VP8X", 1000, 750)],
  ])("of an image depend on its pixels: %s", (_, base64) => {
    const bytes = Buffer.from(base64, "base64").length;
    expect(image(base64)).toEqual({ tokens: 1000, width: 1000, height: 750, bytes });
  });

  it("of a small image are 85, and of an unreadable one 258", () => {
    expect(image(png(10, 10))).toMatchObject({ tokens: 85, width: 10 });
    expect(image("AAAA")).toEqual({ tokens: 258, bytes: 3 });
    expect(image("")).toEqual({ tokens: 258, bytes: 0 });
  });

  it("of a PDF depend on its pages, and of another document on its bytes", () => {
    const pdf = Buffer.from("%PDF-1.4 /Type /Pages /Type /Page /Type/Page >>").toString("base64");
    expect(measureFile({ kind: "document", mimeType: "application/pdf", base64: pdf }).tokens).toBe(3000);
    expect(measureFile({ kind: "document", mimeType: "application/pdf", base64: "AAAA" }).tokens).toBe(1500);
    expect(measureFile({ kind: "document", mimeType: "text/csv", base64: "AAAA" })).toEqual({ tokens: 1, bytes: 3 });
  });

  it("of audio and video grow with their bytes, from a minimum on", () => {
    const base64 = Buffer.alloc(60_000).toString("base64");
    expect(measureFile({ kind: "audio", mimeType: "audio/wav", base64 }).tokens).toBe(120);
    expect(measureFile({ kind: "video", mimeType: "video/mp4", base64 }).tokens).toBe(200);
    expect(measureFile({ kind: "audio", mimeType: "audio/wav", base64: "AAAA" }).tokens).toBe(32);
    expect(measureFile({ kind: "video", mimeType: "video/mp4", base64: "AAAA" }).tokens).toBe(64);
  });
});
