import { describe, expect, it } from "vitest";
import { findProvider } from "../../providers/find.ts";
import type { HttpResponse } from "../../world/net.ts";
import { simulatedWorld } from "../../world/simulated/world.ts";
import { openTransport } from "../transport.ts";

const url = "http://localhost/";

describe("an answer", () => {
  it("that sends a byte now and then and never ends is given up after an hour, and not asked for again", async () => {
    let requests = 0;
    const world = simulatedWorld({
      answer: async (_, signal): Promise<HttpResponse> => {
        requests += 1;
        const comments = async function* (): AsyncGenerator<Uint8Array> {
          for (;;) {
            await world.clock.sleep(200_000, signal);
            yield Buffer.from(": ping\n\n");
          }
        };
        return { status: 200, headers: { "content-type": "text/event-stream" }, body: comments() };
      },
    });
    const gate = { prepare: async () => ({ method: "POST", url, headers: {} }) as const, locate: () => ({ url }) };
    const transport = openTransport({ world, signer: gate });
    const provider = findProvider("anthropic");
    const read = async (): Promise<void> => {
      for await (const _ of transport.send({ provider, model: "m", body: {} }));
    };
    const complaint =
      "The response of Anthropic was not complete after 60 min (limits.answerTime). Nothing of it was used; try again, or use another model.";
    // The first time, modules are loaded while the simulated clock runs.
    await expect(world.run(read())).rejects.toThrow(complaint);
    const [before, since] = [requests, world.clock.elapsed()];
    await expect(world.run(read())).rejects.toThrow(complaint);
    expect([requests - before, world.clock.elapsed() - since]).toEqual([1, 3_600_000]);
  });
});
