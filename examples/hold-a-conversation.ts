/*
 * Runs one prompt with tools in a project, as `parley -p` does. The demo model
 * responds here; with a key in the environment, a real one does.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAgent } from "parley-agent/agent";

const folder = mkdtempSync(join(tmpdir(), "parley-example-"));
writeFileSync(join(folder, "notes.txt"), "Buy milk.\nWater the plants.\n");

const { agent, close } = await openAgent({ folder, model: "offline", home: join(folder, "home") });
for await (const event of agent.send("Read notes.txt")) {
  if (event.type === "call-completed") console.log(`${event.finished.call.tool}: ${event.finished.outcome.status}`);
  if (event.type === "finished") console.log(event.text);
}
await close();
rmSync(folder, { recursive: true });
