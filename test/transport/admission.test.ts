import { beforeAll, expect, it } from "vitest";
import { text } from "../../src/conversation/builders.ts";
import type { Conversation } from "../../src/conversation/entry.ts";
import { createRequestSigner } from "../../src/transport/credentials/request-signer.ts";
import { openTransport, type RequestAccount } from "../../src/transport/transport.ts";
import { sendConversation, simulateProvider } from "../support/exchange.ts";

const conversation: Conversation = {
  version: 1,
  entries: [{ type: "user", parts: [text("Hello")] }],
  tools: [],
  blobs: {},
};

/** A provider whose requests need admission, which has these answers, and 0 once they are used up. */
const stage = (answers: readonly number[], fault?: Parameters<typeof simulateProvider>[1]) => {
  const simulated = simulateProvider("anthropic", fault);
  const { world, simulator } = simulated;
  const left = [...answers];
  const log: string[] = [];
  const accounts = new Set<string>();
  const note = (account: RequestAccount, words: string): void => {
    accounts.add(JSON.stringify(account));
    log.push(`${Math.round(world.clock.elapsed())} ${words} ${simulator.log.length}`);
  };
  const transport = openTransport({
    world,
    signer: createRequestSigner(world),
    admission: {
      admit: async (account) => {
        note(account, "admit");
        return left.shift() ?? 0;
      },
      postpone: async (account, milliseconds) => note(account, `postpone ${milliseconds}`),
    },
  });
  return { ...simulated, transport, log, accounts };
};

// Simulated time would pass while the first request loads its modules.
beforeAll(async () => {
  const { transport, provider } = simulateProvider("anthropic");
  await sendConversation(transport, provider, conversation);
});

it("a request waits until it is admitted", async () => {
  const { provider, transport, simulator, log, world } = stage([3000, 500]);
  const { response, events } = await world.run(sendConversation(transport, provider, conversation));
  expect(response?.finish).toBe("stop");
  // Time, question, and the requests the server had seen.
  expect(log).toEqual(["0 admit 0", "3000 admit 0", "3500 admit 0"]);
  expect(simulator.log).toHaveLength(1);
  expect(events.filter(({ type }) => type === "retrying")).toHaveLength(2);
});

it("one that would have to wait too long fails, and is not sent", async () => {
  const { provider, transport, simulator, world } = stage([200_000]);
  const { failure } = await world.run(sendConversation(transport, provider, conversation));
  expect(failure).toMatchObject({ kind: "rate-limited", retryAfter: 200_000 });
  expect(simulator.log).toEqual([]);
});

it.each([
  ["a wait the server asks for", { status: 429, headers: { "retry-after": "7" } }, "postpone 7000 1"],
  ["an overload", { status: 529 }, "postpone 1000 1"],
])("%s is passed on before the retry, which needs admission too", async (_, fault, postponed) => {
  const { provider, transport, log, accounts, world } = stage([], {
    faults: [{ on: 1, fault: { type: "status", ...fault } }],
  });
  const { response } = await world.run(sendConversation(transport, provider, conversation));
  expect(response?.finish).toBe("stop");
  expect(log.map((line) => line.replace(/^\d+ /, ""))).toEqual(["admit 0", postponed, "admit 1"]);
  expect(accounts.size).toBe(1);
});
