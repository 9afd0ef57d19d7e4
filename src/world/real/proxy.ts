import { BlockList, isIP } from "node:net";
import type { Readable } from "node:stream";
import type { Dispatcher, ProxyAgent } from "undici";
import {
  connectTimeout,
  NetError,
  type HttpHeaders,
  type HttpRequest,
  type HttpResponse,
  type ProxiedNet,
} from "../net.ts";
import type { Environment } from "../world.ts";

/** Whether the environment wants this URL reached through a proxy. This machine itself never is. */
export const needsProxy = (env: Environment, url: string): boolean => proxyFor(env, new URL(url)) !== undefined;

/**
 * Creates a network that uses the proxies of the environment. Loads undici with the first request. It keeps
 * connections, so keep the object.
 */
export const createProxiedNet = (env: Environment, timeout: number = connectTimeout): ProxiedNet => {
  const pools = new Map<string, ProxyConnections>();
  const open = async (proxy: string): Promise<ProxyConnections> => {
    const { ProxyAgent } = await import("undici");
    const pool = pools.get(proxy) ?? new ProxyConnections(createAgent(ProxyAgent, proxy, timeout));
    pools.set(proxy, pool);
    return pool;
  };
  return {
    send: async (request, signal) => {
      signal?.throwIfAborted();
      const url = new URL(request.url);
      await request.ready;
      signal?.throwIfAborted();
      const proxy = proxyFor(env, url);
      if (proxy === undefined) throw new NetError("connect", `${url.host} is not reached through a proxy.`);
      const pool = await open(proxyUrl(proxy));
      const retire = (): void => {
        pools.delete(proxyUrl(proxy));
        pool.retire();
      };
      return pool.use((agent) => exchange(agent, request, { hangUp: retire, timeout }, signal));
    },
    closeIdle: () => {
      for (const pool of pools.values()) pool.retire();
      pools.clear();
    },
  };
};

type ProxyVariable = { readonly variable: string; readonly value: string };

const proxyFor = (env: Environment, { protocol, hostname, port }: URL): ProxyVariable | undefined => {
  const scheme = protocol.slice(0, -1);
  const variable = [`${scheme}_proxy`, `${scheme}_proxy`.toUpperCase()].find((name) => (env[name] ?? "").trim() !== "");
  if (variable === undefined || isLocalOrMetadata(hostname)) return undefined;
  const exceptions = (env["no_proxy"] ?? env["NO_PROXY"] ?? "").split(/[\s,]+/).filter((entry) => entry !== "");
  const at = { host: withoutBrackets(hostname), port: port === "" ? (protocol === "https:" ? "443" : "80") : port };
  if (exceptions.some((entry) => matchesNoProxy(entry.toLowerCase(), at))) return undefined;
  return { variable, value: env[variable]?.trim() ?? "" };
};

/** This machine, and the metadata address where clouds hand out a machine's tokens: a proxy would get them. */
const isLocalOrMetadata = (hostname: string): boolean =>
  hostname === "localhost" ||
  hostname.endsWith(".localhost") ||
  hostname === "[::1]" ||
  hostname === "169.254.169.254" ||
  /^127(\.\d+){3}$/.test(hostname);

const withoutBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, "").toLowerCase();

/**
 * Matches one NO_PROXY entry: `*`, a domain with its subdomains, an address, an address range; all but the last with or
 * without a port.
 */
const matchesNoProxy = (entry: string, at: { readonly host: string; readonly port: string }): boolean => {
  if (entry === "*") return true;
  const range = /^([\da-f:.]+)\/(\d+)$/.exec(entry);
  if (range !== null) return isInSubnet(at.host, range[1] ?? "", Number(range[2]));
  const [, name = "", port] = isIP(entry) === 0 ? (/^(.*?)(?::(\d+))?$/.exec(entry) ?? []) : [entry, entry];
  if (port !== undefined && port !== at.port) return false;
  const domain = withoutBrackets(name).replace(/^\*?\./, "");
  return domain !== "" && (at.host === domain || (isIP(at.host) === 0 && at.host.endsWith(`.${domain}`)));
};

const isInSubnet = (host: string, net: string, bits: number): boolean => {
  const family = isIP(net);
  if (family === 0 || isIP(host) !== family || bits > (family === 4 ? 32 : 128)) return false;
  const type = family === 4 ? "ipv4" : "ipv6";
  const list = new BlockList();
  list.addSubnet(net, bits, type);
  return list.check(host, type);
};

/** A proxy is often given as host and port alone. Its password never appears in a message. */
const proxyUrl = ({ variable, value }: ProxyVariable): string => {
  const args = value.includes("://") ? value : `http://${value}`;
  const protocol = URL.canParse(args) ? new URL(args).protocol : "";
  if (protocol !== "http:" && protocol !== "https:")
    throw new NetError("connect", `${variable} is not the URL of an HTTP proxy.`, undefined, true);
  return args;
};

