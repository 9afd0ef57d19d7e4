import { generateKeyPairSync, sign } from "node:crypto";
import {
  createServer,
  request as forward,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import {
  connect,
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readBodyText, NetError, type HttpRequest, type HttpResponse } from "../net.ts";
import { needsProxy, createProxiedNet } from "./proxy.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  vi.useRealTimers();
  for (const close of closers.splice(0)) await close();
});

const listen = async (server: TcpServer): Promise<number> => {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
};

type Proxy = {
  readonly port: number;
  readonly seen: string[];
  /** All connections ever made, and those still open. */
  readonly connections: () => number;
  readonly open: () => Promise<number>;
};

/** A proxy without DNS: every request goes to this port of this machine. */
const openProxy = async (
  target: number,
  gatekeeper: (request: IncomingMessage) => number = () => 200,
): Promise<Proxy> => {
  const seen: string[] = [];
  const note = (incoming: IncomingMessage): void => {
    seen.push(`${incoming.method} ${incoming.url} ${incoming.headers["proxy-authorization"] ?? "-"}`);
  };
  const server = createServer((incoming, response) => {
    note(incoming);
    const status = gatekeeper(incoming);
    if (status !== 200) return void response.writeHead(status).end();
    const { pathname, search } = new URL(incoming.url ?? "");
    const onward = forward(
      { port: target, host: "127.0.0.1", method: incoming.method, path: pathname + search, headers: incoming.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
        answer.on("error", () => response.destroy());
      },
    );
    onward.on("error", () => response.destroy());
    incoming.pipe(onward);
  });
  server.on("connect", (incoming: IncomingMessage, socket: Socket) => {
    note(incoming);
    socket.on("error", () => undefined);
    const status = gatekeeper(incoming);
    if (status === 0) return void socket.resume();
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const onward = connect(target, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy()).on("close", () => socket.destroy());
    socket.on("close", () => onward.destroy());
  });
  // A connection counts as open until the other side has closed its end.
  let connections = 0;
  server.on("connection", (socket: Socket) => {
    connections += 1;
    socket.on("end", () => socket.destroy());
  });
  const port = await listen(server);
  return {
    port,
    seen,
    connections: () => connections,
    open: () => new Promise((resolve) => server.getConnections((_, count) => resolve(count))),
  };
};

/** A self-signed certificate, written out: nothing else here needs a tool to create one. */
const selfSigned = (name: string): { readonly key: string; readonly cert: string } => {
  const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
    const body = Buffer.concat(parts);
    const { length } = body;
    const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
    return Buffer.concat([Buffer.from([tag, ...size]), body]);
  };
  const hex = (digits: string): Buffer => Buffer.from(digits, "hex");
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = der(0x30, hex("06082a8648ce3d040302"));
  const subject = der(0x30, der(0x31, der(0x30, hex("0603550403"), der(0x0c, Buffer.from(name)))));
  const names = der(0x30, hex("0603551d11"), der(0x04, der(0x30, der(0x82, Buffer.from(name)))));
  const days = ["200101000000Z", "491231235959Z"].map((day) => der(0x17, Buffer.from(day)));
  const claims = der(
    0x30,
    hex("a003020102"),
    hex("020101"),
    algorithm,
    subject,
    der(0x30, ...days),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, der(0x30, names)),
  );
  const signature = sign("sha256", claims, privateKey);
  const cert = der(0x30, claims, algorithm, der(0x03, hex("00"), signature));
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${cert.toString("base64")}\n-----END CERTIFICATE-----\n`,
  };
};

const echo: RequestListener = (incoming, response) => {
  const chunks: Buffer[] = [];
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
  incoming.on("end", () => {
    response.writeHead(202, { "x-path": incoming.url, "x-mark": incoming.headers["x-mark"] });
    response.end(Buffer.concat(chunks));
  });
};

const post = (url: string): HttpRequest => ({ method: "POST", url, headers: { "x-mark": "1" }, body: '{"a":"ä"}' });
const httpTo = async (answer: RequestListener): Promise<{ proxy: Proxy; env: { HTTP_PROXY: string } }> => {
  const proxy = await openProxy(await listen(createServer(answer)));
  return { proxy, env: { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` } };
};
const told = async (response: HttpResponse): Promise<unknown> => ({
  status: response.status,
  path: response.headers["x-path"],
  mark: response.headers["x-mark"],
  text: await readBodyText(response),
});
const everything = { status: 202, path: "/v1/x?y=1", mark: "1", text: '{"a":"ä"}' };
const until = async (holds: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
};

