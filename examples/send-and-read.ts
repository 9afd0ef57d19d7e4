/*
 * Sends a conversation and streams the response. A simulator replaces the
 * network here: with `realWorld()` and a key in the environment, the same code
 * sends to the provider.
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

const conversation: Conversation = {
  version: 1,
  entries: [{ type: "user", parts: [text("Hello there!")] }],
  blobs: {},
};
const provider = findProvider("anthropic");
const model = { provider, model: provider.defaultModel };
const encode = (destination: Destination) =>
  composeRequest(conversation, destination, { settings: { stream: true } }).body;
const response = transport.send({ ...model, body: encode(transport.destination(model)), rebuild: encode });
for await (const event of response) {
  if (event.type === "text-delta") process.stdout.write(event.text);
  if (event.type === "retrying") console.log(`${event.failure.kind}: retrying in ${event.delay} ms`);
  if (event.type === "finish") console.log(`\n(${event.reason})`);
}
