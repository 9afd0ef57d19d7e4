import type { Web } from "../../tools/capabilities.ts";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import {
  connect as connectTo,
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
} from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { NetError } from "../../world/net.ts";
import { sleepWithClock } from "../../world/sleep.ts";
import type { Clock } from "../../world/world.ts";
import { PolicyError } from "../error.ts";
import type { ConnectSocket } from "./http-exchange.ts";
import { createGuardedWeb, type GuardedWebOptions } from "./guarded-fetch.ts";

const never = new AbortController().signal;
const asked = { most: 1000, signal: never };
const publicAddress = "93.184.216.34";

describe("fetching from the web", () => {
  const servers: (Server | TcpServer)[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      if ("closeAllConnections" in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  const listening = async (server: Server | TcpServer): Promise<number> => {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  };

  /** The internet as one server on loopback, whatever address a connection is opened to. */
  const internet = async (answer: RequestListener, options: Partial<GuardedWebOptions> = {}) => {
    const requests: IncomingMessage[] = [];
    const opened: string[] = [];
    const port = await listening(
      createServer((request, response) => {
        requests.push(request);
        answer(request, response);
      }),
    );
    const connect: ConnectSocket = (to) => {
      opened.push(`${to.address}:${to.port}`);
      return loopback(port);
    };
    const lookups: string[] = [];
    const lookup = (host: string) => {
      lookups.push(host);
      return Promise.resolve([publicAddress]);
    };
    const web = createGuardedWeb({ clock: stillClock(), connect, lookup, ...options });
    return { web, requests, opened, lookups };
  };

  it("connects to the checked address, and sends no identifying headers", async () => {
    const { web, requests, opened, lookups } = await internet((_, response) =>
      response.setHeader("content-type", "text/plain; charset=utf-8").end("hello"),
    );
    const answer = await web.fetch("http://public.test/a?b=c#d", asked);
    expect({ ...answer, bytes: String(answer.bytes) }).toEqual({
      url: "http://public.test/a?b=c#d",
      status: 200,
      type: "text/plain; charset=utf-8",
      bytes: "hello",
      cut: false,
    });
    expect({ opened, lookups, path: requests[0]?.url }).toEqual({
      opened: [`${publicAddress}:80`],
      lookups: ["public.test"],
      path: "/a?b=c",
    });
    expect(Object.keys(requests[0]?.headers ?? {}).toSorted()).toEqual([
      "accept",
      "accept-encoding",
      "connection",
      "host",
      "user-agent",
    ]);
    expect(requests[0]?.headers.host).toBe("public.test");
  });

  it("returns an error page with its status", async () => {
    const { web } = await internet((_, response) => response.writeHead(404).end("no"));
    expect(await web.fetch("http://public.test/", asked)).toMatchObject({ status: 404, cut: false });
  });

  it("never connects to the result of a second lookup (DNS rebinding)", async () => {
    const answers = [[publicAddress], ["127.0.0.1"]];
    const { web, opened } = await internet((_, response) => response.end("ok"), {
      lookup: () => Promise.resolve(answers.shift() ?? []),
    });
    await web.fetch("http://rebind.test/", asked);
    expect({ opened, left: answers.length }).toEqual({ opened: [`${publicAddress}:80`], left: 1 });
  });

  it.each([["127.0.0.1"], ["10.1.2.3"], ["169.254.169.254"], ["::1"], ["::ffff:10.0.0.1"], ["fd00::1"], ["nonsense"]])(
    "refuses a name with an address that is not public: %s",
    async (address) => {
      const { web, opened } = await internet((_, response) => response.end("secret"), {
        lookup: () => Promise.resolve([publicAddress, address]),
      });
      await expect(web.fetch("http://cname.test/", asked)).rejects.toMatchObject({ type: "policy_violation" });
      expect(opened).toEqual([]);
    },
  );

  it.each([
    "http://127.0.0.1/",
    "http://[::ffff:7f00:1]/",
    "http://2130706433/",
    "file:///etc/passwd",
    "http://localhost/",
  ])("refuses %s before any lookup", async (url) => {
    const { web, opened, lookups } = await internet((_, response) => response.end("secret"));
    await expect(web.fetch(url, asked)).rejects.toBeInstanceOf(PolicyError);
    expect({ opened, lookups }).toEqual({ opened: [], lookups: [] });
  });

  it("reports a host name that does not exist", async () => {
    const { web } = await internet((_, response) => response.end(), {
      lookup: () => Promise.reject(new Error("getaddrinfo ENOTFOUND")),
    });
    await expect(web.fetch("http://nowhere.test/", asked)).rejects.toEqual(
      new NetError("connect", "The host nowhere.test was not found."),
    );
  });

  it("tries the next checked address if one refuses the connection", async () => {
    const port = await listening(createServer((_, response) => response.end("ok")));
    const opened: string[] = [];
    const web = createGuardedWeb({
      clock: stillClock(),
      lookup: () => Promise.resolve(["8.8.8.8", publicAddress]),
      connect: ({ address }) => {
        opened.push(address);
        return address === publicAddress ? loopback(port) : Promise.reject(new Error("refused"));
      },
    });
    expect(await web.fetch("http://public.test/", asked)).toMatchObject({ status: 200 });
    expect(opened).toEqual(["8.8.8.8", publicAddress]);
  });

  it("uses TLS with the host name at the checked address", async () => {
    const hello = deferred<Buffer>();
    const port = await listening(
      createTcpServer((socket) =>
        socket.once("data", (bytes) => {
          hello.resolve(bytes);
          socket.destroy();
        }),
      ),
    );
    const opened: string[] = [];
    const web = createGuardedWeb({
      clock: stillClock(),
      lookup: () => Promise.resolve([publicAddress]),
      connect: ({ address, port: wanted }) => {
        opened.push(`${address}:${wanted}`);
        return loopback(port);
      },
    });
    await expect(web.fetch("https://public.test/", asked)).rejects.toBeInstanceOf(NetError);
    const bytes = await hello.promise;
    expect({ opened, handshake: bytes[0], name: bytes.includes("public.test") }).toEqual({
      opened: [`${publicAddress}:443`],
      handshake: 22,
      name: true,
    });
  });

  describe("with redirects", () => {
    const to =
      (location: string, status = 302): RequestListener =>
      (request, response) =>
        request.url === "/r" ? response.writeHead(status, { location }).end() : response.end("there");

    it("follows within the same server", async () => {
      const { web, requests } = await internet(to("/there", 301));
      expect(await web.fetch("http://public.test/r", asked)).toMatchObject({ url: "http://public.test/there" });
      expect(requests.map(({ url }) => url)).toEqual(["/r", "/there"]);
    });

    it("follows to the same name with www.", async () => {
      const { web, lookups } = await internet(to("http://www.public.test/there"));
      await web.fetch("http://public.test/r", asked);
      expect(lookups).toEqual(["public.test", "www.public.test"]);
    });

    it.each([
      "http://127.0.0.1/",
      "http://[::1]/",
      "//127.1/x",
      "http://metadata.google.internal/",
      "file:///etc/passwd",
      "http://public.test:0x",
      "http://2852039166/latest/",
    ])("refuses to follow to %s, even if the caller allows it", async (location) => {
      const { web, opened } = await internet(to(location), { mayFollow: () => true });
      await expect(web.fetch("http://public.test/r", asked)).rejects.toMatchObject({ type: "policy_violation" });
      expect(opened).toHaveLength(1);
    });

    it("checks the addresses of the next host", async () => {
      const { web, opened } = await internet(to("http://inside.test/"), {
        mayFollow: () => true,
        lookup: (host) => Promise.resolve([host === "inside.test" ? "10.0.0.1" : publicAddress]),
      });
      await expect(web.fetch("http://public.test/r", asked)).rejects.toEqual(
        new PolicyError(
          "policy_violation",
          "inside.test resolves to 10.0.0.1, which is not public (a private network).",
        ),
      );
      expect(opened).toHaveLength(1);
    });

    it("does not follow to another host by itself, and names the target", async () => {
      const { web, opened } = await internet(to("http://other.test/x"));
      await expect(web.fetch("http://public.test/r", asked)).rejects.toEqual(
        new PolicyError(
          "policy_violation",
          "http://public.test/r redirects to http://other.test/x. That is another server, or not https. The redirect was not followed; fetch that URL separately if needed.",
        ),
      );
      expect(opened).toHaveLength(1);
    });

    it("does not follow to another port by itself", async () => {
      const { web } = await internet(to("http://public.test:8080/x"));
      await expect(web.fetch("http://public.test/r", asked)).rejects.toMatchObject({ type: "policy_violation" });
    });

    it.each([302, 307, 308])("sends no credentials, not even to the first host (%i)", async (status) => {
      const asks: string[] = [];
      const { web, requests } = await internet(to("http://other.test/x", status), {
        mayFollow: ({ url }, from) => {
          asks.push(`${from} -> ${url}`);
          return true;
        },
      });
      const { url } = await web.fetch("http://user:pass-word@public.test/r", asked);
      expect({
        url,
        asks,
        sent: requests.map(({ headers }) => [headers.host, headers.authorization, headers.cookie]),
      }).toEqual({
        url: "http://other.test/x",
        asks: ["http://public.test/r -> http://other.test/x"],
        sent: [
          ["public.test", undefined, undefined],
          ["other.test", undefined, undefined],
        ],
      });
    });

    it("closes the connection of a redirect", async () => {
      const closed = deferred<void>();
      const { web } = await internet((request, response) => {
        if (request.url !== "/r") return response.end("there");
        request.socket.once("close", () => closed.resolve());
        return response.writeHead(302, { location: "/there" }).write("never ends");
      });
      expect(await web.fetch("http://public.test/r", asked)).toMatchObject({ status: 200 });
      await closed.promise;
    });

    it("stops after five redirects", async () => {
      const { web, requests } = await internet(to("/r"));
      await expect(web.fetch("http://loop.test/r", asked)).rejects.toEqual(
        new PolicyError("policy_violation", "http://loop.test/r redirects more than 5 times."),
      );
      expect(requests).toHaveLength(6);
    });
  });

  describe("with a body that is too large", () => {
    it.each([
      ["as it is", undefined, (text: string) => Buffer.from(text)],
      ["gzip", "gzip", (text: string) => gzipSync(text)],
      ["brotli", "br", (text: string) => brotliCompressSync(text)],
    ])("keeps the first bytes, counted after decompression: %s", async (_, encoding, pack) => {
      const { web } = await internet((_request, response) => {
        if (encoding !== undefined) response.setHeader("content-encoding", encoding);
        response.end(pack("x".repeat(20_000_000)));
      });
      const { bytes, cut } = await web.fetch("http://bomb.test/", asked);
      expect({ length: bytes.length, cut }).toEqual({ length: 1000, cut: true });
    });

    it("closes the connection of an endless body", async () => {
      const closed = deferred<void>();
      const { web } = await internet((request, response) => {
        request.socket.once("close", () => closed.resolve());
        const more = (): void => {
          while (response.write("x".repeat(10_000)));
          response.once("drain", more);
        };
        more();
      });
      expect(await web.fetch("http://big.test/", asked)).toMatchObject({ status: 200, cut: true });
      await closed.promise;
    });

    it.each([
      [1000, false],
      [1001, true],
    ])("of %i bytes reports whether it was truncated: %s", async (length, cut) => {
      const { web } = await internet((_, response) => response.end("x".repeat(length)));
      expect(await web.fetch("http://public.test/", asked)).toMatchObject({ cut });
    });
  });

  it.each<[string, (response: ServerResponse) => void]>([
    [
      "packed and cut off",
      (response) => response.setHeader("content-encoding", "gzip").end(gzipSync("hello").subarray(0, 12)),
    ],
    ["in an unsupported encoding", (response) => response.setHeader("content-encoding", "zstd").end("x")],
    ["cut off", (response) => response.writeHead(200, { "content-length": 100 }).write("x", () => response.destroy())],
    ["no answer", (response) => response.destroy()],
  ])("rejects a broken response: %s", async (_, answer) => {
    const { web } = await internet((_request, response) => answer(response));
    await expect(web.fetch("http://public.test/", asked)).rejects.toBeInstanceOf(NetError);
  });

  describe("with a timeout", () => {
    const late = async (work: (clock: ManualClock) => Promise<{ web: Web; waiting: Promise<unknown> }>) => {
      const clock = manualClock();
      const { web, waiting } = await work(clock);
      const fetched = web.fetch("http://slow.test/", asked);
      await waiting;
      clock.pass(30_000);
      await expect(fetched).rejects.toEqual(new PolicyError("timeout", "http://slow.test/ timed out after 30 s."));
    };

    it("stops a slow body", () =>
      late(async (clock) => {
        const begun = deferred<void>();
        const { web } = await internet((_, response) => response.write("x", () => begun.resolve()), { clock });
        return { web, waiting: begun.promise };
      }));

    it("stops a wait for headers", () =>
      late(async (clock) => {
        const begun = deferred<void>();
        const { web } = await internet(() => begun.resolve(), { clock });
        return { web, waiting: begun.promise };
      }));

    it("stops a wait for a lookup", () =>
      late(async (clock) => {
        const { web } = await internet((_, response) => response.end(), { clock, lookup: () => new Promise(() => {}) });
        return { web, waiting: Promise.resolve() };
      }));

    it("tries the next address if the first does not respond", async () => {
      const clock = manualClock();
      const port = await listening(createServer((_, response) => response.end("ok")));
      const silent = deferred<void>();
      const web = createGuardedWeb({
        clock,
        lookup: () => Promise.resolve(["8.8.8.8", publicAddress]),
        connect: ({ address }, signal) =>
          address === publicAddress
            ? loopback(port)
            : new Promise((_, reject) => {
                signal.addEventListener("abort", () => reject(new Error("given up")));
                silent.resolve();
              }),
      });
      const fetched = web.fetch("http://slow.test/", asked);
      await silent.promise;
      clock.pass(5000);
      expect(await fetched).toMatchObject({ status: 200 });
    });
  });

  it("stops at once when it is aborted, and closes the connection", async () => {
    const begun = deferred<void>();
    const closed = deferred<void>();
    const { web } = await internet((request, response) => {
      request.socket.once("close", () => closed.resolve());
      response.write("x", () => begun.resolve());
    });
    const stop = new AbortController();
    const fetched = web.fetch("http://public.test/", { most: 1000, signal: stop.signal });
    await begun.promise;
    stop.abort(new Error("enough"));
    await expect(fetched).rejects.toEqual(new Error("enough"));
    await closed.promise;
    await expect(web.fetch("http://public.test/", { most: 1, signal: stop.signal })).rejects.toEqual(
      new Error("enough"),
    );
  });
});

const loopback: (port: number) => ReturnType<ConnectSocket> = (port) =>
  new Promise((resolve, reject) => {
    const socket = connectTo({ host: "127.0.0.1", port }, () => resolve(socket));
    socket.once("error", reject);
  });

const deferred = <Value>() => {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((done) => (resolve = done));
  return { promise, resolve };
};

type ManualClock = Clock & { readonly pass: (ms: number) => void };

/** Wakes who sleeps no longer than the time that passes. */
const manualClock = (): ManualClock => {
  const sleepers = new Set<{ readonly ms: number; readonly wake: () => void }>();
  const after: Clock["after"] = (ms, wake) => {
    const sleeper = { ms, wake };
    sleepers.add(sleeper);
    return () => void sleepers.delete(sleeper);
  };
  return {
    now: () => 0,
    elapsed: () => 0,
    after,
    sleep: (ms, signal) => sleepWithClock({ after }, ms, signal),
    pass: (time) => [...sleepers].filter(({ ms }) => ms <= time).forEach(({ wake }) => wake()),
  };
};

const stillClock = (): Clock => manualClock();
