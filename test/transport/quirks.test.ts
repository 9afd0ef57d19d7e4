import { beforeAll, describe, expect, it } from "vitest";
import { text } from "../../src/conversation/builders.ts";
import type { Conversation } from "../../src/conversation/entry.ts";
import type { JsonObject } from "../../src/conversation/json.ts";
import { findProvider } from "../../src/providers/find.ts";
import { lint } from "../../src/rules/lint.ts";
import { quirks } from "../../src/providers/quirks.ts";
import { listSimulatedProviders } from "../../src/sim/registry.ts";
import type { LogEntry } from "../../src/sim/request-log.ts";
import { createSimulator } from "../../src/sim/simulator.ts";
import { createRequestSigner } from "../../src/transport/credentials/request-signer.ts";
import { ProviderError } from "../../src/transport/failure.ts";
import { openTransport, type Transport, type TransportOptions } from "../../src/transport/transport.ts";
import type { Destination } from "../../src/wire/bind.ts";
import type { RequestSettings } from "../../src/wire/wire.ts";
import type { HttpResponse } from "../../src/world/net.ts";
import { simulatedWorld, type SimulatedWorld } from "../../src/world/simulated/world.ts";
import { sendConversation, everyKey, type ExchangeOutcome } from "../support/exchange.ts";
import { recordStream, type RecordedStream } from "../support/record-stream.ts";
import {
  bodyHasKey,
  lateRefusal,
  quirkCases,
  mark,
  noTemperature,
  openai,
  pastConversation,
  bodyIncludes,
  unknownErrors,
  unreadable,
  useCompletionTokens,
} from "../support/refusals.ts";

/*
 * Errors that reveal a quirk: the request is built again, once, and the
 * endpoint is remembered. Errors that reveal no quirk are only reported.
 */

/** Decides about a request; undefined leaves it to the next check, and without any the request is accepted. */
type RefusalCheck = (body: JsonObject) => HttpResponse | undefined;

/** A provider that records the requests it gets. */
type Endpoint = {
  readonly world: SimulatedWorld;
  readonly transport: Transport;
  /** Every body received, in order. */
  readonly bodies: readonly string[];
};

const recorded = new Map<string, RecordedStream>();
beforeAll(async () => {
  for (const name of listSimulatedProviders()) recorded.set(name, await recordStream(name, { say: "Done." }));
});

const endpoint = (name: string, ...judges: readonly RefusalCheck[]): Endpoint => {
  const bodies: string[] = [];
  const world = simulatedWorld({
    env: everyKey,
    start: 1_800_000_000_000,
    answer: async (request): Promise<HttpResponse> => {
      const said = Buffer.from(request.body ?? "").toString();
      bodies.push(said);
      const body = JSON.parse(said) as JsonObject;
      const judged = judges.map((judge) => judge(body)).find((answer) => answer !== undefined);
      return judged ?? answered(name);
    },
  });
  return { world, transport: openTransport({ world, signer: createRequestSigner(world) }), bodies };
};

/** A recorded answer, or a stream of ours in its place. */
const answered = (name: string, stream?: string): HttpResponse => {
  const { status, headers, bytes } = recorded.get(name)!;
  return { status, headers, body: bytesOf(stream === undefined ? bytes : new TextEncoder().encode(stream)) };
};

// oxlint-disable-next-line require-await
const bytesOf = async function* (bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
};

/** Says no, in these words, as long as a request is of this kind. */
const refuseWhen =
  (isWrong: (body: JsonObject) => boolean, said: unknown, status = 400): RefusalCheck =>
  (body) =>
    isWrong(body)
      ? {
          status,
          headers: { "content-type": "application/json" },
          body: bytesOf(new TextEncoder().encode(JSON.stringify(said))),
        }
      : undefined;

const settings = { stream: true, maxTokens: 2000, temperature: 0.5 } as const;

const send = (
  { world, transport }: Endpoint,
  to: string,
  asked: RequestSettings = settings,
): Promise<ExchangeOutcome> => {
  const [name, model] = providerOf(to);
  return world.run(
    sendConversation(transport, findProvider(name), pastConversation(name, model), { model, settings: asked }),
  );
};

const providerOf = (to: string): readonly [name: string, model: string] => {
  const [name = "", ...rest] = to.split("/");
  return [name, rest.length === 0 ? findProvider(name).defaultModel : rest.join("/")];
};

