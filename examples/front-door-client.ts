/*
 * A client of `parley serve`: creates a session, posts a prompt, and follows it
 * as server-sent events. A repeated post with the same key is carried out once.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const server = spawn(process.execPath, ["dist/parley.cjs", "serve", "--model", "offline"], { stdio: "pipe" });
const firstLine = async (stream: NodeJS.ReadableStream): Promise<string> => {
  for await (const line of createInterface({ input: stream })) return line;
  throw new Error("The server ended.");
};
const [url, token] = await Promise.all([firstLine(server.stdout), firstLine(server.stderr)]);
const headers = {
  authorization: `Bearer ${token.split(": ")[1]}`,
  "content-type": "application/json",
};

const post = async (path: string, body: object, key: string): Promise<{ id: string; duplicate: boolean }> => {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { ...headers, "idempotency-key": key },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as { id: string; duplicate: boolean };
};

const { id } = await post("/v1/sessions", { title: "First" }, "create-1");
await post(`/v1/sessions/${id}/messages`, { text: "Hello!" }, "message-1");

// Last-Event-ID resumes where a connection broke; until=idle ends the stream with the turn.
const events = await fetch(`${url}/v1/sessions/${id}/events?until=idle`, {
  headers: { ...headers, "last-event-id": "0" },
});
for (const block of (await events.text()).split("\n\n")) {
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (data === undefined) continue;
  const event = JSON.parse(data) as { type: string; text: string; end: { type: string } };
  if (event.type === "message") console.log(`Parley: ${event.text}`);
  if (event.type === "turn") console.log(`turn: ${event.end.type}`);
}
const again = await post(`/v1/sessions/${id}/messages`, { text: "Hello!" }, "message-1");
console.log(`again: duplicate ${again.duplicate}`);
for (const stream of [server.stdout, server.stderr]) stream.resume();
server.kill("SIGTERM");
