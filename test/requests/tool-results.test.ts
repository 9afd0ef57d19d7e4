import { describe, expect, it } from "vitest";
import { call, done, failed, text } from "../../src/conversation/builders.ts";
import { Ledger } from "../../src/conversation/ledger.ts";
import { storeBytes, type StoredMedia } from "../../src/conversation/media.ts";
import type { Content, Outcome } from "../../src/conversation/parts.ts";
import { providers } from "../../src/providers/all.ts";
import { lint } from "../../src/rules/lint.ts";
import { composeRequest } from "../../src/wire/compose.ts";

const file = (words: string, mimeType: string): StoredMedia =>
  storeBytes(new TextEncoder().encode(words), { mimeType });
const first = file("first picture", "image/png");
const second = file("second picture", "image/jpeg");
const paper = file("a paper", "application/pdf");
const all = [first, second, paper];
const blobs = Object.fromEntries(all.map(({ blob }) => [blob.hash, blob.base64]));

/** The request after two calls ended this way. */
const requestAfter = (provider: (typeof providers)[number], ...outcomes: readonly Outcome[]) => {
  const ledger = new Ledger();
  ledger.user([text("go")]);
  const calls = ledger.model(
    { provider: "elsewhere", model: "m" },
    outcomes.map(() => call("fetch")),
  );
  outcomes.forEach((outcome, index) => ledger.complete(calls[index]!.id, "fetch", outcome));
  const destination = provider.destination(provider.defaultModel);
  const composed = composeRequest({ version: 1, entries: ledger.entries, blobs }, destination, {
    policy: { unsupportedMedia: "stub" },
  });
  const errors = lint(composed.body, {
    wire: provider.wire,
    provider: provider.id,
    model: provider.defaultModel,
  }).filter(({ level }) => level === "error");
  return { ...composed, errors, bytes: JSON.stringify(composed.body), takes: destination.target.media };
};

/** Where each of some texts first stands, and whether all of them stand in this order. */
const inOrder = (bytes: string, words: readonly string[]): boolean => {
  const places = words.map((word) => bytes.indexOf(JSON.stringify(word).slice(1, -1)));
  return places.every((place, index) => place !== -1 && (index === 0 || place > places[index - 1]!));
};

describe.each(providers.map((provider) => ({ id: provider.id, provider })))("results on $id", ({ provider }) => {
  const mixed: readonly Content[] = [
    text("alpha"),
    first.media,
    { type: "structured", value: { beta: 1 } },
    text("gamma"),
  ];

  it("keep the order of words and values, and the file where it can stand among them", () => {
    const { bytes, errors } = requestAfter(provider, done(...mixed));
    expect(errors).toEqual([]);
    expect(inOrder(bytes, ["alpha", "beta", "gamma"])).toBe(true);
    // Gemini has one place for words and one for files; everywhere else they share a list.
    const shown =
      bytes.includes(first.blob.base64) && !bytes.includes("This is file") ? first.blob.base64 : first.media.id;
    if (provider.wire !== "gemini") expect(inOrder(bytes, ["alpha", shown, "beta", "gamma"])).toBe(true);
  });

  it("carry several files, in call order, each once, and name what they cannot carry", () => {
    const { bytes, errors, takes } = requestAfter(
      provider,
      done("one", first.media, second.media),
      done("two", paper.media),
    );
    expect(errors).toEqual([]);
    for (const { media, blob } of all) {
      const isTaken =
        takes.result[media.kind] !== undefined ||
        (takes.user[media.kind]?.data === undefined && takes.user[media.kind] !== undefined);
      expect(bytes.split(blob.base64).length - 1).toBe(isTaken ? 1 : 0);
      expect(bytes.includes(`${media.id} not shown`)).toBe(!isTaken);
    }
    if (takes.user.image !== undefined)
      expect(bytes.indexOf(first.blob.base64)).toBeLessThan(bytes.indexOf(second.blob.base64));
  });

  it("keep the files of a failed call", () => {
    const { bytes, errors, takes } = requestAfter(provider, failed("it broke", first.media));
    expect(errors).toEqual([]);
    expect(bytes).toContain("it broke");
    expect(bytes.includes(first.blob.base64)).toBe(
      takes.user.image !== undefined || takes.errorResult.image !== undefined,
    );
  });

  it("say so when there is nothing in them", () => {
    const { bytes, errors } = requestAfter(provider, done(), failed());
    expect(errors).toEqual([]);
    expect(bytes).toContain("(no output)");
    expect(bytes).toContain("The tool failed without a message.");
  });
});
