import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { connect as connectTo, type AddressInfo, type Socket } from "node:net";
import type { GuardedWebOptions } from "../../src/policy/network/guarded-fetch.ts";

/** A fake internet: every name has a public address, and every connection goes to one loopback server. */
export type FakeInternet = {
  readonly web: Omit<GuardedWebOptions, "clock" | "redactor">;
  readonly requests: readonly IncomingMessage[];
  /** The addresses connections were opened to. */
  readonly opened: readonly string[];
  readonly close: () => Promise<void>;
};

export const startFakeInternet = async (
  answer: RequestListener,
  { lookup, deadline }: Pick<GuardedWebOptions, "lookup" | "deadline"> = {},
): Promise<FakeInternet> => {
  const requests: IncomingMessage[] = [];
  const opened: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    web: {
      lookup: lookup ?? (async () => ["93.184.216.34"]),
      connect: async ({ address, port: wanted }) => {
        opened.push(`${address}:${wanted}`);
        return connectToLoopback(port);
      },
      ...(deadline === undefined ? {} : { deadline }),
    },
    requests,
    opened,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const connectToLoopback = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connectTo(port, "127.0.0.1", () => resolve(socket));
    socket.once("error", reject);
  });
