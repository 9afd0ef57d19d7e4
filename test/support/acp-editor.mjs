/*
 * A client in a process of its own, so that it can be killed: starts the program, runs one prompt, and prints every
 * line it gets. Arguments: program, project folder, prompt.
 */
import { spawn } from "node:child_process";

const [program, cwd, prompt] = process.argv.slice(2);
const agent = spawn(process.execPath, [program, "acp", "-m", "anthropic", "--approval-mode", "yolo"], {
  stdio: ["pipe", "pipe", "inherit"],
});
process.stdout.write(`${JSON.stringify({ pid: agent.pid })}\n`);
const send = (id, method, params) => agent.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
let text = "";
agent.stdout.on("data", (chunk) => {
  process.stdout.write(chunk);
  text += chunk;
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n")) {
    const { id, result } = JSON.parse(text.slice(0, end));
    text = text.slice(end + 1);
    if (id === 0) send(1, "session/new", { cwd, mcpServers: [] });
    if (id === 1) send(2, "session/prompt", { sessionId: result.sessionId, prompt: [{ type: "text", text: prompt }] });
  }
});
send(0, "initialize", { protocolVersion: 1 });
