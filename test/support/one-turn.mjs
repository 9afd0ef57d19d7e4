/*
 * One turn with the provider named on the command line, through the built
 * library alone. Prints the words of the answer.
 */
import { compose, findProvider, openGate, openTransport, realWorld, text } from "../../dist/lib/api/index.js";

const provider = findProvider(process.argv[2]);
const world = realWorld();
const conversation = { version: 1, entries: [{ type: "user", parts: [text("Hello.")] }], blobs: {} };
const write = (destination) => compose(conversation, destination, { settings: { stream: true } }).body;
const transport = openTransport({ world, gate: openGate(world) });
for await (const event of transport.send({ provider, model: provider.defaultModel, write }))
  if (event.type === "text-delta") process.stdout.write(event.text);
