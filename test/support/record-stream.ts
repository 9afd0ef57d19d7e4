import { text } from "../../src/conversation/builders.ts";
import type { Conversation } from "../../src/conversation/entry.ts";
import { findProvider } from "../../src/providers/find.ts";
import type { FaultPlan } from "../../src/sim/faults/fault.ts";
import type { ScriptReply } from "../../src/sim/model/script.ts";
import { createSimulator } from "../../src/sim/simulator.ts";
import type { ContentEvent } from "../../src/transport/events.ts";
import { sendAttempt } from "../../src/transport/stream/attempt.ts";
import { retryPolicy } from "../../src/transport/retry/policy.ts";
import { createEventStreamParser, createSseParser } from "../../src/transport/stream/frames.ts";
import { AttemptError } from "../../src/transport/retry/attempt-error.ts";
import { createRequestSigner } from "../../src/transport/credentials/request-signer.ts";
import type { BoundWire } from "../../src/wire/bind.ts";
import { composeRequest } from "../../src/wire/compose.ts";
import type { StreamFrame } from "../../src/wire/decode/events.ts";
import type { HttpRequest, HttpResponse } from "../../src/world/net.ts";
import { simulatedWorld } from "../../src/world/simulated/world.ts";
import type { Clock } from "../../src/world/world.ts";
import { everyKey } from "./exchange.ts";

/** A response of a simulated provider, as bytes. */
export type RecordedStream = {
  readonly id: string;
  readonly wire: BoundWire;
  readonly request: HttpRequest;
  readonly status: number;
  readonly headers: HttpResponse["headers"];
  readonly bytes: Uint8Array;
  /** Byte offsets where each event begins, and where the last one ends. */
  readonly edges: readonly number[];
};

const promptConversation: Conversation = {
  version: 1,
  system: "Be brief.",
  tools: [
    { name: "look", description: "Looks.", parameters: { type: "object", properties: { at: { type: "string" } } } },
  ],
  entries: [{ type: "user", parts: [text("Look at both.")] }],
  blobs: {},
};

/** Sends one request to a provider's simulator and records the bytes of its stream. */
export const recordStream = async (id: string, reply: ScriptReply, faults: FaultPlan = []): Promise<RecordedStream> => {
  const provider = findProvider(id);
  const model = provider.defaultModel;
  const world = simulatedWorld({ env: everyKey, start: 1_800_000_000_000 });
  const script = { rules: [{ replies: [reply] }] };
  const simulator = createSimulator({ provider: id, script, faults, now: world.clock.now });
  const { wire } = provider.destination(model);
  const settings = { stream: true, thinking: { effort: "medium" } } as const;
  const { body } = composeRequest(promptConversation, provider.destination(model), { settings });
  const request = await createRequestSigner(world).prepare({ provider, model }, { body, stream: true, renew: false });
  const { status, headers, body: answer } = await simulator.handle(request);
  const chunks: Uint8Array[] = [];
  const edges = [0];
  for await (const chunk of answer) {
    chunks.push(chunk);
    edges.push((edges.at(-1) ?? 0) + chunk.length);
  }
  return { id, wire, request, status, headers, bytes: Buffer.concat(chunks), edges };
};

/** A decoded recording: every event, and the kind of failure if it did not finish. */
export type DecodedRecording = { readonly events: readonly ContentEvent[]; readonly failure: string | undefined };

/** Decodes a recording as the transport does, split into the given chunks. */
export const decodeRecording = async (
  { id, wire, request, status, headers }: RecordedStream,
  chunks: readonly Uint8Array[],
): Promise<DecodedRecording> => {
  const net = { send: async (): Promise<HttpResponse> => ({ status, headers, body: streamOf(chunks) }) };
  const who = { provider: id, label: id };
  const events: ContentEvent[] = [];
  try {
    for await (const some of sendAttempt({
      world: { net, clock },
      request,
      number: 1,
      wire,
      who,
      policy: retryPolicy,
      signal: undefined,
    }))
      for (const event of some) if (event.type !== "request") events.push(event);
    return { events, failure: undefined };
  } catch (error) {
    if (!(error instanceof AttemptError)) throw error;
    return { events, failure: error.classification.failure.kind };
  }
};

/** Parses the frames of a recording, split into the given chunks. */
export const framesIn = async (
  { wire }: RecordedStream,
  chunks: readonly Uint8Array[],
): Promise<readonly StreamFrame[]> => {
  const { push, end } = await (wire.id === "bedrock" ? createEventStreamParser() : createSseParser());
  return [...chunks.map(push), end()].flatMap(({ frames, error: trouble }) => {
    if (trouble !== undefined) throw trouble;
    return frames;
  });
};

/** Splits bytes at these offsets. */
export const cutAt = (bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] => {
  const edges = [0, ...places.toSorted((one, other) => one - other), bytes.length];
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
};

// oxlint-disable-next-line require-await
const streamOf = async function* (chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
};

/** A clock that stands still. */
const clock: Clock = {
  now: () => 0,
  elapsed: () => 0,
  after: () => () => undefined,
  sleep: () => new Promise(() => undefined),
};
