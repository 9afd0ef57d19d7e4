/*
 * Asks a model one question. The demo model answers; name another one, such as
 * "anthropic/claude-sonnet-5", and set its key.
 */
import { openAgent } from "parley-agent/agent";

const { ask, close } = await openAgent({ folder: ".", model: "offline" });
const { text } = await ask("Which model are you?");
console.log(text);
await close();
