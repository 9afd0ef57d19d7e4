import { beforeAll, describe, expect, it } from "vitest";
import { text } from "../../src/conversation/builders.ts";
import type { Conversation } from "../../src/conversation/entry.ts";
import { findProvider } from "../../src/providers/find.ts";
import { listSimulatedProviders } from "../../src/sim/registry.ts";
import type { SimFault } from "../../src/sim/faults/fault.ts";
import { createSimulator, type Simulator } from "../../src/sim/simulator.ts";
import { createRequestSigner } from "../../src/transport/credentials/request-signer.ts";
import { openTransport, type Transport } from "../../src/transport/transport.ts";
import { readBodyText } from "../../src/world/net.ts";
import { simulatedWorld, type SimulatedWorld } from "../../src/world/simulated/world.ts";
import { sendConversation, everyKey, type ExchangeOutcome } from "../support/exchange.ts";

/*
 * Ten bad minutes, everywhere at once, in simulated time. We add hardly
 * anything to the load, keep every promise to wait, and recover.
 */

const names = listSimulatedProviders();
const stormEnd = 600_000;

/** A request as the servers saw it: its turn, its time, and the delay they asked for. */
type Seen = { readonly turn: string; readonly provider: string; readonly at: number; readonly floor: number };

type StormSetup = {
  readonly world: SimulatedWorld;
  readonly transport: Transport;
  readonly seen: readonly Seen[];
};

/** The errors of servers in a storm. */
const stormFaults: readonly SimFault[] = [
  { type: "status", status: 429, headers: { "retry-after": "7" } },
  { type: "status", status: 429, headers: { "retry-after-ms": "2500" } },
  { type: "status", status: 429 },
  { type: "status", status: 503 },
  { type: "status", status: 529 },
];

/** One world with every provider in it. `weather` says what goes wrong with a request, by its number and the time. */
const setUpStorm = (weather: (number: number, elapsed: number) => SimFault | undefined): StormSetup => {
  const seen: Seen[] = [];
  const servers = new Map<string, Simulator>();
  const serverFor = (provider: string, fault: SimFault | undefined): Simulator => {
    const key = `${provider} ${JSON.stringify(fault ?? "fine")}`;
    const made =
      servers.get(key) ?? createSimulator({ provider, ...(fault === undefined ? {} : { faults: [{ fault }] }) });
    servers.set(key, made);
    return made;
  };
  const hosts = names.map((id) => ({ id, host: createSimulator({ provider: id }).provider.host }));
  let number = 0;
  const world: SimulatedWorld = simulatedWorld({
    env: everyKey,
    start: 1_800_000_000_000,
    answer: async (request, signal) => {
      const at = world.clock.elapsed();
      const host = new URL(request.url).host;
      const said = typeof request.body === "string" ? request.body : new TextDecoder().decode(request.body);
      const [turn = "", provider = ""] = /turn \d+ to ([a-z-]+)/.exec(said) ?? [];
      if (!hosts.some(({ id, host: pattern }) => id === provider && pattern.test(host)))
        throw new Error(`${turn} went to ${host}`);
      const response = await serverFor(provider, weather(number++, at)).handle(request, signal);
      if (response.status === 200) {
        seen.push({ turn, provider, at, floor: 0 });
        return response;
      }
      const body = await readBodyText(response);
      seen.push({ turn, provider, at, floor: floorIn(response.headers, body) });
      return { ...response, body: bytesOf(body) };
    },
  });
  return { world, transport: openTransport({ world, signer: createRequestSigner(world) }), seen };
};

// oxlint-disable-next-line require-await
const bytesOf = async function* (body: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(body);
};

/** The delay a response asks for: in its headers, or in Google's format. */
const floorIn = (headers: Readonly<Record<string, string>>, body: string): number => {
  const ms = headers["retry-after-ms"];
  const seconds = headers["retry-after"] ?? /"retryDelay":\s*"([\d.]+)s"/.exec(body)?.[1];
  if (ms !== undefined) return Number(ms);
  return seconds === undefined ? 0 : Number(seconds) * 1000;
};

const turnOf = ({ transport }: StormSetup, number: number, provider: string): Promise<ExchangeOutcome> => {
  const words = `turn ${number} to ${provider}`;
  const conversation: Conversation = { version: 1, entries: [{ type: "user", parts: [text(words)] }], blobs: {} };
  return sendConversation(transport, findProvider(provider), conversation);
};

const providerFor = (number: number): string => names[number % names.length] ?? "";

