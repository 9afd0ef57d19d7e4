import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An answer of the scripted model: text, or tool calls. */
export type Reply = { readonly say: string } | { readonly call: readonly (readonly [string, object])[] };

/** The times at which a request arrived and its answer was sent, and its body. */
export type Exchange = { readonly received: number; answered: number; readonly body: () => string };

/** A loopback server that answers by a script, in OpenAI's Chat Completions. */
export type ScriptedServer = {
  readonly url: string;
  /** Starts over with these answers. `delay` is the milliseconds each takes. */
  readonly play: (replies: (index: number) => Reply, delay?: number) => readonly Exchange[];
  readonly close: () => void;
};

/** Opens the server on a free port. */
export const openScriptedServer = async (): Promise<ScriptedServer> => {
  let replies: (index: number) => Reply = () => ({ say: "Done." });
  let exchanges: Exchange[] = [];
  let delay = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    const exchange = {
      received: performance.now(),
      answered: Number.NaN,
      body: () => Buffer.concat(chunks).toString("utf8"),
    };
    const index = exchanges.push(exchange) - 1;
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const sent = (): void => void (exchange.answered = performance.now());
      const answer = (): void => send(response, { reply: replies(index), number: index, sent });
      if (delay === 0) answer();
      else setTimeout(answer, delay);
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    play: (next, wait = 0) => {
      replies = next;
      delay = wait;
      exchanges = [];
      return exchanges;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

type PendingReply = { readonly reply: Reply; readonly number: number; readonly sent: () => void };

const send = (response: ServerResponse, { reply, number, sent }: PendingReply): void => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = (choices: readonly object[], more: object = {}): string =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more })}\n\n`;
  const delta =
    "say" in reply
      ? { role: "assistant", content: reply.say }
      : {
          role: "assistant",
          tool_calls: reply.call.map(([name, input], index) => ({
            index,
            id: `call_${number}_${index}`,
            type: "function",
            function: { name, arguments: JSON.stringify(input) },
          })),
        };
  const usage = { prompt_tokens: 1000, completion_tokens: 20, total_tokens: 1020 };
  const text = [
    chunk([{ index: 0, delta, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: "say" in reply ? "stop" : "tool_calls" }]),
    chunk([], { usage }),
    "data: [DONE]\n\n",
  ].join("");
  response.end(text, sent);
};
