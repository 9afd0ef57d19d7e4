/*
 * Continues a session in another run of the program. A session is a log on
 * disk: it survives a crash, and any provider can continue it.
 */
import { openAgent } from "parley-agent/agent";

const first = await openAgent({ folder: ".", model: "offline" });
await first.ask("Hello!");
await first.close();

const { id } = first.session;
const second = await openAgent({ folder: ".", resume: { id } });
await second.ask("Which model are you?");
const prompts = second.agent.conversation().entries.filter((entry) => entry.type === "user");
console.log(`${prompts.length} prompts, answered by ${second.agent.model().provider.id}`);
await second.close();

// "last" is the last session of the folder. A session that does not exist is an error that says so.
await openAgent({ folder: ".", resume: { id: "unknown" } }).catch((error: Error) => console.log(error.message));
