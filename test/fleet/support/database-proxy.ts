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
 * The fate of an append that was sent. "drop": it does not reach the database, as its sender was killed. A promise: it
 * reaches the database later.
 */
export type AppendFate = "drop" | Promise<void> | undefined;

/** Opens a proxy. `onMoment` runs before the next byte moves. */
export const openDatabaseProxy = async (
  url: string,
  onMoment: (moment: AppendMoment) => AppendFate,
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
      const fate = isAppend ? onMoment("append-sent") : undefined;
      if (fate === "drop") return void client.destroy();
      const pass = (): void => {
        isAppending ||= isAppend;
        database.write(bytes);
        if (isAppend) void onMoment("append-passed");
        client.resume();
      };
      if (fate === undefined) return pass();
      client.pause();
      void fate.then(pass);
    });
    database.on("data", (bytes) => {
      client.write(bytes);
      if (!isAppending) return;
      isAppending = false;
      void onMoment("append-answered");
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
