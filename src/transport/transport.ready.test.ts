import { describe, expect, it } from "vitest";
import { findProvider } from "../providers/find.ts";
import type { HttpRequest, HttpResponse } from "../world/net.ts";
import { simulatedWorld } from "../world/simulated/world.ts";
import { openTransport } from "./transport.ts";

const url = "http://localhost/";

/** A provider that says nothing of use, and how often it was asked. */
const listening = () => {
  let requests = 0;
  const answer = async (): Promise<HttpResponse> => {
    requests += 1;
    return { status: 401, headers: {}, body: (async function* () {})() };
  };
  let signed = 0;
  const prepare = async (): Promise<HttpRequest> => {
    signed += 1;
    return { method: "POST", url, headers: {} };
  };
  const transport = openTransport({ world: simulatedWorld({ answer }), signer: { prepare, locate: () => ({ url }) } });
  const provider = findProvider("anthropic");
  const send = async (ready: Promise<void>): Promise<void> => {
    for await (const _ of transport.send({ provider, model: "m", ready, body: {} }));
  };
  return { send, requests: () => requests, signed: () => signed };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a request that may not be sent yet", () => {
  it("is signed, and sent once it may be", async () => {
    const { send, requests, signed } = listening();
    let allow = (): void => {};
    const sent = send(new Promise((resolve) => (allow = resolve)));
    await turn();
    expect([signed(), requests()]).toEqual([1, 0]);
    allow();
    await expect(sent).rejects.toMatchObject({ failure: { kind: "bad-key" } });
    expect(requests()).toBe(1);
  });

  it("is not sent if what it waits for fails", async () => {
    const { send, requests } = listening();
    await expect(send(Promise.reject(new Error("The disk is full.")))).rejects.toThrow("The disk is full.");
    expect(requests()).toBe(0);
  });
});
