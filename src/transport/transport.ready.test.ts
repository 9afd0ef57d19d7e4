import { describe, expect, it } from "vitest";
import { findProvider } from "../providers/find.ts";
import type { HttpResponse } from "../world/net.ts";
import { simulatedWorld } from "../world/simulated/world.ts";
import { openTransport, type OutgoingRequest } from "./transport.ts";

const url = "http://localhost/";

/** A provider that says nothing of use, and how often it was asked. */
const listening = () => {
  let requests = 0;
  let bodies = 0;
  const answer = async (): Promise<HttpResponse> => {
    requests += 1;
    return { status: 401, headers: {}, body: (async function* () {})() };
  };
  const gate = { prepare: async () => ({ method: "POST", url, headers: {} }) as const, locate: () => ({ url }) };
  const transport = openTransport({ world: simulatedWorld({ answer }), signer: gate });
  const provider = findProvider("anthropic");
  const write: OutgoingRequest["write"] = () => {
    bodies += 1;
    return {};
  };
  const send = async (ready: Promise<void>): Promise<void> => {
    for await (const _ of transport.send({ provider, model: "m", ready, write }));
  };
  return { send, requests: () => requests, bodies: () => bodies };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a request that is not to leave yet", () => {
  it("is written, and leaves when it may", async () => {
    const { send, requests, bodies } = listening();
    let allow = (): void => {};
    const sent = send(new Promise((resolve) => (allow = resolve)));
    await turn();
    expect([bodies(), requests()]).toEqual([1, 0]);
    allow();
    await expect(sent).rejects.toMatchObject({ failure: { kind: "bad-key" } });
    expect(requests()).toBe(1);
  });

  it("does not leave when it may not", async () => {
    const { send, requests } = listening();
    await expect(send(Promise.reject(new Error("The disk is full.")))).rejects.toThrow("The disk is full.");
    expect(requests()).toBe(0);
  });
});
