import { describe, expect, it } from "vitest";
import { readBodyText, NetError, type HttpResponse } from "../../world/net.ts";
import { simulatedWorld } from "../../world/simulated/world.ts";
import { ask, post } from "../anthropic/client.cases.ts";
import { faultsFor, randomFaults, type SimFault, type FaultPlan } from "./fault.ts";
import { createSimulator, type SimulatorOptions } from "../simulator.ts";

const request = post(ask("count to three please", { stream: true }));

const send = async (fault: SimFault, options: Partial<SimulatorOptions> = {}): Promise<HttpResponse> =>
  createSimulator({ provider: "anthropic", now: () => 0, faults: [{ fault }], ...options }).handle(request);

const text = async (fault: SimFault, options: Partial<SimulatorOptions> = {}): Promise<string> =>
  readBodyText(await send(fault, options));

/** The received body, and the error it ends with. */
const received = async (
  fault: SimFault,
  options: Partial<SimulatorOptions> = {},
): Promise<readonly [string, unknown]> => {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of (await send(fault, options)).body) chunks.push(chunk);
    return [Buffer.concat(chunks).toString(), undefined];
  } catch (error) {
    return [Buffer.concat(chunks).toString(), error];
  }
};

const untouched = await text({ type: "delay-body", ms: 0 }, { sleep: async () => undefined });
const events = untouched.match(/event: .*\ndata: .*\n\n/g) ?? [];

describe("connection faults", () => {
  it("refuse the connection", async () => {
    const error: unknown = await send({ type: "refuse-connection" }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NetError);
    expect(error).toMatchObject({ at: "connect", code: "ECONNREFUSED" });
  });

  it("never answer until the caller aborts", async () => {
    const leaving = new AbortController();
    const simulator = createSimulator({ provider: "anthropic", faults: [{ fault: { type: "never-answer" } }] });
    const answer = simulator.handle(request, leaving.signal);
    leaving.abort(new Error("enough"));
    await expect(answer).rejects.toThrow("enough");
  });

  it("break it at any byte, after delivering everything before", async () => {
    for (const at of [0, 1, 57, untouched.length - 1]) {
      const [got, error] = await received({ type: "cut", at });
      expect(got).toBe(untouched.slice(0, at));
      expect(error).toMatchObject({ at: "broken", code: "ECONNRESET" });
    }
  });

  it("truncate the body at any byte without an error", async () => {
    for (const at of [0, 1, 57, untouched.length - 1])
      expect(await received({ type: "truncate", at })).toEqual([untouched.slice(0, at), undefined]);
  });

  it("lose the end of a compressed response", async () => {
    const { headers } = await send({ type: "gzip-cut", at: 57 });
    expect(headers["content-encoding"]).toBe("gzip");
    const [got, error] = await received({ type: "gzip-cut", at: 57 });
    expect([got, error]).toEqual([
      untouched.slice(0, 57),
      expect.objectContaining({ at: "broken", code: "Z_BUF_ERROR" }),
    ]);
  });

  it("choose an omitted byte by the seed: the same for the same seed", async () => {
    const lengths = await Promise.all(
      [1, 1, 2, 3, 4].map(async (seed) => (await received({ type: "cut" }, { seed }))[0].length),
    );
    expect(lengths[0]).toBe(lengths[1]);
    expect(new Set(lengths).size).toBe(4);
  });
});

describe("delay faults", () => {
  const waits = async (fault: SimFault): Promise<readonly number[]> => {
    const slept: number[] = [];
    await text(fault, { sleep: async (ms) => void slept.push(ms) });
    return slept;
  };

  it("delay the headers, the first byte, or every chunk", async () => {
    expect(await waits({ type: "delay-headers", ms: 70 })).toEqual([70]);
    expect(await waits({ type: "delay-body", ms: 80 })).toEqual([80]);
    expect(await waits({ type: "drip", ms: 5 })).toEqual(Array.from({ length: events.length - 1 }, () => 5));
  });

  it("run on a virtual clock, and end when the caller aborts", async () => {
    const world = simulatedWorld();
    const simulator = createSimulator({
      provider: "anthropic",
      sleep: world.clock.sleep,
      faults: [
        { on: 1, fault: { type: "delay-headers", ms: 3_600_000 } },
        { on: 2, fault: { type: "drip", ms: 1000 } },
      ],
    });
    await world.run(simulator.handle(request).then(readBodyText));
    expect(world.clock.elapsed()).toBe(3_600_000);
    const leaving = new AbortController();
    const response = await simulator.handle(request, leaving.signal);
    const reading = (async () => {
      for await (const _ of response.body) leaving.abort(new Error("gone"));
    })();
    await expect(world.run(reading)).rejects.toThrow("gone");
  });
});