/** Plain http goes to the proxy directly; only https needs a tunnel, and many proxies open none for anything else. */
const createAgent = (Agent: typeof ProxyAgent, proxy: string, timeout: number): ProxyAgent => {
  const { username, password } = new URL(proxy);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return new Agent({
    uri: proxy,
    proxyTunnel: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    proxyTls: { timeout },
    requestTls: { timeout },
    ...(username === "" ? {} : { token: `Basic ${Buffer.from(credentials).toString("base64")}` }),
  });
};

/** The connections to one proxy. Once retired, it closes them when the last user is done. */
class ProxyConnections {
  readonly #agent: ProxyAgent;
  #users = 0;
  #isRetired = false;

  constructor(agent: ProxyAgent) {
    this.#agent = agent;
  }

  /** `work` returns a response whose body keeps the connections in use until it ends. */
  async use(work: (agent: ProxyAgent) => Promise<ProxiedResponse>): Promise<HttpResponse> {
    this.#users += 1;
    try {
      const { over, ...response } = await work(this.#agent);
      void over.then(() => this.#leave());
      return response;
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  retire(): void {
    this.#isRetired = true;
    this.#closeIfDone();
  }

  #leave(): void {
    this.#users -= 1;
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (this.#isRetired && this.#users === 0) void this.#agent.destroy().catch(() => undefined);
  }
}

type ProxiedResponse = HttpResponse & { readonly over: Promise<void> };

/**
 * Sends one request. Undici notices an abort only once it is connected, so we do not wait for it and retire the hanging
 * connections.
 */
const exchange = (
  agent: ProxyAgent,
  { method, url, headers, body }: HttpRequest,
  { hangUp: retire, timeout }: { readonly hangUp: () => void; readonly timeout: number },
  signal: AbortSignal | undefined,
): Promise<ProxiedResponse> =>
  new Promise((resolve, reject) => {
    const { origin, pathname, search } = new URL(url);
    const stop = (): void => {
      retire();
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", stop, { once: true });
    // Undici limits the time for connecting to the proxy and for the handshake, not for the proxy to open a tunnel.
    const timer = setTimeout(() => {
      retire();
      reject(new NetError("connect", `No connection within ${timeout / 1000} s.`));
    }, timeout);
    agent
      .compose(onRequestStart(() => clearTimeout(timer)))
      .request({
        origin,
        path: pathname + search,
        method,
        headers: { "accept-encoding": "identity", ...headers },
        body: typeof body === "string" ? Buffer.from(body) : (body ?? null),
        ...(signal === undefined ? {} : { signal }),
      })
      .then(
        (answer) => resolve(toProxiedResponse(answer, retire, signal)),
        (error: unknown) =>
          reject(
            new NetError("connect", proxyErrorMessage(error), error, isProxyAuthRequired(error) ? true : undefined),
          ),
      )
      .finally(() => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", stop);
      });
  });

/** Calls `started` when a request is about to be written on a ready connection. */
const onRequestStart =
  (started: () => void): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) =>
    dispatch(options, {
      onRequestStart: (controller, context) => {
        started();
        handler.onRequestStart?.(controller, context);
      },
      onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
      onResponseStart: (...args) => handler.onResponseStart?.(...args),
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError: (...args) => handler.onResponseError?.(...args),
    });

/**
 * Converts undici's response. Connections whose response was not read to the end are retired: undici would reconnect
 * them without need.
 */
const toProxiedResponse = (
  { statusCode, headers, body }: Dispatcher.ResponseData,
  retire: () => void,
  signal: AbortSignal | undefined,
): ProxiedResponse => ({
  status: statusCode,
  headers: toHeaders(headers),
  over: new Promise((resolve) => void body.once("close", resolve)),
  body: {
    [Symbol.asyncIterator]: async function* () {
      try {
        for await (const chunk of await decompress(body, headers["content-encoding"])) yield chunk as Uint8Array;
      } catch (error) {
        if (signal?.aborted === true) throw signal.reason;
        throw new NetError("broken", errorMessage(error), error);
      } finally {
        if (!body.readableEnded) retire();
        body.on("error", () => undefined).destroy();
      }
    },
  },
});

/** We send `accept-encoding: identity`, but some servers compress anyway. */
const decompress = async (body: Readable, encoding: string | string[] | undefined): Promise<AsyncIterable<unknown>> => {
  if (encoding === undefined || encoding === "identity") return body;
  const { createBrotliDecompress, createUnzip } = await import("node:zlib");
  const { pipeline } = await import("node:stream");
  return pipeline(body, encoding === "br" ? createBrotliDecompress() : createUnzip(), () => undefined);
};

const toHeaders = (headers: Dispatcher.ResponseData["headers"]): HttpHeaders =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );

/** A proxy that wants other credentials (407) wants them on a retry too. */
const isProxyAuthRequired = (error: unknown): boolean => /\(407\)/.test(errorMessage(error));

const proxyErrorMessage = (error: unknown): string => {
  const status = /^Proxy (?:response|Authentication Required) \((\d+)\)/.exec(errorMessage(error))?.[1];
  return status === undefined ? errorMessage(error) : `The proxy refuses the connection (${status}).`;
};

const errorMessage = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.message === "" && "code" in error ? String(error.code) : error.message;
};
