/*
 * Sends a conversation and reads the answer while it comes. A simulator stands
 * in for the network here: with `realWorld()` and a key in the environment, the
 * same lines ask the provider itself.
 */
import {
  composeRequest,
  findProvider,
  createRequestSigner,
  openTransport,
  simulatedWorld,
  text,
  type Conversation,
  type Destination,
} from "parley-agent";
import { createSimulator } from "parley-agent/sim";

const simulator = createSimulator({ provider: "anthropic" });
const world = simulatedWorld({ env: { ANTHROPIC_API_KEY: "any" }, answer: simulator.handle });
const transport = openTransport({ world, signer: createRequestSigner(world) });

const talk: Conversation = { version: 1, entries: [{ type: "user", parts: [text("Hello there!")] }], blobs: {} };
const provider = findProvider("anthropic");
const model = { provider, model: provider.defaultModel };
const encode = (destination: Destination) => composeRequest(talk, destination, { settings: { stream: true } }).body;
const answer = transport.send({ ...model, body: encode(transport.destination(model)), rebuild: encode });
for await (const event of answer) {
  if (event.type === "text-delta") process.stdout.write(event.text);
  if (event.type === "retrying") console.log(`${event.failure.kind}: again in ${event.delay} ms`);
  if (event.type === "finish") console.log(`\n(${event.reason})`);
}
