import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { readBodyText, type HttpResponse } from "../net.ts";
import { realWorld } from "./world.ts";
import { version } from "../version.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A server on loopback that counts its connections. */
const serve = async (
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ url: string; connections: () => number; open: () => Promise<number> }> => {
  const server = createServer(answer);
  let connections = 0;
  server.on("connection", () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    open: () => new Promise((resolve) => server.getConnections((_, count) => resolve(count))),
  };
};

const { net } = realWorld({});
const post = (url: string, signal?: AbortSignal): Promise<HttpResponse> =>
  net.send({ method: "POST", url, headers: { "x-mark": "1" }, body: '{"a":"ä"}' }, signal);

/** Waits until a condition holds; the test's own time limit is the only clock. */
const until = async (holds: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
};

describe("the real network", () => {
  it("sends a request and returns the response", async () => {
    const { url } = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        response.writeHead(202, { "x-back": request.headers["x-mark"], "content-type": "text/plain" });
        response.end(Buffer.concat(chunks));
      });
    });
    const response = await post(url);

    expect({ status: response.status, mark: response.headers["x-back"], text: await readBodyText(response) }).toEqual({
      status: 202,
      mark: "1",
      text: '{"a":"ä"}',
    });
  });

  it("keeps a connection for the next request", async () => {
    const { url, connections } = await serve((request, response) => {
      request.resume();
      response.end("ok");
    });
    for (let turn = 0; turn < 3; turn++) await readBodyText(await post(url));

    expect(connections()).toBe(1);
  });

  describe("with a request that may not be sent yet", () => {
    /** A server, and a request to it that waits. */
    const hold = async (signal?: AbortSignal) => {
      let requests = 0;
      const sockets: Socket[] = [];
      const server = await serve((request, response) => {
        requests += 1;
        if (!sockets.includes(request.socket)) sockets.push(request.socket);
        request.resume();
        response.end("ok");
      });
      let [allow, refuse]: [() => void, (error: Error) => void] = [() => undefined, () => undefined];
      const ready = new Promise<void>((resolve, reject) => ([allow, refuse] = [resolve, reject]));
      const send = (): Promise<HttpResponse> =>
        net.send({ method: "POST", url: server.url, headers: {}, body: "{}", ready }, signal);
      return { ...server, sockets, send, allow, refuse, requests: () => requests };
    };

    it("connects, and sends it once it may", async () => {
      const { connections, requests, send, allow } = await hold();
      const sent = send();
      await until(() => connections() === 1);
      expect(requests()).toBe(0);
      allow();
      expect([await readBodyText(await sent), connections(), requests()]).toEqual(["ok", 1, 1]);
    });

    it("closes the connection and sends nothing if it may not", async () => {
      const { connections, requests, open, send, refuse } = await hold();
      const sent = send();
      await until(() => connections() === 1);
      refuse(new Error("The disk is full."));
      await expect(sent).rejects.toThrow("The disk is full.");
      await until(async () => (await open()) === 0);
      expect(requests()).toBe(0);
    });

    it("closes the connection and sends nothing once it is aborted", async () => {
      const control = new AbortController();
      const { connections, requests, open, send, allow } = await hold(control.signal);
      const sent = send();
      await until(() => connections() === 1);
      control.abort(new Error("enough"));
      await expect(sent).rejects.toThrow("enough");
      allow();
      await until(async () => (await open()) === 0);
      expect(requests()).toBe(0);
    });

    it("uses a new connection if the kept one is closed meanwhile", async () => {
      const { url, connections, requests, sockets, open, send, allow } = await hold();
      await readBodyText(await post(url));
      const sent = send();
      sockets[0]?.destroy();
      await until(async () => connections() === 2 && (await open()) === 1);
      expect(requests()).toBe(1);
      allow();
      expect([await readBodyText(await sent), connections(), requests()]).toEqual(["ok", 2, 2]);
    });
  });

  it("retries over a new connection when the kept one was closed meanwhile", async () => {
    const { url, connections } = await serve((request, response) => {
      request.resume();
      response.end("ok", () => setImmediate(() => request.socket.destroy()));
    });
    for (let turn = 0; turn < 3; turn++) expect(await readBodyText(await post(url))).toBe("ok");

    expect(connections()).toBe(3);
  });

  it("closes kept connections with the last release, and busy ones once their response ends", async () => {
    const { url, open } = await serve((request, response) => {
      request.resume();
      response.write("first");
      request.on("end", () => void (request.url === "/slow" ? (finish = () => response.end("last")) : response.end()));
    });
    let finish = (): void => undefined;
    const own = realWorld({}).net;
    const releases = [own.acquire?.(), own.acquire?.()];
    const ask = (path: string): Promise<HttpResponse> =>
      own.send({ method: "POST", url: `${url}${path}`, headers: {}, body: "{}" });
    const slow = await ask("/slow");
    await readBodyText(await ask("/"));
    expect(await open()).toBe(2);
    releases[0]?.();
    releases[0]?.();
    await readBodyText(await ask("/"));
    expect(await open()).toBe(2);
    releases[1]?.();
    await until(async () => (await open()) === 1);
    finish();
    expect(await readBodyText(slow)).toBe("firstlast");
    await until(async () => (await open()) === 0);
    await readBodyText(await ask("/"));
    expect(await open()).toBe(1);
    own.acquire?.()();
    await until(async () => (await open()) === 0);
  });

  it("does not follow a redirect", async () => {
    const { url } = await serve((_, response) => response.writeHead(307, { location: "http://127.0.0.1:9/" }).end());
    const response = await post(url);
    await readBodyText(response);

    expect(response.status).toBe(307);
  });

  it("closes the connection when aborted, before or during a response", async () => {
    const { url, connections, open } = await serve((request, response) => {
      request.resume();
      if (request.url === "/stream") response.write("first");
    });
    const early = new AbortController();
    const waiting = post(url, early.signal);
    await until(() => connections() === 1);
    early.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");

    const late = new AbortController();
    const response = await post(`${url}/stream`, late.signal);
    const reading = readBodyText(response);
    late.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    await until(async () => (await open()) === 0);
  });

  it("rejects reading a response whose connection was closed before anyone read it", async () => {
    const { url, open } = await serve((request, response) => {
      request.resume();
      response.write("first");
    });
    const stop = new AbortController();
    const response = await post(url, stop.signal);
    stop.abort(new Error("enough"));
    await until(async () => (await open()) === 0);
    await expect(readBodyText(response)).rejects.toThrow("enough");
  });

  it("opens no connection when aborted first", async () => {
    const { url, connections } = await serve((_, response) => response.end());
    const stop = new AbortController();
    const sent = post(url, stop.signal);
    stop.abort(new Error("enough"));
    await expect(sent).rejects.toThrow("enough");
    await readBodyText(await post(url));
    expect(connections()).toBe(1);
  });

  it("closes the connection when its reader stops early", async () => {
    const { url, open } = await serve((request, response) => {
      request.resume();
      response.write("first");
    });
    for await (const chunk of (await post(url)).body) {
      expect(Buffer.from(chunk).toString()).toBe("first");
      break;
    }
    await until(async () => (await open()) === 0);
  });

  it("reports a response that breaks off", async () => {
    const { url } = await serve((request, response) => {
      request.resume();
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => response.destroy());
    });

    await expect(readBodyText(await post(url))).rejects.toMatchObject({ at: "broken" });
  });

  it("decompresses responses, and reports a truncated one", async () => {
    const whole = gzipSync("words ".repeat(1000));
    const { url } = await serve((request, response) => {
      request.resume();
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end(request.url === "/cut" ? whole.subarray(0, 40) : whole);
    });

    expect(await readBodyText(await post(url))).toBe("words ".repeat(1000));
    await expect(readBodyText(await post(`${url}/cut`))).rejects.toMatchObject({ at: "broken" });
  });

  it("reports the error code of a refused connection", async () => {
    await expect(post("http://127.0.0.1:1/")).rejects.toMatchObject({ at: "connect", code: "ECONNREFUSED" });
  });
});

describe("real files", () => {
  it("are readable by their owner alone and leave no temporary file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "parley-"));
    closers.push(() => rm(folder, { recursive: true }));
    const { files } = realWorld({});
    const path = join(folder, "auth", "token.json");

    expect(await files.read(path)).toBeUndefined();
    await files.writePrivate(path, "one");
    await files.writePrivate(path, "two");

    expect(await files.read(path)).toBe("two");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, "auth"))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(folder, "auth"))).toEqual(["token.json"]);
    await files.remove(path);
    await files.remove(path);
    expect(await files.read(path)).toBeUndefined();
  });
});

describe("the version", () => {
  it("is that of the package", () => {
    expect(version).toBe(manifest.version);
  });
});
