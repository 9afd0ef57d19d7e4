import { describe, expect, it } from "vitest";
import type { openFakeCollector } from "./collector.cases.ts";
import { finished, message, request, usage, user } from "./events.cases.ts";
import { realWorld } from "../world/real/world.ts";
import { openTelemetryFixture } from "./fixture.cases.ts";

describe("a collector", () => {
  const turn = [user("Go."), request(1), message("x"), usage(10, 1), finished];

  it("receives nothing if nothing happened", async () => {
    const { telemetry, collector, clock } = await openTelemetryFixture();
    await telemetry.close();
    expect(collector.requests).toEqual([]);
    expect(clock.sleepers()).toEqual([]);
  });

  it("gets valid ids, whatever the random numbers", async () => {
    const { clock } = await openTelemetryFixture();
    const { telemetry, collector, play } = await openTelemetryFixture({
      world: { clock, random: () => 0, net: realWorld({}).net, env: {} },
    });
    play(...turn);
    await telemetry.close();
    expect(collector.spans().map(({ id }) => id)).toEqual(["0000000000000001", "0000000000000001"]);
  });

  it("receives JSON below its own path, with the sender's resource attributes", async () => {
    const { collector } = await openTelemetryFixture();
    const { telemetry, play } = await openTelemetryFixture({ endpoint: `${collector.url}/` });
    play(...turn);
    await telemetry.close();
    expect(collector.requests.map(({ path, type }) => [path, type])).toEqual(
      expect.arrayContaining(["logs", "traces", "metrics"].map((name) => [`/v1/${name}`, "application/json"])),
    );
    const { resourceSpans } = JSON.parse(collector.requests.find(({ path }) => path === "/v1/traces")?.body ?? "") as {
      resourceSpans: [{ resource: { attributes: { key: string }[] } }];
    };
    expect(resourceSpans[0].resource.attributes.map(({ key }) => key)).toEqual([
      "service.name",
      "service.version",
      "service.instance.id",
    ]);
  });

  it("receives a batch every five seconds, and a large batch at once", async () => {
    const arrived = arrivals(3);
    const { telemetry, collector, play, clock } = await openTelemetryFixture({}, arrived.answer);
    play(...turn);
    expect(clock.sleepers()).toEqual([5000]);
    play(4999);
    expect(collector.requests).toEqual([]);
    play(1);
    await arrived.all;
    expect(collector.spans()).toHaveLength(2);
    const more = arrivals(3);
    arrived.next(more);
    for (let count = 0; count < 200; count++) play(...turn);
    await more.all;
    expect(collector.spans().length).toBeGreaterThan(250);
    await telemetry.close();
    expect(collector.spans()).toHaveLength(402);
    expect(collector.metrics()[0]?.points[0]?.count).toBe(201);
  });

  it("that is busy gets a retry; one that refuses does not, and the failure is reported once", async () => {
    const answers = [503, 503, 503, 200, 200, 200];
    const stage = await openTelemetryFixture({}, (response) => void response.writeHead(answers.shift() ?? 200).end());
    stage.play(...turn, 5000);
    await expect.poll(() => stage.clock.sleepers()).toEqual([10_000]);
    await stage.telemetry.close();
    const bodies = stage.collector.requests.filter(({ path }) => path === "/v1/traces").map(({ body }) => body);
    expect(bodies).toEqual([bodies[0], bodies[0]]);
    expect(stage.collector.requests.map(({ path }) => path).filter((path) => path === "/v1/metrics")).toHaveLength(2);
    expect(stage.errors).toEqual([
      `Cannot deliver telemetry to ${stage.collector.url}: it responded with status 503. The run continues without it.`,
    ]);
    const refusing = await openTelemetryFixture({}, (response) => void response.writeHead(400).end());
    refusing.play(...turn, 5000);
    await expect.poll(() => refusing.errors.length).toBe(1);
    await refusing.telemetry.close();
    expect(refusing.collector.requests).toHaveLength(3);
    expect(refusing.errors).toHaveLength(1);
  });

  it("that is unreachable is reported once", async () => {
    const stage = await openTelemetryFixture({ endpoint: "http://127.0.0.1:1" });
    stage.play(...turn);
    await stage.telemetry.close();
    expect(stage.errors).toEqual([
      "Cannot deliver telemetry to http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1. The run continues without it.",
    ]);
  });

  it("that never responds delays the exit by two seconds at most", async () => {
    const arrived = arrivals(3, () => undefined);
    const stage = await openTelemetryFixture({}, arrived.answer);
    stage.play(...turn);
    const closing = stage.telemetry.close();
    await arrived.all;
    expect(stage.clock.sleepers()).toEqual([2000, 10_000, 10_000, 10_000]);
    stage.play(2000);
    await closing;
    expect(stage.errors).toEqual([
      `Cannot deliver telemetry to ${stage.collector.url}: no response within 2 s. The run continues without it.`,
    ]);
    expect(stage.clock.sleepers()).toEqual([]);
  });

  it("that never responds during a run times out after ten seconds", async () => {
    const arrived = arrivals(3, () => undefined);
    const stage = await openTelemetryFixture({}, arrived.answer);
    stage.play(...turn, 5000);
    await arrived.all;
    stage.play(10_000);
    await expect.poll(() => stage.clock.sleepers()).toEqual([10_000]);
    expect(stage.errors[0]).toContain("no response within 10 s");
  });

  it("that stays unreachable leaves a bounded queue", async () => {
    const { telemetry, collector, play } = await openTelemetryFixture({ logPrompts: true });
    const long = "x".repeat(16_000);
    for (let count = 0; count < 250; count++) play(user(long), request(1), message(long), finished);
    await telemetry.close();
    const size = collector.requests.reduce((all, { body }) => all + body.length, 0);
    expect(size).toBeGreaterThan(7_900_000);
    expect(size).toBeLessThan(8_100_000);
  });
});

/** Settles when so many requests came. */
const arrivals = (
  count: number,
  reply: Parameters<typeof openFakeCollector>[0] = (response) => void response.writeHead(200).end("{}"),
): {
  readonly all: Promise<void>;
  readonly answer: NonNullable<typeof reply>;
  readonly next: (other: { hear: () => void }) => void;
  readonly hear: () => void;
} => {
  let left = count;
  let settle: () => void = () => undefined;
  let following: { hear: () => void } | undefined;
  const all = new Promise<void>((resolve) => (settle = resolve));
  const hear = (): void => {
    if (left === 0) return following?.hear();
    left -= 1;
    if (left === 0) settle();
  };
  return {
    all,
    hear,
    next: (other) => void (following = other),
    answer: (response, path) => {
      hear();
      reply(response, path);
    },
  };
};
