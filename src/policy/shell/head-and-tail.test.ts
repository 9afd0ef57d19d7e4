import { expect, it } from "vitest";
import { HeadAndTail } from "./head-and-tail.ts";

const late = Buffer.from(`${"x".repeat(5000)}a\0b`);
const early = Buffer.from(`${"x".repeat(4000)}a\0b`);

const isBinary = (bytes: Uint8Array, size: number): boolean => {
  const kept = new HeadAndTail();
  for (let at = 0; at < bytes.length; at += size) kept.add(bytes.subarray(at, at + size));
  return kept.isBinary;
};

it.each([1, 100, 4095, 4096, 4097, 10_000])("detects binary output by its beginning, in chunks of %d bytes", (size) => {
  expect({ late: isBinary(late, size), early: isBinary(early, size) }).toEqual({ late: false, early: true });
});
