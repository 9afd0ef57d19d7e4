import { EventStreamCodec } from "@smithy/eventstream-codec";
import { describe, expect, it } from "vitest";
import type { StreamFrame } from "../../wire/decode/events.ts";
import { createEventStreamParser, createSseParser, type FrameParser } from "./frames.ts";
import { fc } from "../../../test/support/fast-check.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Parses chunks into frames, and the error after them, if any. */
const toldOf = async (
  open: () => Promise<FrameParser>,
  chunks: Iterable<Uint8Array>,
): Promise<{ readonly frames: readonly StreamFrame[]; readonly trouble?: unknown }> => {
  const { push, end } = await open();
  const frames: StreamFrame[] = [];
  for (const chunk of chunks) {
    const told = push(chunk);
    frames.push(...told.frames);
    if (told.error !== undefined) return { frames, trouble: told.error };
  }
  const { frames: last, ...rest } = end();
  return { frames: [...frames, ...last], ...rest };
};

const framesOf = async (
  open: () => Promise<FrameParser>,
  chunks: Iterable<Uint8Array>,
): Promise<readonly StreamFrame[]> => {
  const { frames, trouble } = await toldOf(open, chunks);
  if (trouble !== undefined) throw trouble;
  return frames;
};

const sse = (text: string): Promise<readonly StreamFrame[]> => framesOf(createSseParser, [bytesOf(text)]);

