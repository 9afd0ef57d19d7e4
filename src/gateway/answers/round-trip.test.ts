import { describe, expect, it } from "vitest";
import type { Seal } from "../../conversation/parts.ts";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";
import type { ResponsePart } from "../../wire/decode/events.ts";
import { answerEncoders } from "./encoders.ts";
import {
  bareParts,
  contextFor,
  decodeComplete,
  decodeStream,
  encodeStream,
  eventsFor,
  inboundApis,
  partsIn,
  someParts,
  someUsage,
  unwrapCargo,
} from "./round-trip.cases.ts";

const splits = fc.record({ numbers: fc.array(fc.nat(9), { maxLength: 5 }), isParallel: fc.boolean() });

/** The words for an answer and for a call. The Responses API has none. */
const endWords: Readonly<Record<(typeof inboundApis)[number], readonly (readonly string[])[]>> = {
  anthropic: [["end_turn"], ["tool_use"]],
  "openai-chat": [["stop"], ["tool_calls"]],
  gemini: [["STOP"], ["STOP"]],
  "openai-responses": [[], []],
};

describe.each(inboundApis)("an answer in the %s API", (api) => {
  it("has all content of the response, in order, however it is split", async () => {
    await fc.assert(
      fc.asyncProperty(someParts, splits, fc.integer({ min: 1, max: 50 }), async (parts, way, size) => {
        const events = await decodeStream(api, encodeStream(api, eventsFor(parts, way)), size);
        expect(bareParts(partsIn(events))).toEqual(bareParts(parts));
        expect(events.at(-1)).toMatchObject({
          type: "finish",
          reason: parts.some(({ type }) => type === "call") ? "calls" : "stop",
        });
        expect(events.filter(({ type }) => type === "skipped" || type === "malformed" || type === "error")).toEqual([]);
      }),
      { numRuns: runsPerTier(1000) },
    );
  });

  it("has calls with different ids, even if the target repeats one", () => {
    const call = {
      type: "call",
      tool: "look",
      input: { value: {} },
      seal: { id: "toolu_01ABCDEFGHIJKLMNOPQRSTUV" },
    } as const;
    const body = answerEncoders[api].encodeComplete(
      contextFor(),
      eventsFor([call, call, call], { numbers: [], isParallel: false }),
    );
    const ids = partsIn(decodeComplete(api, body)).map((part) => part.type === "call" && part.seal?.id);
    expect(ids[0]).toBe(call.seal.id);
    expect(new Set(ids).size).toBe(3);
  });

  it("ends with the API's own word for the reason, which clients act on", () => {
    const call = { type: "call", tool: "look", input: { value: { path: "a" } } } as const;
    const endOf = (...parts: readonly ResponsePart[]): readonly string[] => {
      const text = encodeStream(api, eventsFor(parts, { numbers: [], isParallel: false }));
      return [...text.matchAll(/"(?:stop_reason|finish_reason|finishReason)":"(\w+)"/g)].map(([, word]) => word!);
    };
    expect([endOf({ type: "text", text: "Hi." }), endOf(call)]).toEqual(endWords[api]);
  });

  it("has the same content when it is complete", () => {
    fc.assert(
      fc.property(someParts, splits, (parts, way) => {
        const body = answerEncoders[api].encodeComplete(contextFor(), eventsFor(parts, way));
        expect(bareParts(inOrderOf(api, partsIn(decodeComplete(api, body))))).toEqual(bareParts(inOrderOf(api, parts)));
      }),
      { numRuns: runsPerTier(500) },
    );
  });

  it("reports the usage, and the model the client asked for", async () => {
    const text = encodeStream(api, eventsFor([{ type: "text", text: "Hi." }], { numbers: [], isParallel: false }));
    const events = await decodeStream(api, text);
    const cachedWrite = api === "gemini" ? 0 : someUsage.cachedWrite;
    expect(events.findLast(({ type }) => type === "usage")).toEqual({
      type: "usage",
      usage: { ...someUsage, cachedWrite },
    });
    expect(events[0]).toMatchObject({ type: "response-start", model: "the-model-asked-for" });
  });

  it("gives every seal to the client, once", async () => {
    await fc.assert(
      fc.asyncProperty(someParts, splits, async (parts, way) => {
        const text = encodeStream(api, eventsFor(parts, way));
        expect(carriedSeals(text).toSorted()).toEqual(sealsOf(api, parts).toSorted());
      }),
      { numRuns: runsPerTier(300) },
    );
  });

  it("has no thinking where the client takes none, and no text of it where it takes a seal", async () => {
    const parts: readonly ResponsePart[] = [
      { type: "thinking", text: "secret", seal: { signature: "c2VhbA==" } },
      { type: "text", text: "Hi." },
    ];
    const events = eventsFor(parts, { numbers: [3], isParallel: false });
    const without = encodeStream(api, events, contextFor({ thinking: "none" }));
    const sealed = encodeStream(api, events, contextFor({ thinking: "sealed" }));
    expect(bareParts(partsIn(await decodeStream(api, without)))).toEqual([{ type: "text", text: "Hi." }]);
    expect(bareParts(partsIn(await decodeStream(api, sealed)))).toEqual([{ type: "text", text: "Hi." }]);
    expect(without + sealed).not.toContain("sec");
    const carried = wrappedFields(sealed).map(unwrapCargo);
    expect(JSON.stringify(carried)).toContain('"secret"');
  });

  it("stays the same stream with pings anywhere", async () => {
    await fc.assert(
      fc.asyncProperty(someParts, splits, async (parts, way) => {
        const stream = answerEncoders[api].openStream(contextFor());
        const text = eventsFor(parts, way).map((event) => stream.ping() + stream.push(event));
        const events = await decodeStream(api, text.join("") + stream.end());
        expect(bareParts(partsIn(events))).toEqual(bareParts(parts));
      }),
      { numRuns: runsPerTier(200) },
    );
  });
});

/** A complete chat message has one place each for reasoning, text and calls. */
const inOrderOf = (api: string, parts: readonly ResponsePart[]): readonly ResponsePart[] =>
  api === "openai-chat"
    ? ["thinking", "text", "call"].flatMap((type) => parts.filter((part) => part.type === type))
    : parts;

/** The fields of a stream that carry wrapped seals. */
const wrappedFields = (text: string): readonly string[] =>
  [...text.matchAll(/"(?:signature|encrypted_content|thoughtSignature|data)":"([^"]+)"/g)].map(([, field]) => field!);

const carriedSeals = (text: string): readonly string[] =>
  [...new Set(wrappedFields(text))].flatMap((field) => {
    const { seal, next, previous, thinking, before = [] } = unwrapCargo(field);
    return [seal, next, previous, thinking, ...before.map((part) => part.seal)].flatMap(sealText);
  });

const sealText = (seal: Seal | undefined): readonly string[] =>
  seal?.signature === undefined && seal?.encrypted === undefined ? [] : [JSON.stringify(seal)];

/** Thinking after the last call and text has no place in Gemini's answers. */
const sealsOf = (api: string, parts: readonly ResponsePart[]): readonly string[] => {
  const last = api === "gemini" ? parts.findLastIndex(({ type }) => type !== "thinking") : parts.length;
  const seals = parts
    .slice(0, last + 1)
    .flatMap((part) => (part.type === "file" || part.type === "code" ? [] : sealText(part.seal)));
  return [...new Set(seals)];
};