const quirksIn = ({ events }: ExchangeOutcome): readonly string[] =>
  events.flatMap((event) => (event.type === "repaired" ? [event.quirk] : []));
const kindOf = ({ failure, response: answer }: ExchangeOutcome): string => failure?.kind ?? answer?.finish ?? "nothing";

describe("a refusal that teaches something", () => {
  it("has a row for everything there is to learn", () => {
    expect(new Set(quirkCases.map(({ quirk }) => quirk))).toEqual(new Set(Object.keys(quirks)));
  });

  it.each(quirkCases)("$quirk: is learned from $to, once and for good", async (lesson) => {
    const { quirk, to, isWrong, said, status, settings: asked } = lesson;
    const server = endpoint(providerOf(to)[0], refuseWhen(isWrong, said, status));
    const first = await send(server, to, asked);
    expect([quirksIn(first), kindOf(first)]).toEqual([[quirk], "stop"]);
    expect(server.bodies.map((body) => isWrong(JSON.parse(body) as JsonObject))).toEqual([true, false]);

    const second = await send(server, to, asked);
    expect([quirksIn(second), kindOf(second)]).toEqual([[], "stop"]);
    expect(server.bodies).toHaveLength(3);
    expect(server.bodies[2]).toBe(server.bodies[1]);
  });

  it("reports the quirk it learned and the failure that revealed it", async () => {
    const server = endpoint(
      "openai",
      refuseWhen(bodyIncludes(mark), openai(unreadable, null, "invalid_encrypted_content")),
    );
    const { events } = await send(server, "openai");
    expect(events.filter(({ type }) => type === "repaired")).toEqual([
      {
        type: "repaired",
        quirk: "unsealed",
        message: "Rejects the encrypted thinking of earlier responses; sent without it.",
        failure: {
          provider: "openai",
          label: "OpenAI (Responses)",
          kind: "refused",
          status: 400,
          detail: unreadable,
          rules: [],
        },
      },
    ]);
  });

  it("teaches it about that model alone", async () => {
    const server = endpoint("local", refuseWhen(bodyHasKey("temperature"), noTemperature));
    expect(quirksIn(await send(server, "local/qwen3"))).toEqual(["no-sampling"]);
    expect(quirksIn(await send(server, "local/llava"))).toEqual(["no-sampling"]);
    expect(quirksIn(await send(server, "local/qwen3"))).toEqual([]);
  });

  it("may be followed by others, and all are kept", async () => {
    const server = endpoint(
      "local",
      refuseWhen(bodyHasKey("stream_options"), openai("Unrecognized request argument supplied: stream_options")),
      refuseWhen(bodyHasKey("max_tokens"), useCompletionTokens),
      refuseWhen(bodyHasKey("temperature"), noTemperature),
    );
    const went = await send(server, "local");
    expect(quirksIn(went)).toEqual(["no-stream-options", "max-completion-tokens", "no-sampling"]);
    expect([kindOf(went), new Set(server.bodies).size]).toEqual(["stop", 4]);
    expect(quirksIn(await send(server, "local"))).toEqual([]);
    expect(server.bodies).toHaveLength(5);
  });

  it("is learned by all who were refused at the same time", async () => {
    const server = endpoint("local", refuseWhen(bodyHasKey("temperature"), noTemperature));
    const both = await Promise.all([send(server, "local"), send(server, "local")]);
    expect(both.map((went) => [quirksIn(went), kindOf(went)])).toEqual([
      [["no-sampling"], "stop"],
      [["no-sampling"], "stop"],
    ]);
    expect(server.bodies).toHaveLength(4);
  });

  it("counts also when it is the first event of a stream", async () => {
    const server = endpoint("openai", (body) =>
      bodyIncludes(mark)(body) ? answered("openai", lateRefusal) : undefined,
    );
    const went = await send(server, "openai");
    expect([quirksIn(went), kindOf(went), server.bodies.length]).toEqual([["unsealed"], "stop", 2]);
  });

  it("comes too late once part of the answer was handed over", async () => {
    const { bytes, edges } = recorded.get("openai")!;
    const begun = new TextDecoder().decode(bytes.subarray(0, edges[5]));
    const server = endpoint("openai", () => answered("openai", begun + lateRefusal));
    const { events, failure } = await send(server, "openai");
    expect(events.map(({ type }) => type)).toContain("text-delta");
    expect(events.map(({ type }) => type)).not.toContain("repaired");
    expect(failure).toMatchObject({ kind: "refused", partial: true });
    expect(server.bodies).toHaveLength(1);
  });
});

