/*
 * One turn with the provider named on the command line, through the built
 * library alone. Prints the words of the answer.
 */
import { text } from "../../dist/lib/conversation/index.js";
import { findProvider } from "../../dist/lib/providers/index.js";
import { openGate, openTransport } from "../../dist/lib/transport/index.js";
import { compose } from "../../dist/lib/wire/index.js";
import { realWorld } from "../../dist/lib/world/index.js";

const provider = findProvider(process.argv[2]);
const world = realWorld();
const conversation = { version: 1, entries: [{ type: "user", parts: [text("Hello.")] }], blobs: {} };
const write = (destination) => compose(conversation, destination, { settings: { stream: true } }).body;
const transport = openTransport({ world, gate: openGate(world) });
for await (const event of transport.send({ provider, model: provider.defaultModel, write }))
  if (event.type === "text-delta") process.stdout.write(event.text);
