import { text } from "../../src/conversation/builders.ts";
import type { Conversation } from "../../src/conversation/entry.ts";
import { findProvider } from "../../src/providers/find.ts";
import type { FaultPlan } from "../../src/sim/faults.ts";
import type { Reply } from "../../src/sim/script.ts";
import { createSimulator } from "../../src/sim/simulator.ts";
import { attempt, type Answered } from "../../src/transport/attempt.ts";
import { patience } from "../../src/transport/budget.ts";
import { eventStreamFraming, sseFraming } from "../../src/transport/frames.ts";
import { AttemptError } from "../../src/transport/refusal.ts";
import { openGate } from "../../src/transport/credentials-gate.ts";
import type { BoundWire } from "../../src/wire/bind.ts";
import { compose } from "../../src/wire/compose.ts";
import type { Frame } from "../../src/wire/decode.ts";
import type { HttpRequest, HttpResponse } from "../../src/world/net.ts";
import { simulatedWorld } from "../../src/world/simulated.ts";
import type { Clock } from "../../src/world/world.ts";
import { everyKey } from "./exchange.ts";

/** An answer of a simulated provider as it came over the wire. */
export type Recording = {
  readonly id: string;
  readonly wire: BoundWire;
  readonly request: HttpRequest;
  readonly status: number;
  readonly headers: HttpResponse["headers"];
  readonly bytes: Uint8Array;
  /** Where each event begins, and where the last one ends. */
  readonly edges: readonly number[];
};

const asking: Conversation = {
  version: 1,
  system: "Be brief.",
  tools: [
    { name: "look", description: "Looks.", parameters: { type: "object", properties: { at: { type: "string" } } } },
  ],
  entries: [{ type: "user", parts: [text("Look at both.")] }],
  blobs: {},
};

/** Asks a provider's simulator once, and keeps the bytes of its stream. */
export const record = async (id: string, reply: Reply, faults: FaultPlan = []): Promise<Recording> => {
  const provider = findProvider(id);
  const model = provider.defaultModel;
  const world = simulatedWorld({ env: everyKey, start: 1_800_000_000_000 });
  const script = { rules: [{ replies: [reply] }] };
  const simulator = createSimulator({ provider: id, script, faults, now: world.clock.now });
  const { wire } = provider.destination(model);
  const settings = { stream: true, thinking: { effort: "medium" } } as const;
  const { body } = compose(asking, provider.destination(model), { settings });
  const request = await openGate(world).prepare({ provider, model }, { body, stream: true, renew: false });
  const { status, headers, body: answer } = await simulator.handle(request);
  const chunks: Uint8Array[] = [];
  const edges = [0];
  for await (const chunk of answer) {
    chunks.push(chunk);
    edges.push((edges.at(-1) ?? 0) + chunk.length);
  }
  return { id, wire, request, status, headers, bytes: Buffer.concat(chunks), edges };
};

/** How an answer reads: everything handed over, and the kind of failure where there is no end. */
export type Read = { readonly events: readonly Answered[]; readonly failure: string | undefined };

/** Reads a recording as the transport does, from chunks of our choice. */
export const readAnswer = async (
  { id, wire, request, status, headers }: Recording,
  chunks: readonly Uint8Array[],
): Promise<Read> => {
  const net = { send: async (): Promise<HttpResponse> => ({ status, headers, body: streamOf(chunks) }) };
  const who = { provider: id, label: id };
  const events: Answered[] = [];
  try {
    for await (const some of attempt({ world: { net, clock }, request, wire, who, patience, signal: undefined }))
      events.push(...some);
    return { events, failure: undefined };
  } catch (error) {
    if (!(error instanceof AttemptError)) throw error;
    return { events, failure: error.verdict.failure.kind };
  }
};

/** The frames of a recording, whatever chunks it comes in. */
export const framesIn = async ({ wire }: Recording, chunks: readonly Uint8Array[]): Promise<readonly Frame[]> => {
  const { push, end } = await (wire.id === "bedrock" ? eventStreamFraming() : sseFraming());
  return [...chunks.map(push), end()].flatMap(({ frames, trouble }) => {
    if (trouble !== undefined) throw trouble;
    return frames;
  });
};

/** Bytes cut at these places. */
export const cutAt = (bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] => {
  const edges = [0, ...places.toSorted((one, other) => one - other), bytes.length];
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
};

// oxlint-disable-next-line require-await
const streamOf = async function* (chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
};

/** Time that never passes. */
const clock: Clock = {
  now: () => 0,
  elapsed: () => 0,
  after: () => () => undefined,
  sleep: () => new Promise(() => undefined),
};
