/*
 * The smallest agent: sends requests to a model and runs its tool calls.
 * node agent-floor.mjs URL PROMPT SIZE [LOG], with SIZE bytes in place of a system prompt; - as PROMPT reads one prompt per
 * line from stdin. It streams, reads files, runs commands, and stores nothing; with LOG it appends every step to that
 * file and waits until it is on disk.
 */
import { spawn } from "node:child_process";
import { fdatasyncSync, openSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { createInterface } from "node:readline";

const [url, prompt, size, log] = process.argv.slice(2);
const file = log === undefined ? undefined : openSync(log, "a");
const messages = [{ role: "system", content: "x".repeat(Number(size)) }];

const sendRequest = () =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify({ model: "m", stream: true, messages });
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request(url, { method: "POST", headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => (text += chunk));
      response.on("end", () => resolve(parseAnswer(text)));
    });
    sent.on("error", reject);
    sent.end(body);
  });

const parseAnswer = (text) => {
  const deltas = text
    .split("\n\n")
    .filter((each) => each.startsWith("data: {"))
    .flatMap((each) => JSON.parse(each.slice(6)).choices.map(({ delta }) => delta));
  return {
    role: "assistant",
    content: deltas.map(({ content }) => content ?? "").join(""),
    tool_calls: deltas.flatMap((delta) => delta.tool_calls ?? []),
  };
};

const tools = {
  read_file: ({ absolute_path }) => readFile(absolute_path, "utf8"),
  run_shell_command: ({ command }) =>
    new Promise((resolve) => {
      let text = "";
      const child = spawn("sh", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
      child.stdout.on("data", (chunk) => (text += chunk));
      child.on("close", () => resolve(text));
    }),
};

const store = (step) => {
  if (file === undefined) return;
  writeSync(file, `${JSON.stringify(step)}\n`);
  fdatasyncSync(file);
};

const runTurn = async (prompt) => {
  messages.push({ role: "user", content: prompt });
  for (;;) {
    const answer = await sendRequest();
    messages.push(answer);
    if (answer.tool_calls.length === 0) return answer.content;
    const results = await Promise.all(
      answer.tool_calls.map(async ({ id, function: { name, arguments: given } }) => ({
        role: "tool",
        tool_call_id: id,
        content: await tools[name](JSON.parse(given)),
      })),
    );
    messages.push(...results);
    store([answer, ...results]);
  }
};

if (prompt !== "-") process.stdout.write(`${await runTurn(prompt)}\n`);
else
  for await (const line of createInterface({ input: process.stdin })) process.stdout.write(`${await runTurn(line)}\n`);