describe("a refusal that teaches nothing", () => {
  it.each(unknownErrors)("is reported as received, after one request: $to, $said", async ({ to, said }) => {
    const server = endpoint(
      providerOf(to)[0],
      refuseWhen(() => true, said),
    );
    const went = await send(server, to);
    const sentence = findProvider(providerOf(to)[0]).destination("").wire.decode.parseError(said)?.message;
    expect([quirksIn(went), server.bodies.length]).toEqual([[], 1]);
    expect(went.failure).toMatchObject({ kind: "refused", status: 400, detail: sentence });
  });

  it("is not answered with the same bytes again, whatever it seems to teach", async () => {
    // Nothing was asked for that could be taken out of this one.
    const plain: Conversation = { version: 1, entries: [{ type: "user", parts: [text("Hello.")] }], blobs: {} };
    for (const { quirk, to, said, status } of quirkCases) {
      const [name, model] = providerOf(to);
      const server = endpoint(
        name,
        refuseWhen(() => true, said, status),
      );
      const short = quirk === "short-answers" ? { maxTokens: 1000 } : {};
      const asked = { model, settings: { stream: false, ...short } };
      const went = await server.world.run(sendConversation(server.transport, findProvider(name), plain, asked));
      expect([quirk, to, kindOf(went), server.bodies.length]).toEqual([quirk, to, "refused", 1]);
    }
  });

  it("ends a quarrel that cannot be won, and no bytes are sent twice", async () => {
    const server = endpoint(
      "local",
      refuseWhen(bodyHasKey("max_tokens"), useCompletionTokens),
      refuseWhen(
        bodyHasKey("max_completion_tokens"),
        openai("Unrecognized request argument supplied: max_completion_tokens"),
      ),
    );
    const went = await send(server, "local");
    expect([kindOf(went), quirksIn(went)]).toEqual(["refused", ["max-completion-tokens"]]);
    expect([server.bodies.length, new Set(server.bodies).size]).toEqual([2, 2]);
  });

  it("makes us forget a lesson that did not help", async () => {
    let isBroken = true;
    const server = endpoint(
      "local",
      refuseWhen(() => isBroken, noTemperature),
    );
    expect([kindOf(await send(server, "local")), server.bodies.length]).toEqual(["refused", 2]);
    isBroken = false;
    expect(kindOf(await send(server, "local"))).toBe("stop");
    expect(server.bodies[2]).toBe(server.bodies[0]);
  });
});

describe("our own reading of a refusal", () => {
  const explain: NonNullable<TransportOptions["explain"]> = (body, target) =>
    lint(body, target).flatMap(({ level, rule, pointer, message }) =>
      level === "error" ? [{ rule, pointer, message }] : [],
    );

  it.each(listSimulatedProviders())("names the rule of %s that the request broke", async (name) => {
    const provider = findProvider(name);
    const simulator = createSimulator({ provider: name, now: () => 1_800_000_000_000 });
    const world = simulatedWorld({
      env: everyKey,
      start: 1_800_000_000_000,
      answer: (request, signal) => simulator.handle(request, signal),
    });
    const transport = openTransport({ world, signer: createRequestSigner(world), explain });
    const silent = async (): Promise<unknown> => {
      const model = provider.defaultModel;
      const encode = ({ wire }: Destination): JsonObject =>
        wire.encodeRequest([], { model, tools: [], settings: { stream: true } }).body;
      const body = encode(transport.destination({ provider, model }));
      for await (const _ of transport.send({ provider, model, body, rebuild: encode }));
      return undefined;
    };
    const error = await world.run(silent().catch((thrown: unknown) => thrown));

    if (!(error instanceof ProviderError) || error.failure.kind !== "refused") throw error;
    const [entry, ...others] = simulator.log;
    expect(others).toEqual([]);
    const { message, rule } = entry as Extract<LogEntry, { verdict: "refused" }>;
    expect(error.failure.detail).toContain(message);
    expect(error.failure.rules.map((reading) => reading.rule)).toContain(rule);
    expect(error.message).toContain(`The rule it broke is ${error.failure.rules[0]?.rule} at `);
  });
});
