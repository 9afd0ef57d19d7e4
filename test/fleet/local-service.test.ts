import { appendFileSync, cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAgent } from "../../src/agent/open-agent.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { ServiceError } from "../../src/fleet/service-error.ts";
import type { SessionService } from "../../src/fleet/service.ts";
import {
  describeFollowed,
  followToIdle,
  followUntil,
  openServiceStage,
  prompt,
  type ServiceStage,
} from "./service-stage.ts";

let stage: ServiceStage;
beforeEach(() => {
  stage = openServiceStage();
});
afterEach(() => stage.close());

const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "none",
    (error: unknown) => (error instanceof ServiceError ? error.failure.kind : String(error)),
  );

/** Posts a prompt and waits until its turn asks. */
const askFor = async (service: SessionService, words: string, count = 1): Promise<string> => {
  const { id } = await service.create("a", {});
  await service.post("a", id, { command: prompt(words) });
  let asked = 0;
  await followUntil(service, { id }, ({ type }) => type === "asked" && ++asked === count);
  return id;
};

const isParked = (event: { readonly type: string; readonly end?: { readonly type: string } }): boolean =>
  event.type === "turn" && event.end?.type === "parked";

describe("a session on files", () => {
  it("cancels a turn that is being parked", async () => {
    const service = await stage.open({
      openAgent: async (options) => {
        const opened = await openAgent(options);
        const { agent } = opened;
        const cancel = async (): Promise<void> => {
          void agent.park();
          await agent.cancel();
        };
        return { ...opened, agent: { ...agent, cancel } };
      },
    });
    const id = await askFor(service, "write one");
    await service.post("a", id, { command: { type: "cancel" } });
    const events = await followToIdle(service, { id });
    expect(describeFollowed(events).at(-1)).toBe("turn: cancelled");
    expect((await service.read("a", id)).pending).toEqual([]);
  });

  it("takes a prompt back that is cancelled before its turn begins", async () => {
    let release = (): void => undefined;
    const cancelled = new Promise<void>((resolve) => (release = resolve));
    const service = await stage.open({
      openAgent: async (options) => {
        if (options.resume !== undefined) await cancelled;
        return openAgent(options);
      },
    });
    const { id } = await service.create("a", {});
    await service.post("a", id, { command: prompt("write one") });
    await service.post("a", id, { command: { type: "cancel" } });
    await service.post("a", id, { command: prompt("hello") });
    release();
    const events = await followToIdle(service, { id });
    expect(describeFollowed(events).filter((each) => each !== "usage")).toEqual([
      "created",
      "user: hello",
      "message: Hello there.",
      "turn: finished",
    ]);
  });

  it("answers a prompt, and a follower sees every record once and the text as it comes", async () => {
    const service = await stage.open();
    const { id } = await service.create("a", { title: "First" });
    const { sequence } = await service.post("a", id, { command: prompt("hello") });
    const events = await followToIdle(service, { id, isLive: true });

    expect(describeFollowed(events.filter(({ event }) => event.type !== "usage" && event.type !== "text"))).toEqual([
      "created",
      "title: First",
      "user: hello",
      "message: Hello there.",
      "turn: finished",
    ]);
    expect(await service.read("a", id)).toMatchObject({ id, title: "First", state: "idle", pending: [] });
    const later = await followToIdle(service, { id, after: sequence });
    expect(describeFollowed(later)[0]).toBe("user: hello");
    const ids = events.map(({ sequence: each }) => each);
    expect(ids).toEqual(ids.toSorted((one, other) => one - other));
  });

  it("resumes at any event: what follows it is the same", async () => {
    const service = await stage.open();
    const { id } = await service.create("a", {});
    await service.post("a", id, { command: prompt("hello") });
    const all = await followToIdle(service, { id });
    for (const [index, { sequence }] of all.entries())
      expect(await followToIdle(service, { id, after: sequence })).toEqual(all.slice(index + 1));
  });

  it("carries out a command once, however often it is posted with one key", async () => {
    const service = await stage.open();
    const { id } = await service.create("a", {});
    const posts = await Promise.all([1, 2, 3].map(() => service.post("a", id, { command: prompt("hello"), key: "k" })));
    await followToIdle(service, { id });
    const late = await service.post("a", id, { command: prompt("hello"), key: "k" });
    const events = describeFollowed(await followToIdle(service, { id }));

    expect(events.filter((each) => each === "user: hello")).toHaveLength(1);
    expect(posts.filter(({ isDuplicate }) => isDuplicate)).toHaveLength(2);
    expect(late).toMatchObject({ command: posts[0]?.command, isDuplicate: true });
    expect(await failureOf(service.post("a", id, { command: prompt("other"), key: "k" }))).toBe("key-reused");
  });

  it("creates a session once for one key, also after a restart", async () => {
    const service = await stage.open();
    const [one, other] = await Promise.all([
      service.create("a", { key: "k", title: "T" }),
      service.create("a", { key: "k", title: "T" }),
    ]);
    await service.close();
    const next = await stage.open();
    const late = await next.create("a", { key: "k", title: "T" });

    expect([other.id, late.id]).toEqual([one.id, one.id]);
    expect([other.isDuplicate, late.isDuplicate]).toEqual([true, true]);
    expect((await next.list("a")).sessions.map(({ id }) => id)).toEqual([one.id]);
    expect((await next.create("b", { key: "k", title: "T" })).id).not.toBe(one.id);
  });

  it("asks for approval and continues with the answer, in the same turn", async () => {
    const service = await stage.open();
    const id = await askFor(service, "write one");
    const { pending, state } = await service.read("a", id);

    expect([state, stage.file("one.txt")]).toEqual(["running", undefined]);
    expect(pending).toMatchObject([{ call: "hist_tool_1", tool: "write_file", digest: expect.any(String) }]);
    await service.post("a", id, { command: { type: "decide", call: "hist_tool_1", decision: { type: "once" } } });
    const events = describeFollowed(await followToIdle(service, { id }));
    expect(events.slice(-4).filter((each) => each !== "usage")).toEqual([
      "result: hist_tool_1 complete",
      "message: Wrote one.",
      "turn: finished",
    ]);
    expect(stage.file("one.txt")).toBe("1\n");
  });

  it("parks a question that is not answered soon, and another process gets the answer", async () => {
    const service = await stage.open({ parkAfter: 0 });
    const id = await askFor(service, "write both", 2);
    await followUntil(service, { id }, isParked);
    await service.close();
    const next = await stage.open({ parkAfter: 0 });
    const { state, pending } = await next.read("a", id);
    expect([state, pending.map(({ call }) => call)]).toEqual(["parked", ["hist_tool_1", "hist_tool_2"]]);

    await next.post("a", id, {
      command: { type: "decide", call: "hist_tool_2", decision: { type: "once" } },
      key: "second",
    });
    await followToIdle(next, { id });
    expect([stage.file("one.txt"), stage.file("two.txt")]).toEqual([undefined, "2\n"]);
    expect((await next.read("a", id)).pending.map(({ call }) => call)).toEqual(["hist_tool_1"]);

    await next.post("a", id, { command: { type: "decide", call: "hist_tool_1", decision: { type: "refuse" } } });
    const events = describeFollowed(await followToIdle(next, { id }));
    expect(events.at(-1)).toBe("turn: finished");
    expect([stage.file("one.txt"), stage.file("two.txt")]).toEqual([undefined, "2\n"]);
    expect(events.filter((each) => each === "result: hist_tool_2 complete")).toHaveLength(1);
  });

  it("refuses a decision about a question that has changed, or that is not open", async () => {
    const service = await stage.open();
    const id = await askFor(service, "write one");
    const decide = (call: "hist_tool_1" | "hist_tool_9", digest?: string): Promise<unknown> =>
      failureOf(
        service.post("a", id, {
          command: { type: "decide", call, decision: { type: "once" }, ...(digest === undefined ? {} : { digest }) },
        }),
      );
    expect([await decide("hist_tool_9"), await decide("hist_tool_1", "0".repeat(64))]).toEqual([
      "not-asked",
      "not-asked",
    ]);
    expect(stage.file("one.txt")).toBeUndefined();
  });

  it("cancels a turn that runs, and one that is parked", async () => {
    const service = await stage.open();
    const running = await askFor(service, "write one");
    await service.post("a", running, { command: { type: "cancel" } });
    expect(describeFollowed(await followToIdle(service, { id: running })).at(-1)).toBe("turn: cancelled");
    await service.close();

    const next = await stage.open({ parkAfter: 0 });
    const parked = await askFor(next, "write one");
    await followUntil(next, { id: parked }, isParked);
    await followToIdle(next, { id: parked });
    await next.post("a", parked, { command: { type: "cancel" } });
    const events = describeFollowed(await followToIdle(next, { id: parked }));
    expect(events.slice(-2)).toEqual(["result: hist_tool_1 cancelled", "turn: cancelled"]);
    expect(await next.read("a", parked)).toMatchObject({ state: "idle", pending: [] });
    expect(stage.file("one.txt")).toBeUndefined();
  });

  it("switches model and title between turns and during one", async () => {
    const service = await stage.open();
    const { id } = await service.create("a", {});
    await service.post("a", id, { command: { type: "title", title: "New" } });
    await service.post("a", id, { command: { type: "model", model: "offline/script" } });
    await service.post("a", id, { command: prompt("hello") });
    await followToIdle(service, { id });
    expect(await service.read("a", id)).toMatchObject({ title: "New", model: "offline/script" });
    expect(await failureOf(service.post("a", id, { command: { type: "model", model: "nosuch/x" } }))).toBe("invalid");
  });

  it("gives a message to the turn that runs, or begins one", async () => {
    const service = await stage.open();
    const id = await askFor(service, "write one");
    await service.post("a", id, { command: { ...prompt("and hello"), type: "steer" } });
    await service.post("a", id, { command: { type: "decide", call: "hist_tool_1", decision: { type: "once" } } });
    const events = describeFollowed(await followToIdle(service, { id }));
    expect(events.indexOf("user: and hello")).toBeGreaterThan(events.indexOf("result: hist_tool_1 complete"));
    expect(events.filter((each) => each.startsWith("turn:"))).toEqual(["turn: finished"]);
    await service.post("a", id, { command: { ...prompt("hello"), type: "steer" } });
    expect(describeFollowed(await followToIdle(service, { id })).at(-1)).toBe("turn: finished");
  });

  it("runs more sessions than agents may be open", async () => {
    const service = await stage.open({ maxOpen: 2, parkAfter: 0 });
    const ids = await Promise.all(Array.from({ length: 5 }, async () => (await service.create("a", {})).id));
    await Promise.all(ids.map((id) => service.post("a", id, { command: prompt("write one") })));
    await Promise.all(ids.map((id) => followUntil(service, { id }, isParked)));
    await Promise.all(ids.map((id) => followToIdle(service, { id })));
    expect((await service.gauges()).openSessions).toBeLessThanOrEqual(2);
    expect((await service.list("a")).sessions.map(({ state }) => state)).toEqual(ids.map(() => "parked"));
  });

  it("lists by pages, exports and removes", async () => {
    const service = await stage.open();
    const ids: string[] = [];
    for (const title of ["1", "2", "3"]) ids.unshift((await service.create("a", { title })).id);
    const first = await service.list("a", { limit: 2 });
    const second = await service.list("a", { limit: 2, ...(first.next === undefined ? {} : { cursor: first.next }) });
    expect([...first.sessions, ...second.sessions].map(({ id }) => id)).toEqual(ids.toSorted().toReversed());
    expect(second.next).toBeUndefined();

    const id = ids[0] ?? "";
    const chunks: Uint8Array[] = [];
    for await (const chunk of service.export("a", id, "records")) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toMatch(/^\t\{"sequence":1,/);
    await service.remove("a", id);
    expect(await failureOf(service.read("a", id))).toBe("not-found");
    expect((await service.list("a")).sessions.map((each) => each.id)).not.toContain(id);
  });

  it("works only in the folders that are offered", async () => {
    const service = await stage.open();
    for (const folder of ["/etc", `${stage.work}/..`, "relative", `${stage.work}/nosuch`, `${stage.work}-x`])
      expect([folder, await failureOf(service.create("a", { folder }))]).toEqual([folder, "invalid"]);
  });

  it("leaves no timer behind when it closes, so that the process can end", async () => {
    const world = realWorld({ PATH: process.env["PATH"] });
    let timers = 0;
    const after: typeof world.clock.after = (ms, work) => {
      timers += 1;
      let isOver = false;
      const end = (): void => {
        if (!isOver) timers -= 1;
        isOver = true;
      };
      const stop = world.clock.after(ms, () => {
        end();
        work();
      });
      return () => {
        end();
        stop();
      };
    };
    const service = await stage.open({ world: { ...world, clock: { ...world.clock, after } } });
    const { id } = await service.create("a", {});
    await service.post("a", id, { command: prompt("hello") });
    await followToIdle(service, { id });
    expect(timers).toBeGreaterThan(0);
    await service.close();
    expect(timers).toBe(0);
  });

  it("lets one process at a time serve a home folder", async () => {
    await stage.open();
    expect(await failureOf(stage.open())).toBe("unavailable");
  });
});

describe("a process that ends at any moment", () => {
  /** Opens a service on a copy of the home folder as it is on disk now, as if the process had died. */
  const reopenCopy = async (): Promise<SessionService> => {
    const home = `${stage.home}-copy`;
    cpSync(stage.home, home, { recursive: true });
    const locks = readdirSync(home, { recursive: true, encoding: "utf8" }).filter((path) =>
      /\.(held|wanted)$/.test(path),
    );
    for (const path of locks) rmSync(join(home, path));
    return stage.open({ home });
  };

  it("leaves a command that was acknowledged to the next one", async () => {
    const service = await stage.open({ maxOpen: 1 });
    await askFor(service, "write one");
    // The only slot is taken, so this one waits.
    const [id] = (await service.list("a")).sessions.map((each) => each.id);
    await service.post("a", id ?? "", { command: prompt("hello"), key: "k" });
    const next = await reopenCopy();
    await followUntil(next, { id: id ?? "" }, ({ type }) => type === "asked");
    await next.post("a", id ?? "", { command: { type: "decide", call: "hist_tool_1", decision: { type: "refuse" } } });
    const events = describeFollowed(await followToIdle(next, { id: id ?? "" }));
    expect(events.filter((each) => /^(user|turn|message):/.test(each))).toEqual([
      "user: write one",
      "message: write_file",
      "message: Wrote one.",
      "turn: finished",
      "user: hello",
      "message: Hello there.",
      "turn: finished",
    ]);
    expect((await next.post("a", id ?? "", { command: prompt("hello"), key: "k" })).isDuplicate).toBe(true);
  });

  it("cuts off a command that was not written to its end, and was never acknowledged", async () => {
    const service = await stage.open();
    const { id } = await service.create("a", {});
    await service.close();
    const path = join(stage.home, "server", "inbox", "a", `${id}.jsonl`);
    appendFileSync(path, '{"kind":"posted","number":1,"comm');
    const next = await stage.open();
    await next.post("a", id, { command: prompt("hello") });
    expect(describeFollowed(await followToIdle(next, { id })).at(-1)).toBe("turn: finished");
  });
});

describe("another tenant's session", () => {
  it("is answered like one that does not exist, by every operation", async () => {
    const service = await stage.open();
    const { id } = await service.create("a", {});
    const absent = "0000000000";
    const answers = async (tenant: string, which: string): Promise<readonly unknown[]> => {
      const first = async (events: AsyncIterable<unknown>): Promise<void> => {
        for await (const _ of events) break;
      };
      const work: readonly Promise<unknown>[] = [
        service.post(tenant, which, { command: prompt("hello") }),
        service.read(tenant, which),
        service.remove(tenant, which),
        first(service.follow(tenant, which, { after: 0, signal: new AbortController().signal })),
        first(service.export(tenant, which, "records")),
        first(service.export(tenant, which, "conversation")),
      ];
      return Promise.all(
        work.map((each) =>
          each.then(
            () => "answered",
            (error: unknown) => String(error).replace(which, "ID"),
          ),
        ),
      );
    };
    expect(await answers("b", id)).toEqual(await answers("b", absent));
    expect((await service.list("b")).sessions).toEqual([]);
    expect((await service.read("a", id)).id).toBe(id);
  });
});
