import { beforeAll, describe, expect, it } from "vitest";
import { openGateway } from "../../src/gateway/gateway.ts";
import type { GatewayResponse } from "../../src/gateway/http-types.ts";
import type { SimFault } from "../../src/sim/faults/fault.ts";
import type { Script } from "../../src/sim/model/script.ts";
import { simulateProvider } from "../support/exchange.ts";
import { testedProviders } from "../support/tested-providers.ts";
import { perTier, sampleCases } from "../support/tier.ts";

/*
 * Everything that goes wrong between the gateway and a target, seen by a client that streams, in simulated time. An
 * answer is complete, or an HTTP error, or a stream that ends in an error event: never one that looks complete.
 */

const words = "Ich schaue beides an. Grüße zurück 👋🏽, 日本 too.";
const script: Script = { rules: [{ replies: [{ say: words, call: [{ tool: "look", input: { at: "ä" } }] }] }] };
const ask = {
  max_tokens: 1000,
  stream: true,
  tools: [
    { name: "look", description: "Looks.", input_schema: { type: "object", properties: { at: { type: "string" } } } },
  ],
  messages: [{ role: "user", content: "Look." }],
};

type Seen = { readonly status: number; readonly text: string; readonly traffic: { bytes: number; chunks: number } };

const run = (
  provider: string,
  faults: readonly { readonly on?: number; readonly fault: SimFault }[],
): Promise<Seen> => {
  const { world, provider: found, traffic } = simulateProvider(provider, { script, faults });
  const gateway = openGateway({ world, config: () => ({}) });
  const body = Buffer.from(JSON.stringify({ ...ask, model: `${provider}/${found.defaultModel}` }));
  const work = async (): Promise<Seen> => {
    const answer = await gateway.handle({
      method: "POST",
      path: "/v1/messages",
      query: new URLSearchParams(),
      headers: {},
      body: async () => body,
      signal: new AbortController().signal,
    });
    return { status: answer.status, text: await textOf(answer), traffic };
  };
  return world.run(work());
};

const textOf = async ({ body }: GatewayResponse): Promise<string> => {
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  let text = "";
  for await (const chunk of body.chunks) text += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
  return text;
};

const isComplete = ({ status, text }: Seen): boolean => status === 200 && text.includes("event: message_stop");
const saidText = (seen: Seen): string => joinStrings(seen, /"text_delta","text":("(?:[^"\\]|\\.)*")/g);
const inputText = (seen: Seen): string => joinStrings(seen, /"partial_json":("(?:[^"\\]|\\.)*")/g);

const joinStrings = ({ text }: Seen, pattern: RegExp): string =>
  [...text.matchAll(pattern)].map(([, json]) => JSON.parse(json ?? '""') as string).join("");

const status = (code: number, headers = {}): SimFault => ({ type: "status", status: code, headers });

const passing: readonly (readonly [string, SimFault])[] = [
  ["the connection is refused", { type: "refuse-connection" }],
  ["a compressed answer is cut", { type: "gzip-cut", at: 0 }],
  ["the server has trouble at once", { type: "stream-error", after: 0, status: 529 }],
  ["an event is no JSON", { type: "malformed-event", after: 0 }],
  ["the answer is a web page", { type: "content-type", value: "text/html" }],
  ["the connection breaks before the first byte", { type: "cut", at: 0 }],
  ["the answer is empty", { type: "truncate", at: 0 }],
  ["it fails (500)", status(500)],
  ["it is away (503)", status(503)],
  ["it is busy (408)", status(408)],
  ["it is overloaded for once (529)", status(529)],
  ["its bytes arrive one by one", { type: "slice", bytes: 1 }],
  ["its chunks take a minute each", { type: "drip", ms: 60_000 }],
  ["its headers take minutes", { type: "delay-headers", ms: 200_000 }],
  ["more bytes follow it", { type: "garbage" }],
];

const lasting: readonly (readonly [string, SimFault])[] = [
  ...passing,
  ["nothing ever comes back", { type: "never-answer" }],
  ["the first byte never comes", { type: "delay-body", ms: 10_000_000 }],
  ["it is limited (429)", status(429, { "retry-after": "200" })],
  ["the wait it asks for is absurd (429)", status(429, { "retry-after": "99999999" })],
  ["it is overloaded (529)", status(529)],
  ["it refuses the request (400)", status(400)],
  ["it refuses the key (401)", status(401)],
  ["it does not know the model (404)", status(404)],
  ["it points elsewhere", { type: "redirect", to: "https://elsewhere.example" }],
  ["the answer stops in the middle", { type: "truncate" }],
  ["the connection breaks in the middle", { type: "cut" }],
  ["it reports an error in the middle", { type: "stream-error", after: 2 }],
  ["it drips too slowly to be alive", { type: "drip", ms: 10_000_000 }],
];

const expectWholeOrError = (seen: Seen): void => {
  if (isComplete(seen))
    expect([saidText(seen), inputText(seen)]).toEqual([words, expect.stringMatching(/"ä"|\\u00e4/)]);
  else expectError(seen);
};

const expectError = ({ status: code, text }: Seen): void => {
  if (code === 200) expect(text).toMatch(/event: error\ndata: .+\n\n$/);
  else expect(JSON.parse(text)).toMatchObject({ type: "error", error: { message: expect.any(String) } });
};

/** At how many bytes of a response faults are tried. */
const places = perTier({ quick: 2, all: 12 });

const names = sampleCases(testedProviders, 4);

// A simulated clock must not run while a module is being loaded.
beforeAll(async () => {
  await import("eventsource-parser");
  await import("@smithy/eventstream-codec");
  await import("@smithy/signature-v4");
  await import("../../src/gateway/operations/generate.ts");
  await import("../../src/gateway/operations/pass-through.ts");
  await import("../../src/gateway/answers/encoders.ts");
  for (const name of names) await run(name, []);
});

describe.each(names)("a stream of %s through the gateway", (name) => {
  it.each(passing)("is whole after a moment when %s", async (_, fault) => {
    const seen = await run(name, [{ on: 1, fault }]);
    expect([isComplete(seen), saidText(seen)]).toEqual([true, words]);
  });

  it.each(lasting)("never looks complete when %s for good", async (_, fault) => {
    expectWholeOrError(await run(name, [{ fault }]));
  });

  it("never looks complete when it breaks off, wherever", async () => {
    const { bytes } = (await run(name, [])).traffic;
    for (let at = 0; at < bytes; at += Math.ceil(bytes / places))
      for (const type of ["cut", "truncate"] as const) expectWholeOrError(await run(name, [{ fault: { type, at } }]));
  });

  it("has no further call and ends as it must when events are missing, doubled or swapped, or a byte is changed", async () => {
    const { bytes, chunks } = (await run(name, [])).traffic;
    const events = (["drop", "duplicate", "swap"] as const).flatMap((type) =>
      Array.from({ length: chunks }, (_, event): SimFault => ({ type, event })),
    );
    const changes = Array.from({ length: places }, (_, index): SimFault => {
      return { type: "corrupt", at: Math.floor((bytes * index) / places) };
    });
    for (const fault of [...sampleCases(events, 5), ...changes]) {
      const seen = await run(name, [{ fault }]);
      if (!isComplete(seen)) expectError(seen);
      expect(seen.text.match(/"type":"tool_use"/g)?.length ?? 0).toBeLessThanOrEqual(1);
    }
  });
});
