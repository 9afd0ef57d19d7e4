import { describe, expect, it } from "vitest";
import { text } from "../../src/conversation/builders.ts";
import { Ledger } from "../../src/conversation/ledger.ts";
import { storeBytes } from "../../src/conversation/media.ts";
import { readPng } from "../../src/images/read-png.ts";
import { writePng } from "../../src/images/write-png.ts";
import { inspectConversation } from "../../src/inspect/data/inspected.ts";
import { exportHtml } from "../../src/inspect/export.tsx";
import { exportedImages, type ExportedImages } from "../../src/inspect/exported-media.tsx";
import { createRedactor } from "../../src/policy/secrets/redact.ts";
import { Random } from "../support/random.ts";
import { perTier, seedFor } from "../support/tier.ts";
import { createRichSession } from "./rich-session.ts";

const runs = perTier({ quick: 4, all: 25 });

const redactor = createRedactor({ env: { MY_TOKEN: "correct-horse-battery" } });

describe("exporting a session as HTML", () => {
  it("writes one file with the reading view, its media, and a policy that allows no script", async () => {
    const { session } = await (await createRichSession()).source.load();
    const { html, notes } = await exportHtml(session, { redactor, images: "bounded" });

    expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(html).toMatch(/content="default-src 'none'; style-src 'sha256-[\w+/=]+'; img-src data:; media-src data:;/);
    expect(html.match(/<script|<link|https?:\/\/(?!ci\.example\.org|127\.0\.0\.1)/g)).toBeNull();
    expect(html).toContain('<img src="data:image/png;base64,');
    expect(html).toContain("All 214 tests pass.");
    expect(notes).toEqual(["No secrets were found."]);
  });

  it("redacts secrets and names the entries they were in", async () => {
    const ledger = new Ledger();
    ledger.user([text("The password is correct-horse-battery, again correct-horse-battery.")]);
    ledger.user([text("Nothing here.")]);
    ledger.model({ provider: "p", model: "m" }, [
      { type: "call", tool: "t", input: { value: { key: "correct-horse-battery" } } },
    ]);
    const { session } = inspectConversation({ version: 1, entries: ledger.entries, blobs: {} }, "x");
    const { html, notes } = await exportHtml(session, { redactor, images: "bounded" });

    expect(html).not.toContain("correct-horse-battery");
    expect(notes).toEqual(["Secrets were redacted in entry 1 (2), entry 3."]);
    expect(html).toContain("Secrets were redacted in entry 1 (2), entry 3.");
  });

  it("encodes large images again, smaller, and says so", async () => {
    const ledger = new Ledger();
    const [screen, photo] = [
      storeBytes(noisyPng(1600, 250), { mimeType: "image/png", name: "screen.png" }),
      storeBytes(new Uint8Array(900_000).fill(7), { mimeType: "image/jpeg", name: "photo.jpg" }),
    ];
    ledger.user([screen.media, photo.media, screen.media]);
    const blobs = { [screen.blob.hash]: screen.blob.base64, [photo.blob.hash]: photo.blob.base64 };
    const { session } = inspectConversation({ version: 1, entries: ledger.entries, blobs }, "x");
    const { html, notes } = await exportHtml(session, { redactor, images: "bounded" });
    const shown = [...html.matchAll(/src="data:(image\/\w+);base64,([^"]+)"/g)].map(([, type, data]) => ({
      type,
      bytes: Buffer.from(data ?? "", "base64"),
    }));

    expect(shown.map(({ type }) => type)).toEqual(["image/png", "image/jpeg", "image/png"]);
    const small = await readPng(shown[0]!.bytes);
    expect([small?.width, small?.height]).toEqual([1280, 200]);
    expect(notes[1]).toMatch(/^Smaller than in the session: screen\.png \([\d.]+ [kM]B, here [\d.]+ [kM]B\)\.$/);

    const tight = await exportHtml(session, { redactor, images: "bounded", maxBytes: 2_000_000 });
    expect(tight.html.length).toBeLessThan(2_000_000);
    expect(tight.notes.slice(1)).toEqual([
      expect.stringMatching(/^Smaller than in the session: screen\.png/),
      "Named but not contained: photo.jpg (900.0 kB).",
    ]);
  });

  it("leaves media out on request, and entries beyond its size, and says so", async () => {
    const { session } = await (await createRichSession()).source.load();
    const without = await exportHtml(session, { redactor, images: "none" });
    expect(without.notes).toEqual([
      "No secrets were found.",
      expect.stringMatching(/^Named but not contained: trace\.png \([\d.]+ k?B\), beep\.wav \([\d.]+ k?B\)\.$/),
    ]);
    expect(without.html).not.toContain("data:image");

    const short = await exportHtml(session, { redactor, images: "none", maxBytes: 53_000 });
    expect(short.notes.at(-1)).toMatch(/^The last \d+ entries are left out: the file is limited to 53\.0 kB\.$/);
  });

  it("leaves out the largest first, whatever its kind, and keeps all as they are if that is asked for", async () => {
    const ledger = new Ledger();
    const files = [
      ["small.webp", "image/webp", 100_000],
      ["large.gif", "image/gif", 700_000],
      ["sound.wav", "audio/wav", 300_000],
      ["photo.jpg", "image/jpeg", 500_000],
    ] as const;
    const stored = files.map(([name, mimeType, size]) =>
      storeBytes(new Uint8Array(size).fill(name.length), { mimeType, name }),
    );
    ledger.user(stored.map(({ media }) => media));
    const blobs = Object.fromEntries(stored.map(({ blob }) => [blob.hash, blob.base64]));
    const { session } = inspectConversation({ version: 1, entries: ledger.entries, blobs }, "x");
    const exportAs = async (images: ExportedImages, maxBytes: number): Promise<readonly string[]> =>
      (await exportHtml(session, { redactor, images, maxBytes })).notes.slice(1);

    expect(await exportAs("bounded", 5_000_000)).toEqual([]);
    expect(await exportAs("bounded", 2_000_000)).toEqual([
      "Named but not contained: large.gif (700.0 kB), photo.jpg (500.0 kB).",
    ]);
    expect(await exportAs("all", 2_000_000)).toEqual(["Named but not contained: large.gif (700.0 kB)."]);
    expect(await exportAs("all", 2_300_000)).toEqual([]);
  });

  it("never writes a file above its limit, for any mix of text, names and kinds of media", async () => {
    for (let index = 0; index < runs; index++) {
      const random = new Random(seedFor(index));
      const ledger = new Ledger();
      const blobs: Record<string, string> = {};
      for (let entry = random.below(30); entry >= 0; entry -= 1) {
        const files = Array.from({ length: random.below(3) }, () => {
          const mimeType = random.pick([
            "image/png",
            "image/jpeg",
            "image/gif",
            "image/webp",
            "audio/wav",
            "image/svg+xml",
          ]);
          const bytes =
            mimeType === "image/png" && random.chance(0.5)
              ? noisyPng(20 + random.below(200), 20 + random.below(60))
              : new Uint8Array(random.below(120_000)).fill(random.below(256));
          const { media, blob } = storeBytes(bytes, { mimeType, name: '"&<é>'.repeat(1 + random.below(60)) });
          blobs[blob.hash] = blob.base64;
          return media;
        });
        ledger.user([text('é<&>" '.repeat(random.below(2000))), ...files, ...(random.chance(0.3) ? files : [])]);
      }
      const { session } = inspectConversation({ version: 1, entries: ledger.entries, blobs }, "x".repeat(5000));
      const maxBytes = 60_000 + random.below(1_000_000);
      for (const images of exportedImages) {
        const { html } = await exportHtml(session, { redactor, images, maxBytes });
        expect(Buffer.byteLength(html)).toBeLessThanOrEqual(maxBytes);
      }
    }
  });
});

/** A picture that compresses badly, as photographs do. */
const noisyPng = (width: number, height: number): Uint8Array => {
  const next = seededRandom(7);
  const pixels = Uint8Array.from({ length: width * height * 4 }, (_, index) => (index % 4 === 3 ? 255 : next() & 255));
  return writePng({ width, height, pixels });
};

const seededRandom = (seed: number): (() => number) => {
  let state = seed;
  return () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) >>> 20;
};
