import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openAgent, type AgentSession } from "../../src/agent/open-agent.ts";
import { loadSettings } from "../../src/settings/load/load.ts";
import { realWorld } from "../../src/world/real/world.ts";
import type { World } from "../../src/world/world.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";

/* What a library user has left after `close()`: nothing that is still open. */

let stage: ProgramStage;
let relay: Server;
let world: World;
beforeEach(async () => {
  stage = await openProgramStage(["anthropic"], { script: () => ({ parts: [{ type: "say", text: "Hello." }] }) });
  const target = new URL(stage.env["PARLEY_ANTHROPIC_BASE_URL"] ?? "");
  const { port } = target;
  // Between program and simulator, to count connections as a server sees them.
  relay = createServer((socket) => {
    const onward = connect(Number(port), "127.0.0.1");
    socket.on("error", () => onward.destroy()).on("close", () => onward.destroy());
    onward.on("error", () => socket.destroy()).on("close", () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  target.port = String((relay.address() as AddressInfo).port);
  world = realWorld({ ...stage.env, PARLEY_ANTHROPIC_BASE_URL: target.href });
});
afterEach(async () => {
  await stage.close();
  await new Promise((resolve) => relay.close(resolve));
});

const openConnections = (): Promise<number> =>
  new Promise((resolve) => relay.getConnections((_, count) => resolve(count)));

/** Waits until a condition holds; the test's own time limit is the only clock. */
const until = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
};

const open = async (name: string): Promise<AgentSession> => {
  const home = join(stage.home, name);
  const flags = { model: ["anthropic"] };
  const loaded = await loadSettings(world, { home, root: stage.project, scope: "inert", flags });
  return openAgent({ world, home, folder: stage.project, loaded, interactive: false });
};

const sendPrompt = async ({ agent }: AgentSession): Promise<void> => {
  for await (const _ of agent.send("Hello?"));
};

it("closing an agent closes the connections of its world", async () => {
  const opened = await open("one");
  await sendPrompt(opened);
  expect(await openConnections()).toBe(1);
  await opened.close();
  await until(async () => (await openConnections()) === 0);
});

it("closing one of two agents of a world leaves the other its connections, closing both leaves none", async () => {
  const [one, two] = [await open("one"), await open("two")];
  await sendPrompt(one);
  await one.close();
  await one.close();
  await sendPrompt(two);
  expect(await openConnections()).toBe(1);
  await two.close();
  await until(async () => (await openConnections()) === 0);
});
