import { afterEach, expect, it } from "vitest";
import { text } from "../../src/conversation/builders.ts";
import type { FollowedEvent } from "../../src/fleet/session-events.ts";
import { createSseParser } from "../../src/transport/stream/frames.ts";
import { describeOnPostgres, openTestDatabase, type TestDatabase } from "../support/postgres.ts";
import { openWorkerStage, tenant, type WorkerStage } from "./support/program-stage.ts";

/** Long enough that a front door has connected to a worker before its end, however slow the machine is. */
const answer = Array.from({ length: 4000 }, (_, index) => `word${index}`).join(" ");

/** Lets chunks of the model's response pass one by one, or all. */
class Gate {
  #isOpen = false;
  readonly #waiting: (() => void)[] = [];

  pass(): Promise<void> {
    return this.#isOpen ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Lets one chunk after the other pass until the condition holds. Those after it wait. */
  async stepUntil(isMet: () => boolean): Promise<void> {
    while (!isMet()) {
      this.#waiting.shift()?.();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  open(): void {
    this.#isOpen = true;
    for (const pass of this.#waiting.splice(0)) pass();
  }
}

type Received = { readonly name: string; readonly data: Record<string, unknown> };

describeOnPostgres("live text of worker programs", () => {
  let database: TestDatabase;
  let stage: WorkerStage;
  let gates: readonly Gate[];
  const stop = { current: new AbortController() };
  afterEach(async () => {
    stop.current.abort();
    stop.current = new AbortController();
    for (const gate of gates) gate.open();
    await stage.close();
    await database.close();
  });

  const open = async (slots: number): Promise<void> => {
    gates = Array.from({ length: slots }, () => new Gate());
    database = await openTestDatabase();
    stage = await openWorkerStage(database, {
      slots,
      model: () => ({ parts: [{ type: "say", text: answer }] }),
      beforeChunk: (slot) => gates[slot]!.pass(),
    });
  };

  /** Reads server-sent events into a list, until the test or the stream ends. */
  const receive = (response: Response): { readonly events: Received[]; readonly ended: Promise<void> } => {
    const events: Received[] = [];
    const read = async (): Promise<void> => {
      const parser = await createSseParser();
      for await (const chunk of response.body!)
        for (const { name, data } of parser.push(chunk as Uint8Array).frames)
          events.push({ name, data: data as Record<string, unknown> });
    };
    return { events, ended: read().catch(() => undefined) };
  };

  const get = (url: string, token: string): Promise<Response> =>
    fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: stop.current.signal });

  const joinText = (events: readonly Received[]): string =>
    events.map(({ name, data }) => (name === "text" ? String(data["text"]) : "")).join("");

  const readRows = async <Row>(statement: string): Promise<readonly Row[]> =>
    (await database.pool.query(statement, [])).rows as readonly Row[];

  const messages = 'select sequence from parley.record where body like \'%"type":"model"%\'';

  it("comes before the record, and after a kill from the next owner; every record comes once", async () => {
    await open(2);
    const url = await stage.startServer([tenant, "other"]);
    const id = await stage.create();
    const following = receive(await get(`${url}/v1/sessions/${id}/events?live=1`, tenant));
    const { events } = following;
    const first = stage.startWorker(0, ["--lease", "3"]);
    await stage.post(id, { type: "user", parts: [text("Begin.")] });
    await gates[0]!.stepUntil(() => joinText(events).length > 20);
    expect(answer).toContain(joinText(events));
    expect(await readRows(messages)).toEqual([]);

    // The worker's own door: only with the token of its row, and only for sessions it runs.
    const [row] = await readRows<{ readonly address: string }>("select address from parley.worker where drives");
    const { origin, password } = new URL(row!.address);
    const statusOf = async (token: string, asked: string): Promise<number> => {
      const response = await get(`${origin}/live?tenant=${asked}&session=${id}`, token);
      await response.body?.cancel();
      return response.status;
    };
    const otherEnd = password.endsWith("_") ? "-" : "_";
    for (const wrong of [`${password.slice(0, -1)}${otherEnd}`, password.slice(0, -1), `${password}_`])
      expect(await statusOf(wrong, tenant)).toBe(401);
    expect(await statusOf("other", tenant)).toBe(401);
    expect(await statusOf(password, "other")).toBe(404);
    expect(await statusOf(password, tenant)).toBe(200);
    expect((await get(`${url}/v1/sessions/${id}/events?live=1`, "other")).status).toBe(404);

    await first.end("SIGKILL");
    stage.startWorker(1, ["--lease", "3"]);
    const isDiscarded = ({ name, data }: Received): boolean => name === "retrying" && data["discarded"] === true;
    const ofNext = (): readonly Received[] => events.slice(events.findIndex(isDiscarded) + 1);
    await gates[1]!.stepUntil(() => events.some(isDiscarded) && joinText(ofNext()).length > 20);
    expect(answer).toContain(joinText(ofNext()));
    expect(await readRows(messages)).toEqual([]);

    gates[1]!.open();
    await stage.waitFor(id, ({ state }) => state === "idle");
    const all = receive(await get(`${url}/v1/sessions/${id}/events?until=idle`, tenant));
    await all.ended;
    const records = (received: readonly Received[]) => received.filter(({ data }) => "at" in data);
    while (records(events).length < all.events.length) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(records(events)).toEqual(all.events);
    expect(records(events).flatMap(({ name, data }) => (name === "message" ? [data["text"]] : []))).toEqual([answer]);
  });

  it("reaches the stream of A2A word by word", async () => {
    await open(1);
    const url = await stage.startServer([tenant], ["--a2a"]);
    stage.startWorker(0);
    const response = await fetch(`${url}/a2a`, {
      method: "POST",
      signal: stop.current.signal,
      headers: { authorization: `Bearer ${tenant}`, "content-type": "application/json", "a2a-version": "1.0" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "SendStreamingMessage",
        params: { message: { messageId: "m1", role: "ROLE_USER", parts: [{ text: "Begin." }] } },
      }),
    });
    const { events, ended } = receive(response);
    const chunks = (): readonly string[] => events.map(({ data }) => JSON.stringify(data)).filter(isArtifactUpdate);
    await gates[0]!.stepUntil(() => chunks().length > 2);
    expect(await readRows(messages)).toEqual([]);
    gates[0]!.open();
    await ended;
    expect(JSON.stringify(events.at(-1))).toContain("TASK_STATE_COMPLETED");
    expect(chunks().at(-1)).toContain('"lastChunk":true');
  });

  it("is left out where the worker cannot be reached: a follower gets every record, and no error", async () => {
    await open(1);
    gates[0]!.open();
    const id = await stage.create();
    stage.startWorker(0);
    const misplace = "update parley.worker set address = 'http://:token@127.0.0.1:1/' where drives returning id";
    while ((await readRows(misplace)).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const seen: FollowedEvent[] = [];
    const following = (async () => {
      for await (const event of stage.service.follow(tenant, id, {
        after: 0,
        signal: stop.current.signal,
        isLive: true,
      })) {
        seen.push(event);
        if (event.event.type === "turn") return;
      }
    })();
    await stage.post(id, { type: "user", parts: [text("Begin.")] });
    await following;
    expect(seen.map(({ event }) => event.type)).toEqual(["created", "user", "message", "usage", "turn"]);
  });
});

const isArtifactUpdate = (json: string): boolean => json.includes('"artifactUpdate"');
