/*
 * Decides about tool calls in the program. Reading needs no approval; without
 * an `approve` function, everything that does is refused.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAgent } from "parley-agent/agent";

const folder = mkdtempSync(join(tmpdir(), "parley-example-"));

const { ask, close } = await openAgent({
  folder,
  model: "offline",
  approve: ({ call, approval }) => {
    console.log(`${call.tool}: ${approval.title} (${approval.reason})`);
    // An edit comes with its path and its difference, a command with the programs it runs.
    if (approval.subject.type === "edit") return { type: "once" };
    return { type: "refuse", reason: "Only edits are allowed here." };
  },
});
await ask('create notes.txt with "Buy milk."');
console.log((await ask("delete notes.txt")).text);
await close();

console.log(readdirSync(folder));
rmSync(folder, { recursive: true });
