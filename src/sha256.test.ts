import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { fc } from "../test/support/fast-check.ts";
import { sha256 } from "./sha256.ts";

it("is the hash that node:crypto computes, of texts of any length", () => {
  const texts = fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), fc.string({ minLength: 50, maxLength: 70 }));
  fc.assert(
    fc.property(texts, (text) => {
      expect(sha256(text)).toBe(createHash("sha256").update(text).digest("hex"));
    }),
    { numRuns: 300 },
  );
});
