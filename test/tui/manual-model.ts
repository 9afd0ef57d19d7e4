import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";

/** A model behind a local server that streams exactly what the test tells it to. */
export type ManualModel = {
  /** Environment and arguments that make a program use it. */
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  /** Resolves once a request arrived. */
  readonly requested: Promise<void>;
  readonly stream: (text: string) => void;
  readonly end: () => void;
};

/** Manual models for the tests of one file; each is closed after its test. */
export const manualModels = (): (() => Promise<ManualModel>) => {
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });
  return async () => {
    let answer: (reply: ServerResponse) => void = () => undefined;
    const response = new Promise<ServerResponse>((resolve) => (answer = resolve));
    const server = createServer((request, reply) => {
      request.resume();
      if (request.method !== "POST") return void reply.writeHead(404).end();
      reply.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      answer(reply);
    });
    closers.push(() => {
      server.closeAllConnections();
      server.close();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const send = (delta: object, finish: string | null): void =>
      void response.then((reply) =>
        reply.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`),
      );
    return {
      env: { PARLEY_LOCAL_BASE_URL: `http://127.0.0.1:${port}/v1` },
      args: ["-m", "local/held"],
      requested: response.then(() => undefined),
      stream: (content) => send({ content }, null),
      end: () => {
        send({}, "stop");
        void response.then((reply) => reply.end("data: [DONE]\n\n"));
      },
    };
  };
};
