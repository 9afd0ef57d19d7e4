import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { openGateway } from "../../src/gateway/gateway.ts";
import { serveGateway } from "../../src/gateway/serve.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { everyKey } from "../support/exchange.ts";

/*
 * A client that stops reading, and its target, both on real connections. The response is much longer than what the kernel
 * holds for two connections (a few megabytes each).
 */
const piece = "x".repeat(64 * 1024);
const pieces = 600;
const letter = "x".codePointAt(0);
const mebibyte = 2 ** 20;

it.each([
  ["translated", "/v1/chat/completions"],
  ["passed through", "/v1/messages"],
])(
  "a client that stops reading stops its target and takes no memory, and later gets all: %s",
  async (_, path) => {
    let sent = 0;
    const target = createServer((request, response) => {
      request.resume();
      request.once("end", () => void writeLongResponse(response, () => (sent += 1)));
    });
    await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
    const base = `http://127.0.0.1:${(target.address() as AddressInfo).port}`;
    const world = realWorld({ ...everyKey, PARLEY_ANTHROPIC_BASE_URL: base });
    const running = await serveGateway(openGateway({ world, config: () => ({}) }));
    const before = heldMemory();
    const body = JSON.stringify({
      model: "anthropic/claude-opus-5",
      max_tokens: 1000,
      stream: true,
      messages: [{ role: "user", content: "Write." }],
    });
    const socket = connect(running.port, "127.0.0.1");
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${running.port}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    socket.pause();
    try {
      await untilStill(() => sent);
      expect(sent).toBeGreaterThan(0);
      expect(sent).toBeLessThan(pieces / 2);
      expect(heldMemory() - before).toBeLessThan(12 * mebibyte);

      let received = 0;
      let end = "";
      for await (const chunk of socket as AsyncIterable<Buffer>) {
        for (let at = 0; at < chunk.length; at++) if (chunk[at] === letter) received += 1;
        end = (end + chunk.toString("latin1")).slice(-1000);
      }
      expect([sent, received >= pieces * piece.length]).toEqual([pieces, true]);
      expect(end).toMatch(/data: \[DONE\]|event: message_stop/);
    } finally {
      socket.destroy();
      await running.close();
      target.closeAllConnections();
      await new Promise((resolve) => target.close(resolve));
    }
  },
  120_000,
);

/** Writes a response of Anthropic as fast as its connection takes it. */
const writeLongResponse = async (response: ServerResponse, onPiece: () => void): Promise<void> => {
  const write = async (type: string, data: object): Promise<void> => {
    if (!response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`))
      await new Promise((resolve) => response.once("drain", resolve));
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-opus-5", content: [] };
  const usage = { input_tokens: 10, output_tokens: 1 };
  await write("message_start", { message: { ...message, stop_reason: null, stop_sequence: null, usage } });
  await write("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
  for (let index = 0; index < pieces; index++) {
    onPiece();
    await write("content_block_delta", { index: 0, delta: { type: "text_delta", text: piece } });
  }
  await write("content_block_stop", { index: 0 });
  await write("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage });
  await write("message_stop", {});
  response.end();
};

/** Resolves once a count that has begun no longer changes for many turns of the event loop, in which everything here runs. */
const untilStill = async (count: () => number): Promise<void> => {
  let last = 0;
  for (let turns = 0; turns < 2000 || last === 0; turns++) {
    await new Promise(setImmediate);
    if (count() !== last) turns = 0;
    last = count();
  }
};

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Bytes of this process that are in use after a collection. */
const heldMemory = (): number => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