describe("server-sent events", () => {
  it.each([
    ["one event", 'data: {"a":1}\n\n', [{ name: "", data: { a: 1 } }]],
    ["a named event", 'event: ping\ndata: {"a":1}\n\n', [{ name: "ping", data: { a: 1 } }]],
    ["no space after the colon", 'data:{"a":1}\n\n', [{ name: "", data: { a: 1 } }]],
    ["CRLF", 'event: x\r\ndata: {"a":1}\r\n\r\n', [{ name: "x", data: { a: 1 } }]],
    [
      "CR alone",
      'data: {"a":1}\r\rdata: {"b":2}\r\r',
      [
        { name: "", data: { a: 1 } },
        { name: "", data: { b: 2 } },
      ],
    ],
    ["data over several lines", 'data: {"a":\ndata: 1}\n\n', [{ name: "", data: { a: 1 } }]],
    ["a byte order mark", '\uFEFFdata: {"a":1}\n\n', [{ name: "", data: { a: 1 } }]],
    ["comments", ': keep-alive\n\n: again\ndata: {"a":1}\n\n', [{ name: "", data: { a: 1 } }]],
    ["the end mark", "data: [DONE]\n\n", [{ name: "[DONE]", data: undefined }]],
    ["an end mark with blanks around it", "data:  [DONE] \n\n", [{ name: "[DONE]", data: undefined }]],
    ["JSON with blanks around it", 'data:  {"a":1} \n\n', [{ name: "", data: { a: 1 } }]],
    [
      "an error in a field of its own",
      'data: {"a":1}\n\nerror: {"code":500,"message":"out of memory"}\n\n',
      [
        { name: "", data: { a: 1 } },
        { name: "error", data: { error: { code: 500, message: "out of memory" } } },
      ],
    ],
    [
      "an error in plain words",
      "error: out of memory\n\n",
      [{ name: "error", data: { error: { message: "out of memory" } } }],
    ],
    ["words that are no JSON", "data: ping\n\n", [{ name: "text", data: "ping" }]],
    ["empty data", 'data:\n\ndata: {"a":1}\n\n', [{ name: "", data: { a: 1 } }]],
    ["ids and retry hints", 'id: 4\nretry: 100\ndata: {"a":1}\n\n', [{ name: "", data: { a: 1 } }]],
    ["a last event without its blank line", 'data: {"a":1}', [{ name: "", data: { a: 1 } }]],
    ["a last event cut in its JSON", 'data: {"a":1}\n\ndata: {"b', [{ name: "", data: { a: 1 } }]],
    ["an end mark that was cut", "data: [DON", []],
    ["nothing", "", []],
  ])("are read with %s", async (_, text, expected) => {
    expect(await sse(text)).toEqual(expected);
  });

  it("are the same however the bytes are split, also within a letter", async () => {
    const bytes = bytesOf(
      'event: tëxt\ndata: {"words":"Grüße 👋🏽 日本"}\n\n: comment\r\ndata: {"b":[1]}\r\n\r\ndata: [DONE]\n\n',
    );
    const whole = await framesOf(createSseParser, [bytes]);
    for (let at = 0; at <= bytes.length; at++)
      expect(await framesOf(createSseParser, [bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
    expect(
      await framesOf(
        createSseParser,
        [...bytes].map((byte) => Uint8Array.of(byte)),
      ),
    ).toEqual(whole);
    expect(whole).toHaveLength(3);
  });

  it("are refused when JSON within them is broken", async () => {
    await expect(sse('data: {"a":1,}\n\ndata: {"b":2}\n\n')).rejects.toThrow('no valid JSON: {"a":1,}');
  });

  it("are parsed up to the malformed one, wherever the bytes are split", async () => {
    const text = 'data: {"a":1}\n\ndata: {"b":2}\n\ndata: {"c"\n\n';
    const told = async (chunks: readonly string[]): Promise<readonly StreamFrame[]> => {
      const { frames, trouble } = await toldOf(createSseParser, chunks.map(bytesOf));
      expect(String(trouble)).toContain("no valid JSON");
      return frames;
    };
    expect(await told([text])).toEqual(await told(Array.from(text)));
    expect(await told([text])).toHaveLength(2);
  });

  it("are refused when one event has no end", async () => {
    const endless = function* (): Generator<Uint8Array> {
      yield bytesOf("data: ");
      for (;;) yield new Uint8Array(2 ** 24).fill(0x78);
    };
    const { frames, trouble } = await toldOf(createSseParser, endless());
    expect(String(trouble)).toContain("longer than");
    expect(frames).toEqual([]);
  });
});

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString("utf8"),
  (text) => bytesOf(text),
);

const message = (kind: "event" | "exception", name: string, body: unknown): Uint8Array =>
  codec.encode({
    headers: {
      ":message-type": { type: "string", value: kind },
      [`:${kind}-type`]: { type: "string", value: name },
      ":content-type": { type: "string", value: "application/json" },
    },
    body: bytesOf(JSON.stringify(body)),
  });

const joined = (parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

describe("Amazon's event stream", () => {
  const stream = joined([
    message("event", "messageStart", { role: "assistant" }),
    message("event", "contentBlockDelta", { delta: { text: "Grüße 👋" }, p: "abc" }),
    message("exception", "throttlingException", { message: "slow down" }),
  ]);
  const expected = [
    { name: "messageStart", data: { role: "assistant" } },
    { name: "contentBlockDelta", data: { delta: { text: "Grüße 👋" }, p: "abc" } },
    { name: "throttlingException", data: { message: "slow down" } },
  ];

  it("is the same however the bytes are split", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(stream.length), { maxLength: 12 }), async (cuts) => {
        const at = [0, ...cuts.toSorted((one, other) => one - other), stream.length];
        const chunks = at.slice(1).map((end, index) => stream.subarray(at[index], end));
        expect(await framesOf(createEventStreamParser, chunks)).toEqual(expected);
      }),
      { numRuns: 200 },
    );
    expect(
      await framesOf(
        createEventStreamParser,
        [...stream].map((byte) => Uint8Array.of(byte)),
      ),
    ).toEqual(expected);
  });

  it("ends quietly where it is cut, without the message that was not whole", async () => {
    expect(await framesOf(createEventStreamParser, [stream.subarray(0, stream.length - 1)])).toEqual(
      expected.slice(0, 2),
    );
  });

  it("is refused when a byte was changed", async () => {
    const damaged = stream.slice();
    damaged[40] = (damaged[40] ?? 0) ^ 1;
    await expect(framesOf(createEventStreamParser, [damaged])).rejects.toThrow("damaged");
  });

  it("is parsed up to the damaged message, wherever the bytes are split", async () => {
    const damaged = stream.slice();
    damaged[damaged.length - 6] = (damaged.at(-6) ?? 0) ^ 1;
    const told = await toldOf(createEventStreamParser, [damaged]);
    expect(told.frames).toEqual(expected.slice(0, 2));
    expect(String(told.trouble)).toContain("damaged");
    expect(
      await toldOf(
        createEventStreamParser,
        [...damaged].map((byte) => Uint8Array.of(byte)),
      ),
    ).toEqual(told);
  });

  it("is refused when it claims an absurd length, or is no event stream at all", async () => {
    await expect(framesOf(createEventStreamParser, [bytesOf("<html>not a stream</html>")])).rejects.toThrow(
      "bytes long",
    );
    await expect(framesOf(createEventStreamParser, [Uint8Array.of(0, 0, 0, 3, 0)])).rejects.toThrow("bytes long");
  });
});
