/*
 * A small service: POST /conversations/NAME with a prompt, get the answer as it
 * is written. Each name is a conversation of its own; they run side by side.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { openAgent, type AgentSession } from "parley-agent/agent";

const sessions = new Map<string, Promise<AgentSession>>();

const open = (name: string): Promise<AgentSession> => {
  // Not even reading tools: strangers write the prompts.
  const session = sessions.get(name) ?? openAgent({ folder: ".", model: "offline", builtinTools: [] });
  sessions.set(name, session);
  return session;
};

const server = createServer((request, response) => {
  void (async () => {
    const [, name] = /^\/conversations\/(\w+)$/.exec(request.url ?? "") ?? [];
    if (name === undefined || request.method !== "POST") return response.writeHead(404).end();
    // A client that leaves cancels its turn.
    const turn = new AbortController();
    response.on("close", () => turn.abort());
    try {
      const { agent } = await open(name);
      for await (const event of agent.send(await text(request), turn.signal)) {
        if (event.type === "text") response.write(event.text);
        if (event.type === "failed") response.write(`Error: ${event.failure.message}`);
      }
      return response.end();
    } catch (error) {
      // For example because a turn of this conversation runs: each runs one at a time.
      return response.writeHead(503).end(String(error));
    }
  })();
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;

const post = async (name: string, body: string): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${port}/conversations/${name}`, { method: "POST", body });
  console.log(`${name} ${response.status}: ${await response.text()}`);
};
await Promise.all([post("ann", "Which model are you?"), post("bob", "Hello!")]);
await post("ann", "Hello!");

server.close();
for (const session of sessions.values()) await (await session).close();
