import { describe, expect, it } from "vitest";
import { destinationOf } from "../../src/providers/find.ts";
import { lint } from "../../src/rules/lint.ts";
import { composeRequest } from "../../src/wire/compose.ts";
import { UnsupportedMediaError } from "../../src/transcript/place.ts";
import { deliveryOfResult, kinds, page, returning, rows, sample, unexplained } from "../support/media-matrix.ts";

describe("the media matrix", () => {
  it("is the page in docs/", async () => {
    await expect(page()).toMatchFileSnapshot("../../docs/media-matrix.md");
  });

  it("explains every cell that differs from the older matrix, and no other", () => {
    expect(unexplained()).toEqual([]);
  });

  const cells = rows.flatMap((to) =>
    kinds.flatMap((kind) =>
      (["bytes", "address"] as const).flatMap((source) =>
        (["alone", "among"] as const).map((style) => ({ to, kind, source, style })),
      ),
    ),
  );

  it.each(cells)("$to takes $kind as $source, $style, in the form it can", ({ to, kind, source, style }) => {
    const destination = destinationOf(to);
    const conversation = returning(kind, source, style);
    const { media, blobs } = sample(kind, source);
    const { body, report } = composeRequest(conversation, destination, { policy: { unsupportedMedia: "stub" } });
    const bytes = JSON.stringify(body);
    const needle = media.source.type === "uri" ? media.source.uri : blobs[media.source.hash]!;
    const pointers = [`See file ${media.id}`, `This is file ${media.id}:`].map(
      (words) => bytes.split(words).length - 1,
    );

    const { provider, model } = destination.target;
    expect(lint(body, { wire: destination.wire.id, provider, model }).filter(({ level }) => level === "error")).toEqual(
      [],
    );
    switch (deliveryOfResult(to, kind, source)) {
      case "inside":
        expect({ shown: bytes.split(needle).length - 1, pointers }).toEqual({ shown: 1, pointers: [0, 0] });
        break;
      case "after":
        expect({ shown: bytes.split(needle).length - 1, pointers }).toEqual({ shown: 1, pointers: [1, 1] });
        expect(bytes.indexOf(pointers[0] === 1 ? `See file ${media.id}` : "")).toBeLessThan(
          bytes.indexOf(`This is file ${media.id}:`),
        );
        expect(report.notes.map((note) => note.kind)).toContain("media-after");
        break;
      case "named":
        expect(bytes).toContain(`${kind} ${media.id} not shown (${media.mimeType}`);
        expect(bytes.includes(needle)).toBe(source === "address");
        expect(report.notes.map((note) => note.kind)).toContain("media-stub");
        expect(() => composeRequest(conversation, destination)).toThrow(UnsupportedMediaError);
    }
  });
});
