import { PolicyError } from "../../policy/error.ts";
import { nonPublicReason } from "../../policy/network/public-address.ts";
import { normalizeHost, judgeUrl } from "../../policy/network/judge-url.ts";
import { isSecretField } from "../../policy/secrets/names.ts";
import type { HttpRequest } from "../../world/net.ts";
import type { World } from "../../world/world.ts";
import { limitBody, withPauseLimit } from "./http-body.ts";

/** The part of `fetch` that the client package uses. */
export type FetchFunction = (url: string | URL, init?: RequestInit) => Promise<Response>;

export type GuardedFetchOptions = {
  readonly world: Pick<World, "net" | "clock" | "env">;
  /** The URL of the configured server. */
  readonly server: string;
  /** Sent to that server only. */
  readonly headers: { readonly [name: string]: string };
  /** Milliseconds a response may pause. */
  readonly maxPause: number;
  /** Returns why the server itself must not be at an address; undefined if it may. Default: it may be anywhere. */
  readonly refuseAddress?: (address: string) => string | undefined;
  /** All addresses of a host name. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
};

/** How near an address is. A server may not send us to an address that is none of these. */
type NetworkZone = "machine" | "network" | "internet";

/**
 * Creates a `fetch` for one server. The server itself may be anywhere the user put it; every URL it sends us to, by a
 * redirect or by naming an authorization server, must be in the same zone or farther away. The connection goes to the
 * address that was checked (no DNS rebinding).
 */
export const createGuardedFetch = (options: GuardedFetchOptions): FetchFunction => {
  const own = new URL(options.server);
  let nearest: NetworkZone | undefined;
  const checked = async (url: URL): Promise<readonly string[] | undefined> => {
    const isOwn = url.origin === own.origin;
    if (!isOwn) requirePlainUrl(url);
    const addresses = await resolveAddresses(url, options);
    if (addresses === undefined) return undefined;
    for (const address of addresses) {
      const reason = isOwn ? options.refuseAddress?.(address) : undefined;
      if (reason !== undefined)
        throw new PolicyError("policy_violation", `${url.host} is at ${address} (${reason}), which is not contacted.`);
    }
    if (isOwn && nearest === undefined) nearest = nearestZone(addresses) ?? "internet";
    const isFarEnough = addresses.every((address) => isOwn || mayReach(nearest ?? "internet", zoneOf(address)));
    const isWhereItWas = !isOwn || mayReach(nearest ?? "internet", nearestZone(addresses) ?? "internet");
    if (!isFarEnough || !isWhereItWas)
      throw new PolicyError(
        "policy_violation",
        `${url.host} leads to ${addresses.join(", ")}, where a server at ${own.host} may not send requests.`,
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
      if (redirects === maxRedirects) throw new PolicyError("policy_violation", `${url.host} redirects too often.`);
      url = new URL(next, url);
    }
  };
};

const maxRedirects = 5;

/** Rejects URLs with other protocols or with credentials. */
const requirePlainUrl = (url: URL): void => {
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new PolicyError("policy_violation", judgeUrl(url.href).reason);
  if (url.username !== "" || url.password !== "")
    throw new PolicyError("policy_violation", `${url.host} contains a password.`);
};

/** A token in a plain http request can be read by everyone between us and the server. */
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
      `The header ${secret} contains a secret and is not sent to ${url.host} over plain http. Use an https URL.`,
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

const mayReach = (nearest: NetworkZone, options: NetworkZone | undefined): boolean =>
  options !== undefined && zones.indexOf(options) >= zones.indexOf(nearest);

/** The addresses of a host; undefined where a proxy resolves it. */
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
  if (method !== "GET" && method !== "POST" && method !== "DELETE") throw new Error(`${method} is not supported.`);
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
