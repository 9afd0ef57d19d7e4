/*
 * A target of gateways: streams Chat Completions or Anthropic Messages, `events=N pace=MS` as the request says. Every event holds
 * the time it was written, in microseconds. Prints its port.
 */
import { createServer } from "node:http";

const now = () => Number(process.hrtime.bigint() / 1000n);

const chat = (delta, finish = null) =>
  `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "gpt-4o", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const message = (type, data) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const usage = { input_tokens: 10, output_tokens: 1 };

const apis = {
  "/v1/chat/completions": {
    begin: chat({ role: "assistant", content: "" }),
    event: (text) => chat({ content: text }),
    end: `${chat({}, "stop")}data: [DONE]\n\n`,
  },
  "/v1/messages": {
    begin:
      message("message_start", {
        message: {
          id: "m1",
          type: "message",
          role: "assistant",
          model: "claude",
          content: [],
          stop_reason: null,
          usage,
        },
      }) + message("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    event: (text) => message("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
    end:
      message("content_block_stop", { index: 0 }) +
      message("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage }) +
      message("message_stop", {}),
  },
};

const stream = (response, { begin, event, end }, events, pace) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.socket.setNoDelay(true);
  let sent = 0;
  const next = () => {
    do {
      const text = event(`word ${sent} @${now()} `);
      sent += 1;
      const isLast = sent === events;
      const hasRoom = response.write((sent === 1 ? begin : "") + text + (isLast ? end : ""));
      if (isLast) return response.end();
      if (!hasRoom) return response.once("drain", next);
    } while (pace === 0);
    setTimeout(next, pace);
  };
  next();
};

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const api = apis[new URL(request.url, "http://backend").pathname];
    const [, events, pace] = /events=(\d+) pace=(\d+)/.exec(Buffer.concat(chunks).toString("latin1")) ?? [];
    if (api === undefined || events === undefined) return response.writeHead(404).end();
    stream(response, api, Number(events), Number(pace));
  });
});
server.keepAliveTimeout = 120_000;
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
