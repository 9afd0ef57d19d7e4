import { describe, expect, it } from "vitest";
import { FrameReader, maxFrameLength, readFrame } from "./frames.ts";
import { fc } from "../../../test/support/fast-check.ts";

const framesIn = (...pieces: readonly (string | Uint8Array)[]): unknown[] => {
  const frames = new FrameReader();
  return pieces.flatMap((piece) => [...frames.add(typeof piece === "string" ? Buffer.from(piece) : piece)]);
};

describe("a server's output", () => {
  it("is split into lines, however it is chunked", () => {
    const text = '{"a":"é\\n日"}\n\r\n  \n{"b":[1]}\r\nhello\n{"c":1}';
    const whole = [{ message: { a: "é\n日" } }, { message: { b: [1] } }, { fault: "a line that is not a message" }];
    const bytes = Buffer.from(text);
    expect(framesIn(bytes)).toEqual(whole);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 6 }), (cuts) => {
        const at = [0, ...cuts.toSorted((one, other) => one - other), bytes.length];
        expect(framesIn(...at.slice(1).map((end, index) => bytes.subarray(at[index], end)))).toEqual(whole);
      }),
    );
  });

  it("may reuse its memory", () => {
    const frames = new FrameReader();
    const piece = Buffer.from('{"a":');
    expect([...frames.add(piece)]).toEqual([]);
    piece.fill(0);
    expect([...frames.add(Buffer.from("1}\n"))]).toEqual([{ message: { a: 1 } }]);
  });

  it("is skipped where a line is too long, and read again after it", () => {
    const frames = new FrameReader();
    const piece = Buffer.alloc(2 ** 20, "x");
    const open = { fault: "a message of more than 24 MB", isOpen: true };
    const faults: unknown[] = [];
    for (let sent = 0; sent < maxFrameLength + 2 ** 22; sent += piece.length) faults.push(...frames.add(piece));
    expect(faults).toEqual([open]);
    expect([...frames.add(Buffer.from('x\n{"a":1}\n'))]).toEqual([
      { fault: "a message of more than 24 MB" },
      { message: { a: 1 } },
    ]);
  });

  it.each<[string, string, string, readonly unknown[]]>([
    ["first", '{"jsonrpc":"2.0","id":7,"result":{"a":"', '"}}', [{ id: 7, isOpen: true }, {}]],
    ["last", '{"result":{"a":"', '"},"id":"seven","jsonrpc":"2.0"}', [{ isOpen: true }, { id: "seven" }]],
    ["inside alone", '{"result":{"id":3,"a":"', '"}}', [{ isOpen: true }, {}]],
  ])("shows which request it answers, however long it is, where the id is %s", (_, begin, end, expected) => {
    const found = framesIn(begin, Buffer.alloc(maxFrameLength, "x"), `${end}\n`);
    expect(found).toEqual(expected.map((more) => ({ fault: "a message of more than 24 MB", ...(more as object) })));
    expect(
      framesIn(Buffer.concat([Buffer.from(begin), Buffer.alloc(maxFrameLength, "x"), Buffer.from(`${end}\n`)])),
    ).toEqual([{ ...(found[0] as object), ...(found[1] as object), isOpen: undefined }]);
  });

  it.each<[string, string, unknown]>([
    ["zeros", "\0\0\0", { fault: "a line that is not a message" }],
    ["a list", "[1]", { fault: "a line that is not a message" }],
    ["a number", "7", { fault: "a line that is not a message" }],
    [
      "a message nested 100,000 deep",
      `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
      { fault: "a message nested deeper than 1000" },
    ],
    [
      "the same in lists",
      `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
      { fault: "a message nested deeper than 1000" },
    ],
    [
      "one that would change its nature",
      '{"a":{"__proto__":{"x":1},"b":1},"\\u005f_proto__":{"y":2}}',
      { message: { a: { b: 1 } } },
    ],
  ])("is parsed safely: %s", (_, line, expected) => {
    const found = readFrame(line);
    expect(found).toEqual(expected);
    expect("message" in found ? Object.getPrototypeOf(found.message) : Object.prototype).toBe(Object.prototype);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });
});
