/*
 * Runs one prompt with tools in a project, as `parley -p` does. The demo model
 * responds here; with a key in the environment, a real one does.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realWorld } from "parley-agent";
import { loadSettings, openAgent, withDemoModel } from "parley-agent/agent";

const folder = mkdtempSync(join(tmpdir(), "parley-example-"));
const home = join(folder, "home");
writeFileSync(join(folder, "notes.txt"), "Buy milk.\nWater the plants.\n");

const real = realWorld({});
const world = { ...real, net: withDemoModel(real.net) };
const loaded = await loadSettings(world, { home, root: folder, scope: "inert" });
const { agent, close } = await openAgent({ world, home, folder, loaded, interactive: false });

for await (const event of agent.send("Read notes.txt")) {
  if (event.type === "call-completed") console.log(`${event.finished.call.tool}: ${event.finished.outcome.status}`);
  if (event.type === "finished") console.log(event.text);
}
await close();
rmSync(folder, { recursive: true });