describe("a proxy", () => {
  it("tunnels https without seeing its content, and gets only its own password", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    // Node prints a warning about the variable.
    vi.spyOn(process, "emitWarning").mockReturnValue();
    const proxy = await openProxy(await listen(createSecureServer(selfSigned("api.example.test"), echo)));
    const net = createProxiedNet({ HTTPS_PROXY: `http://me:p%40ss@127.0.0.1:${proxy.port}` });

    expect(await told(await net.send(post("https://api.example.test/v1/x?y=1")))).toEqual(everything);
    expect(proxy.seen).toEqual([`CONNECT api.example.test:443 Basic ${Buffer.from("me:p@ss").toString("base64")}`]);
  });

  it("does not make an untrusted certificate valid", async () => {
    const proxy = await openProxy(await listen(createSecureServer(selfSigned("api.example.test"), echo)));
    const sent = createProxiedNet({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }).send(
      post("https://api.example.test/"),
    );

    await expect(sent).rejects.toMatchObject({ at: "connect", code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  });

  it("forwards plain http without a tunnel", async () => {
    const { proxy, env } = await httpTo(echo);

    expect(await told(await createProxiedNet(env).send(post("http://api.example.test/v1/x?y=1")))).toEqual(everything);
    expect(proxy.seen).toEqual(["POST http://api.example.test/v1/x?y=1 -"]);
  });

  it("may be configured without http://", async () => {
    const { proxy } = await httpTo(echo);
    const net = createProxiedNet({ http_proxy: `127.0.0.1:${proxy.port}` });

    expect(await told(await net.send(post("http://api.example.test/v1/x?y=1")))).toEqual(everything);
  });

  it("keeps connections for the next request", async () => {
    const { proxy, env } = await httpTo(echo);
    const net = createProxiedNet(env);
    for (let turn = 0; turn < 10; turn++) await readBodyText(await net.send(post("http://api.example.test/")));

    expect(proxy.connections()).toBeLessThanOrEqual(2);
  });

  it("is disconnected when idle connections are closed, and reconnected by the next request", async () => {
    const { proxy, env } = await httpTo(echo);
    const net = createProxiedNet(env);
    await readBodyText(await net.send(post("http://api.example.test/")));
    expect(await proxy.open()).toBe(1);
    net.closeIdle();
    await until(async () => (await proxy.open()) === 0);
    expect(await told(await net.send(post("http://api.example.test/v1/x?y=1")))).toEqual(everything);
  });

  it("sends the server name in the tunnel's TLS handshake", async () => {
    const names: (string | undefined)[] = [];
    const server = createSecureServer({
      ...selfSigned("api.example.test"),
      SNICallback: (name, done) => (names.push(name), done(null)),
    });
    const proxy = await openProxy(await listen(server));
    const sent = createProxiedNet({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }).send(
      post("https://api.example.test/"),
    );

    await expect(sent).rejects.toMatchObject({ at: "connect" });
    expect(names).toEqual(["api.example.test"]);
  });

  it.each<[string, number]>([
    ["opens no tunnel", 0],
    ["leads to a server that never answers the handshake", 200],
  ])("that %s is given up after the time to connect", async (_, status) => {
    const silent = createTcpServer((socket) => void socket.on("error", () => undefined).resume());
    const proxy = await openProxy(await listen(silent), () => status);
    const net = createProxiedNet({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }, 100);
    const failed: unknown = await net.send(post("https://api.example.test/")).catch((error: unknown) => error);

    expect(failed).toBeInstanceOf(NetError);
    expect(failed).toMatchObject({ at: "connect", isPermanent: false });
    await until(async () => (await proxy.open()) === 0);
  });

  it("may take longer than the connect timeout for the response", async () => {
    const waiting: ServerResponse[] = [];
    const { env } = await httpTo((_, response) => void waiting.push(response));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const sent = createProxiedNet(env).send(post("http://api.example.test/"));
    await until(() => waiting.length === 1);
    vi.advanceTimersByTime(60_000);
    waiting[0]?.end("late");

    expect(await readBodyText(await sent)).toBe("late");
  });

  it("never follows a redirect", async () => {
    const { env } = await httpTo((_, response) => void response.writeHead(302, { location: "http://evil.test" }).end());

    expect((await createProxiedNet(env).send(post("http://api.example.test/"))).status).toBe(302);
  });

  it.each([403, 407, 502])("that answers %i is reported as refusing the connection", async (status) => {
    const proxy = await openProxy(1, () => status);
    const net = createProxiedNet({ HTTPS_PROXY: `http://me:canary@127.0.0.1:${proxy.port}` });
    const failed: unknown = await net.send(post("https://api.example.test/")).catch((error: unknown) => error);

    expect(failed).toBeInstanceOf(NetError);
    expect(failed).toMatchObject({ at: "connect", message: `The proxy refuses the connection (${status}).` });
  });

  it("that cannot be reached is a failed connection", async () => {
    const sent = createProxiedNet({ HTTPS_PROXY: "http://127.0.0.1:1" }).send(post("https://api.example.test/"));

    await expect(sent).rejects.toMatchObject({ at: "connect", code: "ECONNREFUSED" });
  });

  it.each(["socks5://127.0.0.1:1", "http://", "::"])("must be an HTTP proxy, not %s", async (value) => {
    const sent = createProxiedNet({ HTTPS_PROXY: value }).send(post("https://api.example.test/"));

    await expect(sent).rejects.toMatchObject({
      at: "connect",
      message: "HTTPS_PROXY is not the URL of an HTTP proxy.",
    });
  });
});

describe("a response through a proxy", () => {
  it("is decompressed", async () => {
    const { env } = await httpTo((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("words ".repeat(100)));
    });

    expect(await readBodyText(await createProxiedNet(env).send(post("http://api.example.test/")))).toBe(
      "words ".repeat(100),
    );
  });

  it.each<[string, RequestListener]>([
    [
      "whose packing ends too early",
      (_, response) => {
        const packed = gzipSync("words ".repeat(1000));
        response.writeHead(200, { "content-encoding": "gzip" }).end(packed.subarray(0, packed.length - 9));
      },
    ],
    [
      "whose packing is nonsense",
      (_, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end("not packed at all"),
    ],
    [
      "that is cut off",
      (_, response) => {
        response.writeHead(200, { "content-length": "100" });
        response.write("half", () => response.destroy());
      },
    ],
    [
      "that is cut off between chunks",
      (_, response) => {
        response.writeHead(200);
        response.write("half", () => response.destroy());
      },
    ],
  ])("%s is broken, not short", async (_, answer) => {
    const { env } = await httpTo(answer);
    const response = await createProxiedNet(env).send(post("http://api.example.test/"));
    const failed: unknown = await readBodyText(response).catch((error: unknown) => error);

    expect(failed).toBeInstanceOf(NetError);
    expect(failed).toMatchObject({ at: "broken" });
  });

  it("closes the connection when its reader stops early", async () => {
    const { proxy, env } = await httpTo((_, response) => {
      response.writeHead(200);
      response.write("first");
    });
    const { body } = await createProxiedNet(env).send(post("http://api.example.test/"));
    for await (const chunk of body) if (chunk.length > 0) break;

    await until(async () => (await proxy.open()) === 0);
    expect(proxy.connections()).toBe(1);
  });
});

describe("aborting a proxied request", () => {
  const enough = new Error("enough");

  it("closes the connection at once, in the middle of a response", async () => {
    const { proxy, env } = await httpTo((_, response) => {
      response.writeHead(200);
      response.write("first");
    });
    const stop = new AbortController();
    const { body } = await createProxiedNet(env).send(post("http://api.example.test/"), stop.signal);
    const read = async (): Promise<void> => {
      for await (const chunk of body) if (chunk.length > 0) stop.abort(enough);
    };

    await expect(read()).rejects.toBe(enough);
    await until(async () => (await proxy.open()) === 0);
    expect(proxy.connections()).toBe(1);
  });

  it.each<[string, string, number]>([
    ["the server stays silent", "http://api.example.test/", 200],
    ["the proxy itself stays silent", "https://api.example.test/", 0],
  ])("closes the connection at once, while %s", async (_, url, status) => {
    const proxy = await openProxy(await listen(createServer(() => undefined)), () => status);
    const address = `http://127.0.0.1:${proxy.port}`;
    const stop = new AbortController();
    const sent = createProxiedNet({ HTTP_PROXY: address, HTTPS_PROXY: address }).send(post(url), stop.signal);
    sent.catch(() => undefined);
    await until(() => proxy.seen.length === 1);
    stop.abort(enough);

    await expect(sent).rejects.toBe(enough);
    await until(async () => (await proxy.open()) === 0);
  });

  it("opens no connection when aborted first", async () => {
    const { proxy, env } = await httpTo(echo);

    await expect(createProxiedNet(env).send(post("http://a.test/"), AbortSignal.abort(enough))).rejects.toBe(enough);
    expect(proxy.seen).toEqual([]);
  });
});

describe("whether a proxy is needed", () => {
  const both = { HTTPS_PROXY: "http://p:1", HTTP_PROXY: "http://p:2" };

  it.each<[string, string, Readonly<Record<string, string>>, boolean]>([
    ["nothing is set", "https://a.test/", {}, false],
    ["it is set for https", "https://a.test/", { HTTPS_PROXY: "http://p:1" }, true],
    ["it is set in small letters", "https://a.test/", { https_proxy: "http://p:1" }, true],
    ["it is empty", "https://a.test/", { HTTPS_PROXY: " " }, false],
    ["it is set for http alone", "https://a.test/", { HTTP_PROXY: "http://p:1" }, false],
    ["it is this machine", "http://localhost:1234/", both, false],
    ["it is this machine by number", "http://127.3.2.1/", both, false],
    ["it is this machine in the new numbers", "http://[::1]:8080/", both, false],
    ["it hands out the machine's tokens", "http://169.254.169.254/x", both, false],
    ["all are excepted", "https://a.test/", { ...both, NO_PROXY: "*" }, false],
    ["it is excepted", "https://a.test/", { ...both, NO_PROXY: "x.test, A.test" }, false],
    ["what is above it is excepted", "https://api.a.test/", { ...both, NO_PROXY: "a.test" }, false],
    ["what is above it is excepted with a dot", "https://api.a.test/", { ...both, NO_PROXY: ".a.test" }, false],
    ["its name only ends the same", "https://ba.test/", { ...both, NO_PROXY: "a.test" }, true],
    [
      "it is excepted in small letters, which count first",
      "https://a.test/",
      { ...both, no_proxy: "a.test", NO_PROXY: "" },
      false,
    ],
    ["another port is excepted", "https://a.test:8443/", { ...both, NO_PROXY: "a.test:443" }, true],
    ["its usual port is excepted", "https://a.test/", { ...both, NO_PROXY: "a.test:443" }, false],
    ["its range is excepted", "http://10.1.2.3/", { ...both, NO_PROXY: "10.0.0.0/8" }, false],
    ["another range is excepted", "http://11.1.2.3/", { ...both, NO_PROXY: "10.0.0.0/8" }, true],
    ["its range is excepted in the new numbers", "http://[fd00::1]/", { ...both, NO_PROXY: "fd00::/8" }, false],
    ["its number is excepted", "http://[fd00::1]:80/", { ...both, NO_PROXY: "fd00::1" }, false],
    ["its number and port are excepted", "http://[fd00::1]:81/", { ...both, NO_PROXY: "[fd00::1]:81" }, false],
    ["the exception is nonsense", "http://10.1.2.3/", { ...both, NO_PROXY: "10.0.0.0/99,/,:,." }, true],
  ])("%s", (_, url, env, needed) => {
    expect(needsProxy(env, url)).toBe(needed);
  });
});
