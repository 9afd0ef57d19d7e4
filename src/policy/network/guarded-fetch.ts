import type { FetchResult, Web } from "../../tools/capabilities.ts";
import { NetError } from "../../world/net.ts";
import type { Clock } from "../../world/world.ts";
import { PolicyError } from "../error.ts";
import { fetchOnce, type ConnectSocket } from "./http-exchange.ts";
import { nonPublicReason } from "./public-address.ts";
import { normalizeHost, judgeUrl, type UrlJudgement } from "./judge-url.ts";
import type { Redactor } from "../secrets/redact.ts";

export type GuardedWebOptions = {
  readonly clock: Clock;
  readonly redactor?: Redactor;
  /** Resolves a host name to all its addresses. Called once per hop: the connection goes to the checked address, not to the result of a second lookup (DNS rebinding). */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
  /** Opens a connection to an address. */
  readonly connect?: ConnectSocket;
  /** Returns why an address must not be contacted; undefined if it may. */
  readonly refuseAddress?: (address: string) => string | undefined;
  /** Whether to follow a redirect to another host or to a suspicious URL. Default: never. */
  readonly mayFollow?: (to: UrlJudgement, from: string) => boolean | Promise<boolean>;
  /** Milliseconds for the whole fetch: lookups, redirects and body. */
  readonly deadline?: number;
};

/**
 * Creates a client that fetches from the public internet only (SSRF protection). It sends no cookie, password or
 * other credential. Throws a `PolicyError` for a refusal or timeout, a `NetError` if the connection fails, and the
 * signal's reason on abort.
 */
export const createGuardedWeb = (options: GuardedWebOptions): Web => ({
  fetch: async (url, { most: maxBytes, signal }) => {
    signal.throwIfAborted();
    const { clock, deadline = 30_000 } = options;
    const aborted = new AbortController();
    const stop = (): void => aborted.abort(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    const cancelTimeout = clock.after(deadline, () =>
      aborted.abort(new PolicyError("timeout", `${displayUrl(url, options)} timed out after ${deadline / 1000} s.`)),
    );
    try {
      return await followRedirects(url, { ...options, maxBytes, signal: aborted.signal });
    } finally {
      signal.removeEventListener("abort", stop);
      cancelTimeout();
    }
  },
});

type FetchContext = GuardedWebOptions & { readonly maxBytes: number; readonly signal: AbortSignal };

/** The largest number of redirects in a row. */
const maxRedirects = 5;

const followRedirects = async (address: string, context: FetchContext): Promise<FetchResult> => {
  let from: URL | undefined;
  let text = address;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const url = await requireAllowedUrl(text, from, context);
    const addresses = await resolvePublicAddresses(url, context);
    const answer = await fetchOnce(url, { ...context, addresses });
    if (answer.redirect === undefined) return { url: url.href, ...answer.content };
    from = url;
    text = URL.canParse(answer.redirect, url) ? new URL(answer.redirect, url).href : answer.redirect;
  }
  throw new PolicyError(
    "policy_violation",
    `${displayUrl(address, context)} redirects more than ${maxRedirects} times.`,
  );
};

const judge = (text: string, { redactor }: Pick<GuardedWebOptions, "redactor">): UrlJudgement =>
  judgeUrl(text, redactor === undefined ? {} : { redactor });

const displayUrl = (text: string, options: Pick<GuardedWebOptions, "redactor">): string => judge(text, options).url;

/** Returns the URL to fetch if it is allowed. The caller approved the first; redirects are judged here. */
const requireAllowedUrl = async (text: string, from: URL | undefined, context: FetchContext): Promise<URL> => {
  const judgement = judge(text, context);
  const prefix = from === undefined ? "" : `${displayUrl(from.href, context)} redirects to ${judgement.url}. `;
  if (judgement.decision === "deny") throw new PolicyError("policy_violation", `${prefix}${judgement.reason}`);
  const url = new URL(text);
  url.username = "";
  url.password = "";
  if (from === undefined || isSameServer(from, url, judgement)) return url;
  if ((await context.mayFollow?.(judgement, from.href)) === true) return url;
  const objection = judgement.reason === "" ? "That is another server, or not https." : judgement.reason;
  throw new PolicyError(
    "policy_violation",
    `${prefix}${objection} The redirect was not followed; fetch that URL separately if needed.`,
  );
};

/** Whether two URLs are of the same server, or differ only by `www.` or by http to https. */
const isSameServer = (from: URL, to: URL, { decision }: UrlJudgement): boolean => {
  if (from.origin === to.origin) return true;
  const isDowngrade = from.protocol === "https:" && to.protocol === "http:";
  return decision === "allow" && !isDowngrade && hostWithoutWww(from) === hostWithoutWww(to);
};

const hostWithoutWww = (url: URL): string => normalizeHost(url).replace(/^www\./, "");

/** Resolves a host to its addresses. Throws if any of them is not public. */
const resolvePublicAddresses = async (url: URL, context: FetchContext): Promise<readonly string[]> => {
  const { lookup = systemLookup, refuseAddress = nonPublicReason, signal } = context;
  const host = normalizeHost(url);
  // An IP literal needs no lookup; `judgeUrl` has checked it.
  if (url.hostname.startsWith("[") || /^[\d.]+$/.test(url.hostname)) return [host];
  const addresses = await rejectOnAbort(lookup(host), signal).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new NetError("connect", `The host ${host} was not found.`, error);
  });
  if (addresses.length === 0) throw new NetError("connect", `The host ${host} has no address.`);
  for (const address of addresses) {
    const reason = refuseAddress(address);
    if (reason !== undefined)
      throw new PolicyError("policy_violation", `${host} resolves to ${address}, which is not public (${reason}).`);
  }
  return addresses;
};

const systemLookup = async (host: string): Promise<readonly string[]> => {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
};

const rejectOnAbort = <Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> =>
  new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