/** The requests of each turn that had more than one, as waits between them. */
const pairs = (
  seen: readonly Seen[],
): readonly { readonly turn: string; readonly wait: number; readonly floor: number }[] => {
  const last = new Map<string, Seen>();
  return seen.flatMap((request) => {
    const before = last.get(request.turn);
    last.set(request.turn, request);
    return before === undefined ? [] : [{ turn: request.turn, wait: request.at - before.at, floor: before.floor }];
  });
};

// A simulated clock must not run while a module is being loaded.
beforeAll(async () => {
  const sky = setUpStorm(() => undefined);
  for (const [number, name] of names.entries()) await sky.world.run(turnOf(sky, number, name));
});

describe("a storm of ten minutes over a thousand turns with everyone", () => {
  const turns = 1000;
  let sky: StormSetup;
  let ends: readonly ExchangeOutcome[];
  beforeAll(async () => {
    sky = setUpStorm((number, elapsed) =>
      elapsed >= stormEnd ? undefined : stormFaults[(number * 7) % stormFaults.length],
    );
    const all = Array.from({ length: turns }, async (_, number) => {
      await sky.world.clock.sleep((number * stormEnd) / turns);
      return turnOf(sky, number, providerFor(number));
    });
    ends = await sky.world.run(Promise.all(all));
  });

  it("is answered with hardly more requests than there were turns", () => {
    expect(new Set(sky.seen.map(({ turn }) => turn)).size).toBe(turns);
    expect(sky.seen.length / turns).toBeLessThanOrEqual(1.1);
    expect(sky.seen.length).toBeGreaterThan(turns);
  });

  it("ends every turn with an answer or a failure that says what it was", () => {
    const kinds = new Set(ends.map(({ failure }) => failure?.kind ?? "answered"));
    expect([...kinds].filter((kind) => !["answered", "rate-limited", "overloaded"].includes(kind))).toEqual([]);
  });

  it("keeps every wait it is asked for", () => {
    const broken = pairs(sky.seen).filter(({ wait, floor }) => wait < floor);
    expect(broken).toEqual([]);
    expect(pairs(sky.seen).some(({ floor }) => floor >= 2500)).toBe(true);
  });

  it("is over when it is over: everyone answers again, at the first request", async () => {
    await sky.world.run(sky.world.clock.sleep(Math.max(0, stormEnd - sky.world.clock.elapsed())));
    const before = sky.seen.length;
    for (let number = 0; number < 40; number++) {
      const went = await sky.world.run(turnOf(sky, turns + number, providerFor(number)));
      expect(went.failure).toBeUndefined();
    }
    expect(sky.seen.length - before).toBe(40);
  });
});

describe("after a storm", () => {
  it("another attempt is made again", async () => {
    let isStormy = true;
    let isHiccup = false;
    const sky = setUpStorm(() => {
      if (isStormy) return { type: "status", status: 529 };
      const fault: SimFault | undefined = isHiccup ? { type: "status", status: 529 } : undefined;
      isHiccup = false;
      return fault;
    });
    const turn = (number: number): Promise<ExchangeOutcome> => sky.world.run(turnOf(sky, number, providerFor(number)));
    const requestsOf = async (number: number): Promise<number> => {
      const before = sky.seen.length;
      await turn(number);
      return sky.seen.length - before;
    };

    for (let number = 0; number < 30; number++) await turn(number);
    expect(await requestsOf(30)).toBe(1);

    isStormy = false;
    for (let number = 31; number < 61; number++) expect(await requestsOf(number)).toBe(1);
    isHiccup = true;
    expect(await requestsOf(61)).toBe(2);
  });
});

describe("a clock that jumps while we wait", () => {
  const asks: readonly SimFault[] = [
    { type: "status", status: 429, headers: { "retry-after": "9" } },
    { type: "status", status: 529 },
    { type: "status", status: 429, headers: { "retry-after-ms": "4000" } },
  ];

  /** When the requests of one turn left, if the time of day jumps in the middle of each wait. */
  const timesWith = async (name: string, jump: number): Promise<readonly number[]> => {
    const sky = setUpStorm((number) => asks[number]);
    const turn = turnOf(sky, 1, name);
    const jumping = async (): Promise<void> => {
      for (const _ of asks) {
        await sky.world.clock.sleep(2000);
        sky.world.shiftWallClock(jump);
      }
    };
    await sky.world.run(Promise.all([turn, jumping()]));
    return sky.seen.map(({ at }) => at);
  };

  it.each(names)("does not change how long we wait for %s", async (name) => {
    const expected = await timesWith(name, 0);
    expect(expected).toHaveLength(4);
    expect(await timesWith(name, -3_600_000)).toEqual(expected);
    expect(await timesWith(name, 86_400_000)).toEqual(expected);
  });
});
