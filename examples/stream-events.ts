/*
 * Shows a turn while it happens: the model's words, its tool calls and their
 * results. `send` yields a closed union of events; leaving the loop cancels.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAgent } from "parley-agent/agent";

const folder = mkdtempSync(join(tmpdir(), "parley-example-"));
writeFileSync(join(folder, "notes.txt"), "Buy milk.\nWater the plants.\n");

const { agent, close } = await openAgent({ folder, model: "offline" });
for await (const event of agent.send("Read notes.txt")) {
  if (event.type === "text") process.stdout.write(event.text);
  if (event.type === "call-updated" && event.status.state === "executing") console.log(`... ${event.status.title}`);
  if (event.type === "call-completed") console.log(`${event.finished.call.tool}: ${event.finished.outcome.status}`);
  if (event.type === "usage") console.log(`\n(${event.usage.input} tokens in, ${event.usage.output} out)`);
  // The last event is "finished", "failed" or "cancelled".
  if (event.type === "failed") console.error(event.failure.message);
}
await close();
rmSync(folder, { recursive: true });
