import { PolicyError } from "../../policy/error.ts";
import { nonPublicReason } from "../../policy/network/public-address.ts";
import { normalizeHost, judgeUrl } from "../../policy/network/judge-url.ts";
import { isSecretField } from "../../policy/secrets/names.ts";
import type { HttpRequest } from "../../world/net.ts";
import type { World } from "../../world/world.ts";
import { limitBody, withPauseLimit } from "./http-body.ts";

/** What `fetch` is to those who know nothing else. */
export type FetchFunction = (url: string | URL, init?: RequestInit) => Promise<Response>;

export type GuardedFetchOptions = {
  readonly world: Pick<World, "net" | "clock" | "env">;
  /** The server the person chose. */
  readonly server: string;
  /** Sent to that server, and to nobody else. */
  readonly headers: { readonly [name: string]: string };
  /** Milliseconds an answer may pause. */
  readonly maxPause: number;
  /** All addresses of a name. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
};

/** How near an address is. What is none of these is nowhere a server may send us. */
type NetworkZone = "machine" | "network" | "internet";

/**
 * A `fetch` for one server. The server itself may stand anywhere the person put it; wherever it sends us from there, by
 * a redirect or by naming who signs people in, must be as far away as itself or farther. The connection goes to the
 * address that was checked.
 */
export const createGuardedFetch = (options: GuardedFetchOptions): FetchFunction => {
  const own = new URL(options.server);
  let nearest: NetworkZone | undefined;
  const checked = async (url: URL): Promise<readonly string[] | undefined> => {
    const isOwn = url.origin === own.origin;
    if (!isOwn) requirePlainUrl(url);
    const addresses = await resolveAddresses(url, options);
    if (addresses === undefined) return undefined;
    if (isOwn && nearest === undefined) nearest = nearestZone(addresses) ?? "internet";
    const isFarEnough = addresses.every((address) => isOwn || mayReach(nearest ?? "internet", zoneOf(address)));
    const isWhereItWas = !isOwn || mayReach(nearest ?? "internet", nearestZone(addresses) ?? "internet");
    if (!isFarEnough || !isWhereItWas)
      throw new PolicyError(
        "policy_violation",
        `${url.host} leads to ${addresses.join(", ")}, where a server at ${own.host} has no business to send us.`,
      );
    return addresses;
  };
  const hop = async (url: URL, init: RequestInit): Promise<Response> => {
    const addresses = await checked(url);
    const request = toRequest(url, init, url.origin === own.origin ? options.headers : {});
    requireEncryptedSecrets(url, request, addresses);
    const stop = new AbortController();
    const signal = init.signal ? AbortSignal.any([init.signal, stop.signal]) : stop.signal;
    const pinned = addresses === undefined ? request : { ...request, addresses };
    const response = await withPauseLimit(
      options.world.net.send(pinned, signal),
      options.world.clock,
      options.maxPause,
    ).catch((error: unknown) => {
      stop.abort();
      throw error;
    });
    const body = limitBody(response, request, { ...options, stop: () => stop.abort() });
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
      if (redirects === maxRedirects) throw new PolicyError("policy_violation", `${url.host} redirects in circles.`);
      url = new URL(next, url);
    }
  };
};

const maxRedirects = 5;

/** Addresses that are not spelled as what they are, or not fetched at all. */
const requirePlainUrl = (url: URL): void => {
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new PolicyError("policy_violation", judgeUrl(url.href).reason);
  if (url.username !== "" || url.password !== "")
    throw new PolicyError("policy_violation", `${url.host} is named with a password.`);
};

/** A token in a request that everybody on the way can read belongs to everybody. */
const requireEncryptedSecrets = (
  url: URL,
  { headers }: HttpRequest,
  addresses: readonly string[] | undefined,
): void => {
  if (url.protocol !== "http:" || isLoopback(url, addresses)) return;
  const secret = Object.keys(headers).find((name) => name === "authorization" || isSecretField(name));
  if (secret !== undefined)
    throw new PolicyError(
      "policy_violation",
      `The header ${secret} holds a secret and is not sent to ${url.host} over plain http. Use an https address.`,
    );
};

const isLoopback = (url: URL, addresses: readonly string[] | undefined): boolean =>
  (addresses ?? [normalizeHost(url)]).every(
    (address) => address === "localhost" || nonPublicReason(address) === "this machine",
  );

const zoneOf = (address: string): NetworkZone | undefined => {
  const why = nonPublicReason(address);
  if (why === undefined) return "internet";
  if (why === "this machine") return "machine";
  return why === "a private network" ? "network" : undefined;
};

const zones: readonly NetworkZone[] = ["machine", "network", "internet"];

const nearestZone = (addresses: readonly string[]): NetworkZone | undefined => {
  const found = addresses.map(zoneOf);
  return zones.find((distance) => found.includes(distance));
};

const mayReach = (nearest: NetworkZone, asked: NetworkZone | undefined): boolean =>
  asked !== undefined && zones.indexOf(asked) >= zones.indexOf(nearest);

/** Where a host is; undefined where a proxy finds it. */
const resolveAddresses = async (
  url: URL,
  { world, lookup = systemLookup }: GuardedFetchOptions,
): Promise<readonly string[] | undefined> => {
  const host = normalizeHost(url);
  if (url.hostname.startsWith("[") || /^[\d.]+$/.test(url.hostname)) return [host];
  const { needsProxy } = await import("../../world/real/proxy.ts");
  if (needsProxy(world.env, url.href)) return undefined;
  const found = await lookup(host);
  if (found.length === 0) throw new Error(`The name ${host} has no address.`);
  return found;
};

const systemLookup = async (host: string): Promise<readonly string[]> => {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
};

const toRequest = (url: URL, init: RequestInit, extra: { readonly [name: string]: string }): HttpRequest => {
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
    ...(body === undefined || body === null ? {} : { body: bodyAsText(body) }),
  };
};

const bodyAsText = (body: NonNullable<RequestInit["body"]>): string => {
  if (typeof body === "string") return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new Error("Only text is sent to servers.");
};
