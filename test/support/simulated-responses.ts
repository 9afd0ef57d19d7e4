import { EventStreamCodec } from "@smithy/eventstream-codec";
import { text } from "../../src/conversation/builders.ts";
import type { Conversation } from "../../src/conversation/entry.ts";
import { findProvider } from "../../src/providers/find.ts";
import type { ModelReply } from "../../src/sim/model/types.ts";
import { createSimulator } from "../../src/sim/simulator.ts";
import { createRequestSigner } from "../../src/transport/credentials/request-signer.ts";
import { composeRequest } from "../../src/wire/compose.ts";
import type { HttpRequest } from "../../src/world/net.ts";
import { simulatedWorld } from "../../src/world/simulated/world.ts";
import { everyKey } from "./exchange.ts";

/** Everything a response can contain, each once. */
export const scriptedReplies: { readonly [name: string]: ModelReply } = {
  "words alone": { parts: [{ type: "say", text: "It is a cat. Grüße 👋" }] },
  "a thought, words and two calls": {
    parts: [
      { type: "think", text: "Both at once." },
      { type: "say", text: "I will look." },
      { type: "call", tool: "look", input: { path: "cat.png" } },
      { type: "call", tool: "look", input: {} },
    ],
  },
  "calls alone": { parts: [{ type: "call", tool: "look", input: { path: "a", deep: [{ b: null }] } }] },
  "redacted thinking": {
    parts: [
      { type: "think", text: "Secret.", redacted: true },
      { type: "say", text: "Done." },
    ],
  },
  "thoughts between words": {
    parts: [
      { type: "say", text: "First." },
      { type: "think", text: "Hm." },
      { type: "say", text: "Second." },
    ],
  },
  "a searched answer": {
    parts: [
      {
        type: "cite",
        text: "Cats purr.",
        query: "cats",
        sources: [{ title: "About cats", uri: "https://example.com/cats" }],
      },
    ],
  },
  "a page that was read": {
    parts: [{ type: "cite", text: "It says so.", sources: [{ title: "A page", uri: "https://example.com/page" }] }],
  },
  "a picture": { parts: [{ type: "file", mimeType: "image/png", data: "iVBORw0KGgo=" }] },
  nothing: { parts: [] },
  "words cut short": { parts: [{ type: "say", text: "It is" }], finish: "length" },
  "words withheld": { parts: [{ type: "say", text: "It" }], finish: "filtered" },
  "a refusal": { parts: [{ type: "say", text: "I cannot help with that." }], finish: "refused" },
  "a pause": { parts: [{ type: "say", text: "Wait." }], finish: "paused" },
  "a call that went wrong": { parts: [], finish: "malformed" },
  "too much context": { parts: [{ type: "say", text: "It is" }], finish: "context" },
};

const promptConversation: Conversation = {
  version: 1,
  system: "Be brief.",
  tools: [{ name: "look", description: "Looks.", parameters: { type: "object", properties: {} } }],
  entries: [{ type: "user", parts: [text("What is this?")] }],
  blobs: {},
};

/** The responding model, and the environment of the request. */
export type SimulatedResponseOptions = { readonly model?: string; readonly env?: Readonly<Record<string, string>> };

/** Returns the response of a simulated provider to a model reply: complete, and event by event. */
export const simulateResponses = async (
  id: string,
  said: ModelReply,
  { model = findProvider(id).defaultModel, env = {} }: SimulatedResponseOptions = {},
): Promise<{ readonly whole: unknown; readonly events: readonly unknown[] }> => {
  const provider = findProvider(id);
  const gate = createRequestSigner(simulatedWorld({ env: { ...everyKey, ...env } }));
  const simulator = createSimulator({ provider: id, script: () => said, now: () => Date.UTC(2026, 10, 15) });
  const bytesOf = async (stream: boolean): Promise<Buffer> => {
    const settings = { maxTokens: 4096, stream, thinking: { effort: "medium" } } as const;
    const { body } = composeRequest(promptConversation, provider.destination(model), { settings });
    const request: HttpRequest = await gate.prepare({ provider, model }, { body, stream, renew: false });
    const response = await simulator.handle(request);
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    if (response.status !== 200) throw new Error(`${id} answers ${response.status}: ${bytes.toString()}`);
    return bytes;
  };
  const [whole, stream] = [await bytesOf(false), await bytesOf(true)];
  return {
    whole: JSON.parse(whole.toString()) as unknown,
    events: id === "bedrock" ? framesIn(stream) : eventsIn(stream.toString()),
  };
};

const eventsIn = (stream: string): readonly unknown[] =>
  stream
    .split(/\r?\n\r?\n/)
    .flatMap((event) => event.split(/\r?\n/).filter((line) => line.startsWith("data: ")))
    .map((line) => line.slice("data: ".length))
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data) as unknown);

/** Amazon's frames as in its types: the name of the event, then its content. */
const framesIn = (stream: Buffer): readonly unknown[] => {
  const codec = new EventStreamCodec(
    (bytes) => Buffer.from(bytes).toString(),
    (words) => Buffer.from(words),
  );
  const frames: unknown[] = [];
  for (let at = 0; at < stream.length; at += stream.readUInt32BE(at)) {
    const { headers, body } = codec.decode(stream.subarray(at, at + stream.readUInt32BE(at)));
    frames.push({ [String(headers[":event-type"]?.value)]: JSON.parse(Buffer.from(body).toString()) as unknown });
  }
  return frames;
};
