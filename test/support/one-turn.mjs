/*
 * One request to the provider named on the command line, through the built
 * library alone. Prints the text of the answer.
 */
import {
  composeRequest,
  createRequestSigner,
  findProvider,
  openTransport,
  realWorld,
  text,
} from "../../dist/lib/api/index.js";

const provider = findProvider(process.argv[2]);
const world = realWorld();
const conversation = { version: 1, entries: [{ type: "user", parts: [text("Hello.")] }], blobs: {} };
const transport = openTransport({ world, signer: createRequestSigner(world) });
const address = { provider, model: provider.defaultModel };
const { body } = composeRequest(conversation, transport.destination(address), { settings: { stream: true } });
for await (const event of transport.send({ ...address, body }))
  if (event.type === "text-delta") process.stdout.write(event.text);
