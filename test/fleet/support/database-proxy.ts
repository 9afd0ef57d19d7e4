import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** The moments of an append: before the database gets it, once it was passed on, and once the answer was passed back. */
export type AppendMoment = "append-sent" | "append-passed" | "append-answered";

/** Stands between a process and the database, and sees its appends. */
export type DatabaseProxy = {
  /** The address of the database through this proxy. */
  readonly url: string;
  readonly close: () => Promise<void>;
};

/**
 * Opens a proxy. `onMoment` runs before the next byte moves. If it returns "drop", the append does not reach the database:
 * its sender was killed.
 */
export const openDatabaseProxy = async (
  url: string,
  onMoment: (moment: AppendMoment) => "drop" | undefined,
): Promise<DatabaseProxy> => {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname);
    let isAppending = false;
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (bytes) => {
      const isAppend = bytes.includes("parley.append(");
      if (isAppend && onMoment("append-sent") === "drop") return client.destroy();
      isAppending ||= isAppend;
      database.write(bytes);
      if (isAppend) onMoment("append-passed");
    });
    database.on("data", (bytes) => {
      client.write(bytes);
      if (!isAppending) return;
      isAppending = false;
      onMoment("append-answered");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const through = new URL(url);
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
};
