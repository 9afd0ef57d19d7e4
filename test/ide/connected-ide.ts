import { afterEach } from "vitest";
import type { IdeOffer } from "../../src/ide/discover.ts";
import type { Ide, IdeListener } from "../../src/ide/ide.ts";
import { realWorld } from "../../src/world/real/world.ts";
import type { World } from "../../src/world/world.ts";

/** A connection to a stand-in of an editor. */
export type ConnectedIde<Server> = {
  readonly ide: Ide;
  readonly server: Server;
  /** Resolves once a condition holds, checked after every change. */
  readonly until: (condition: () => boolean) => Promise<void>;
  /** Resolves when the connection is lost. */
  readonly lost: Promise<void>;
};

/** How a test connects. */
export type IdeTestOptions<ServerOptions> = {
  readonly server?: ServerOptions;
  /** Another token than that of the server. */
  readonly token?: string;
  /** Changes time limits, in milliseconds. */
  readonly limit?: (ms: number) => number;
};

type StandIn = { readonly port: number; readonly token: string; readonly close: () => unknown };

/** The protocol under test: its name, its client and a server that behaves as its extensions do. */
type TestedProtocol<ServerOptions, Server> = {
  readonly protocol: IdeOffer["protocol"];
  readonly connect: (offer: IdeOffer, world: World, listener: IdeListener) => Promise<Ide>;
  readonly serve: (options?: ServerOptions) => Promise<Server>;
};

/** Connections for the tests of one file; each is closed after its test. The proxy of the environment leads nowhere. */
export const useIdes = <ServerOptions, Server extends StandIn>({
  protocol,
  connect,
  serve,
}: TestedProtocol<ServerOptions, Server>): ((
  options?: IdeTestOptions<ServerOptions>,
) => Promise<ConnectedIde<Server>>) => {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  });
  return async ({ server: serverOptions, token, limit = (ms: number) => ms } = {}) => {
    const world = realWorld({ http_proxy: "http://127.0.0.1:9" });
    const clock = { ...world.clock, after: (ms: number, work: () => void) => world.clock.after(limit(ms), work) };
    const server = await serve(serverOptions);
    closers.push(server.close);
    let wake = (): void => undefined;
    let lose = (): void => undefined;
    const lost = new Promise<void>((resolve) => (lose = resolve));
    const offer = {
      protocol,
      name: "Testpad",
      port: server.port,
      token: token ?? server.token,
      folders: [],
      isFor: "folder",
    } as const;
    const ide = await connect(offer, { ...world, clock }, { onChange: () => wake(), onClose: lose });
    closers.push(ide.close);
    return {
      ide,
      server,
      lost,
      until: async (condition) => {
        while (!condition()) await new Promise<void>((resolve) => (wake = resolve));
      },
    };
  };
};
