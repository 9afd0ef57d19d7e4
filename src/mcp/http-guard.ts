import { PolicyError } from "../policy/error.ts";
import { notPublic } from "../policy/network-address.ts";
import { bareHost, judgeUrl } from "../policy/network.ts";
import { isSecretField } from "../policy/redact-names.ts";
import type { HttpRequest } from "../world/net.ts";
import type { World } from "../world/world.ts";
import { boundedBody, withinPause } from "./http-body.ts";

/** What `fetch` is to those who know nothing else. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export type GuardOptions = {
  readonly world: Pick<World, "net" | "clock" | "env">;
  /** The server the person chose. */
  readonly server: string;
  /** Sent to that server, and to nobody else. */
  readonly headers: { readonly [name: string]: string };
  /** Milliseconds an answer may pause. */
  readonly patience: number;
  /** All addresses of a name. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
};

/** How near an address is. What is none of these is nowhere a server may send us. */
type Distance = "machine" | "network" | "internet";

/**
 * A `fetch` for one server. The server itself may stand anywhere the person put it; wherever it sends us from there, by
 * a redirect or by naming who signs people in, must be as far away as itself or farther. The connection goes to the
 * address that was checked.
 */
export const guardedFetch = (options: GuardOptions): Fetch => {
  const own = new URL(options.server);
  let nearest: Distance | undefined;
  const checked = async (url: URL): Promise<readonly string[] | undefined> => {
    const isOwn = url.origin === own.origin;
    if (!isOwn) refuseOdd(url);
    const addresses = await addressesOf(url, options);
    if (addresses === undefined) return undefined;
    if (isOwn && nearest === undefined) nearest = nearestOf(addresses) ?? "internet";
    const isFarEnough = addresses.every((address) => isOwn || allows(nearest ?? "internet", distanceOf(address)));
    const isWhereItWas = !isOwn || allows(nearest ?? "internet", nearestOf(addresses) ?? "internet");
    if (!isFarEnough || !isWhereItWas)
      throw new PolicyError(
        "policy_violation",
        `${url.host} leads to ${addresses.join(", ")}, where a server at ${own.host} has no business to send us.`,
      );
    return addresses;
  };
  const hop = async (url: URL, init: RequestInit): Promise<Response> => {
    const addresses = await checked(url);
    const request = requestOf(url, init, url.origin === own.origin ? options.headers : {});
    refuseOpenSecrets(url, request, addresses);
    const stop = new AbortController();
    const signal = init.signal ? AbortSignal.any([init.signal, stop.signal]) : stop.signal;
    const pinned = addresses === undefined ? request : { ...request, addresses };
    const response = await withinPause(
      options.world.net.send(pinned, signal),
      options.world.clock,
      options.patience,
    ).catch((error: unknown) => {
      stop.abort();
      throw error;
    });
    const body = boundedBody(response, request, { ...options, stop: () => stop.abort() });
    return new Response([204, 205, 304].includes(response.status) ? null : body, {
      status: response.status,
      headers: { ...response.headers },
    });
  };
  return async (address, init = {}) => {
    let url = new URL(address);
    for (let redirects = 0; ; redirects += 1) {
      const response = await hop(url, init);
      const next = response.headers.get("location");
      const isFollowed = init.redirect !== "manual" && (init.method ?? "GET") === "GET" && next !== null;
      if (![301, 302, 303, 307, 308].includes(response.status) || !isFollowed) return response;
      await response.body?.cancel();
      if (redirects === mostRedirects) throw new PolicyError("policy_violation", `${url.host} redirects in circles.`);
      url = new URL(next, url);
    }
  };
};

const mostRedirects = 5;

/** Addresses that are not spelled as what they are, or not fetched at all. */
const refuseOdd = (url: URL): void => {
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new PolicyError("policy_violation", judgeUrl(url.href).reason);
  if (url.username !== "" || url.password !== "")
    throw new PolicyError("policy_violation", `${url.host} is named with a password.`);
};

/** A token in a request that everybody on the way can read belongs to everybody. */
const refuseOpenSecrets = (url: URL, { headers }: HttpRequest, addresses: readonly string[] | undefined): void => {
  if (url.protocol !== "http:" || isThisMachine(url, addresses)) return;
  const secret = Object.keys(headers).find((name) => name === "authorization" || isSecretField(name));
  if (secret !== undefined)
    throw new PolicyError(
      "policy_violation",
      `The header ${secret} holds a secret and is not sent to ${url.host} over plain http. Use an https address.`,
    );
};

const isThisMachine = (url: URL, addresses: readonly string[] | undefined): boolean =>
  (addresses ?? [bareHost(url)]).every((address) => address === "localhost" || notPublic(address) === "this machine");

const distanceOf = (address: string): Distance | undefined => {
  const why = notPublic(address);
  if (why === undefined) return "internet";
  if (why === "this machine") return "machine";
  return why === "a private network" ? "network" : undefined;
};

const distances: readonly Distance[] = ["machine", "network", "internet"];

const nearestOf = (addresses: readonly string[]): Distance | undefined => {
  const found = addresses.map(distanceOf);
  return distances.find((distance) => found.includes(distance));
};

const allows = (nearest: Distance, asked: Distance | undefined): boolean =>
  asked !== undefined && distances.indexOf(asked) >= distances.indexOf(nearest);

/** Where a host is; undefined where a proxy finds it. */
const addressesOf = async (
  url: URL,
  { world, lookup = systemLookup }: GuardOptions,
): Promise<readonly string[] | undefined> => {
  const host = bareHost(url);
  if (url.hostname.startsWith("[") || /^[\d.]+$/.test(url.hostname)) return [host];
  const { needsProxy } = await import("../world/proxy.ts");
  if (needsProxy(world.env, url.href)) return undefined;
  const found = await lookup(host);
  if (found.length === 0) throw new Error(`The name ${host} has no address.`);
  return found;
};

const systemLookup = async (host: string): Promise<readonly string[]> => {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
};

const requestOf = (url: URL, init: RequestInit, extra: { readonly [name: string]: string }): HttpRequest => {
  const { body, method = "GET" } = init;
  const headers = new Headers(extra);
  new Headers(init.headers ?? {}).forEach((value, name) => headers.set(name, value));
  if (body instanceof URLSearchParams && !headers.has("content-type"))
    headers.set("content-type", "application/x-www-form-urlencoded");
  if (method !== "GET" && method !== "POST" && method !== "DELETE") throw new Error(`${method} is not spoken here.`);
  return {
    method,
    url: url.href,
    headers: Object.fromEntries(headers),
    ...(body === undefined || body === null ? {} : { body: textOf(body) }),
  };
};

const textOf = (body: NonNullable<RequestInit["body"]>): string => {
  if (typeof body === "string") return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new Error("Only text is sent to servers.");
};
