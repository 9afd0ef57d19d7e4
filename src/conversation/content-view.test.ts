import { describe, expect, it } from "vitest";
import { done, structured, text } from "./builders.ts";
import { contentWithoutFiles, filesIn } from "./content-view.ts";
import { parseDataUrl, toDataUrl } from "./data-url.ts";
import { mediaAt, storeBytes } from "./media.ts";

describe("what a tool returned", () => {
  const { media: picture } = storeBytes(Uint8Array.of(1, 2, 3), { mimeType: "image/png" });
  const page = mediaAt("https://example.com/page.pdf", { mimeType: "application/pdf" });
  const outcome = done("before", picture, structured({ a: 1 }), page, text("after"));

  it("is seen as its files, and as what is left without them, each in order", () => {
    expect(filesIn(outcome)).toEqual([picture, page]);
    expect(contentWithoutFiles(outcome)).toEqual([text("before"), structured({ a: 1 }), text("after")]);
    expect(filesIn(outcome.content)).toEqual([picture, page]);
    expect(contentWithoutFiles([])).toEqual([]);
  });
});

describe("a data URL", () => {
  it("is made of bytes or of base64, and read back", () => {
    expect(toDataUrl("image/png", Uint8Array.of(1, 2, 3))).toBe("data:image/png;base64,AQID");
    expect(toDataUrl("audio/ogg; codecs=opus", "AQID")).toBe("data:audio/ogg;base64,AQID");
    expect(parseDataUrl("data:image/png;base64,AQID")).toEqual({
      mimeType: "image/png",
      bytes: Buffer.from([1, 2, 3]),
    });
  });

  it("is read where it is percent-encoded, without a type, or with parameters", () => {
    const read = (url: string): unknown => {
      const parsed = parseDataUrl(url);
      return parsed && [parsed.mimeType, Buffer.from(parsed.bytes).toString("utf8")];
    };
    expect(read("data:,hello%20world")).toEqual(["text/plain", "hello world"]);
    expect(read("data:text/html;charset=utf-8,%3Cp%3E%C3%A9é")).toEqual(["text/html", "<p>éé"]);
    expect(read("DATA:text/plain;charset=utf-8;BASE64,aGVsbG8%3D")).toEqual(["text/plain", "hello"]);
    expect(read("data:text/plain,100%")).toEqual(["text/plain", "100%"]);
    expect(read("https://example.com/a.png")).toBeUndefined();
    expect(read("data:no comma")).toBeUndefined();
  });
});
