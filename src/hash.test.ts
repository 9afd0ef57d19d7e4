import { describe, expect, it } from "vitest";
import { emptyHash, extendHash, fingerprint, hashToHex } from "./hash.ts";

describe("a fingerprint", () => {
  it("is sixteen hex digits, and never changes", () => {
    expect(["", "a", "/home/someone/code/app"].map(fingerprint)).toEqual([
      "641af8fa8bcec210",
      "7b13b740ee719bbf",
      "85fc4fc774c12869",
    ]);
  });

  it("differs for texts that differ in one letter, in order or in length", () => {
    const texts = Array.from({ length: 20_000 }, (_, index) => `/home/person/project-${index}`);
    const more = [
      ...texts,
      ...texts.map((text) => `${text}/`),
      ...texts.map((text) => text.split("").toReversed().join("")),
    ];
    expect(new Set(more.map(fingerprint)).size).toBe(more.length);
  });
});

describe("a running hash", () => {
  const hashOf = (...texts: readonly string[]): string => hashToHex(texts.reduce(extendHash, emptyHash));

  it("never changes: sessions store it, and sent tool names contain it", () => {
    expect([hashOf(), hashOf("a"), hashOf("a", "b"), hashOf('{"role":"user"}')]).toEqual([
      "811c9dc51b873593",
      "2c24d1d7e48d7636",
      "277443aa1bfaf96e",
      "5011d5adb110a313",
    ]);
  });

  it("depends on where one text ends and the next begins", () => {
    expect(hashOf("ab", "c")).not.toBe(hashOf("a", "bc"));
  });
});