describe("stream faults", () => {
  const changed = async (fault: SimFault): Promise<readonly string[]> =>
    (await text(fault)).match(/event: .*\ndata: .*\n\n/g) ?? [];

  it("repeat, swap or drop an event", async () => {
    const [first = "", second = "", third = "", ...rest] = events;
    expect(await changed({ type: "duplicate", event: 1 })).toEqual([first, second, second, third, ...rest]);
    expect(await changed({ type: "swap", event: 1 })).toEqual([first, third, second, ...rest]);
    expect(await changed({ type: "drop", event: 1 })).toEqual([first, third, ...rest]);
  });

  it("change one byte", async () => {
    const got = await text({ type: "corrupt", at: 40 });
    expect(got.length).toBe(untouched.length);
    expect(got.split("").flatMap((letter, at) => (letter === untouched[at] ? [] : [at]))).toEqual([40]);
  });

  it("insert an event of invalid JSON, or a line of any length", async () => {
    const [first = "", ...rest] = events;
    expect(await text({ type: "malformed-event", after: 1 })).toBe(`${first}data: {"type": \n\n${rest.join("")}`);
    const huge = await text({ type: "huge-line", bytes: 1_000_000, after: 1 });
    expect(huge.length).toBe(untouched.length + 1_000_000);
    expect(huge.slice(first.length, first.length + 14)).toBe('data: {"x":"xx');
  });

  it("send the vendor's error event after a number of events, and end", async () => {
    const got = await changed({ type: "stream-error", after: 3 });
    expect(got.slice(0, -1)).toEqual(events.slice(0, 3));
    expect(got.at(-1)).toMatch(
      /^event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_\w+"}\n\n$/,
    );
  });

  it("append garbage after the end", async () => {
    expect(await text({ type: "garbage", text: "<html>" })).toBe(`${untouched}<html>`);
    expect((await text({ type: "garbage" })).startsWith(untouched)).toBe(true);
  });

  it("split it into chunks of any size", async () => {
    const sizes: number[] = [];
    for await (const { length } of (await send({ type: "slice", bytes: 1 })).body) sizes.push(length);
    expect(sizes).toEqual(Array.from({ length: untouched.length }, () => 1));
  });

  it("send very many small events, even beyond max_tokens", async () => {
    const got = await text({ type: "tiny-events", count: 20_000 });
    expect(got.match(/text_delta/g)).toHaveLength(20_000);
  });

  it("do not change complete responses", async () => {
    const whole = { ...request, body: JSON.stringify(ask("hi")) };
    const faults: FaultPlan = [
      { fault: { type: "duplicate" } },
      { fault: { type: "stream-error" } },
      { fault: { type: "drop" } },
    ];
    const response = await createSimulator({ provider: "anthropic", faults }).handle(whole);
    expect(JSON.parse(await readBodyText(response))).toMatchObject({ stop_reason: "end_turn" });
  });
});

describe("response faults", () => {
  it("send a status in the vendor's envelope, with headers", async () => {
    const response = await send({ type: "status", status: 429, headers: { "retry-after": "7" } });
    expect([response.status, response.headers["retry-after"]]).toEqual([429, "7"]);
    expect(JSON.parse(await readBodyText(response))).toMatchObject({
      error: { type: "rate_limit_error", message: "Rate limit reached. Please try again later." },
    });
  });

  it("distinguish an exhausted quota from a rate limit", async () => {
    const response = await send({ type: "status", status: 429, kind: "quota" });
    expect(JSON.parse(await readBodyText(response))).toMatchObject({
      error: { details: { error_code: "enforced_spend_limit_reached" } },
    });
  });

  it("redirect, or send a wrong content type", async () => {
    const moved = await send({ type: "redirect", to: "https://elsewhere.example" });
    expect([moved.status, moved.headers["location"]]).toEqual([307, "https://elsewhere.example/v1/messages"]);
    expect((await send({ type: "content-type", value: "text/html" })).headers["content-type"]).toBe("text/html");
  });

  it("are in the log, with the result of the request", async () => {
    const simulator = createSimulator({
      provider: "anthropic",
      faults: [
        { on: 1, fault: { type: "status", status: 503 } },
        { on: 2, fault: { type: "cut" } },
        { on: 4, fault: { type: "refuse-connection" } },
      ],
    });
    await simulator.handle(request);
    await simulator.handle(request);
    await simulator.handle(request);
    await simulator.handle(request).catch(() => undefined);
    expect(simulator.log.map(({ faults, verdict, status }) => [faults, verdict, status])).toEqual([
      [["status"], "refused", 503],
      [["cut"], "accepted", 200],
      [[], "accepted", 200],
      [["refuse-connection"], "refused", 0],
    ]);
  });
});

describe("a fault plan", () => {
  it("selects requests by number, list or range", () => {
    const cut: SimFault = { type: "cut" };
    const plan = (on?: FaultPlan[number]["on"]): FaultPlan => [{ fault: cut, ...(on === undefined ? {} : { on }) }];
    const hit = (on?: FaultPlan[number]["on"]): readonly number[] =>
      [1, 2, 3, 4, 5, 6].filter((ordinal) => faultsFor(plan(on), ordinal).length > 0);
    expect(hit()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(hit(2)).toEqual([2]);
    expect(hit([1, 4])).toEqual([1, 4]);
    expect(hit({ from: 3 })).toEqual([3, 4, 5, 6]);
    expect(hit({ from: 2, to: 5, every: 2 })).toEqual([2, 4]);
  });

  it("at random is the same for the same seed, is finite, and eventually includes every fault", () => {
    expect(randomFaults(7)).toEqual(randomFaults(7));
    expect(randomFaults(7)).not.toEqual(randomFaults(8));
    expect(faultsFor(randomFaults(7), 7)).toEqual([]);
    const met = new Set(
      Array.from({ length: 100 }, (_, seed) => randomFaults(seed).map(({ fault }) => fault.type)).flat(),
    );
    expect(met.size).toBe(21);
  });
});
