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
  /** All addresses of a name. Asked once for each hop: the connection goes to what was checked, not to what a second answer says. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
  /** Opens a connection to an address. */
  readonly connect?: ConnectSocket;
  /** Why an address must not be asked, if it must not. */
  readonly refuseAddress?: (address: string) => string | undefined;
  /** Whether to follow a redirect to another host, or to an odd address. Without this, nobody does. */
  readonly mayFollow?: (to: UrlJudgement, from: string) => boolean | Promise<boolean>;
  /** Milliseconds for everything: names, redirects, and the last byte. */
  readonly deadline?: number;
};

/** What came back. `url` is where it came from in the end. */
type GuardedResponse = {
  readonly url: string;
  readonly status: number;
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly cut: boolean;
};

export type GuardedWeb = {
  readonly fetch: (
    url: string,
    options: { readonly most: number; readonly signal: AbortSignal },
  ) => Promise<GuardedResponse>;
};

/**
 * Fetches from the public internet alone. No cookie, password or other
 * credential is ever sent. Throws a `PolicyError` for what is refused or takes too
 * long, a `NetError` where the connection fails, and the signal's reason.
 */
export const createGuardedWeb = (options: GuardedWebOptions): GuardedWeb => ({
  fetch: async (url, { most, signal }) => {
    signal.throwIfAborted();
    const { clock, deadline = 30_000 } = options;
    const stopped = new AbortController();
    const stop = (): void => stopped.abort(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    const inTime = clock.after(deadline, () =>
      stopped.abort(
        new PolicyError("timeout", `${displayUrl(url, options)} did not arrive within ${deadline / 1000} s.`),
      ),
    );
    try {
      return await followRedirects(url, { ...options, maxBytes: most, signal: stopped.signal });
    } finally {
      signal.removeEventListener("abort", stop);
      inTime();
    }
  },
});

type FetchContext = GuardedWebOptions & { readonly maxBytes: number; readonly signal: AbortSignal };

/** Redirects in a row, at most. */
const maxRedirects = 5;

const followRedirects = async (address: string, fetching: FetchContext): Promise<GuardedResponse> => {
  let from: URL | undefined;
  let text = address;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const url = await requireAllowedUrl(text, from, fetching);
    const addresses = await resolvePublicAddresses(url, fetching);
    const answer = await fetchOnce(url, { ...fetching, addresses });
    if (answer.redirect === undefined) return { url: url.href, ...answer.content };
    from = url;
    text = URL.canParse(answer.redirect, url) ? new URL(answer.redirect, url).href : answer.redirect;
  }
  throw new PolicyError(
    "policy_violation",
    `${displayUrl(address, fetching)} redirects more than ${maxRedirects} times.`,
  );
};

const judge = (text: string, { redactor }: Pick<GuardedWebOptions, "redactor">): UrlJudgement =>
  judgeUrl(text, redactor === undefined ? {} : { redactor });

const displayUrl = (text: string, options: Pick<GuardedWebOptions, "redactor">): string => judge(text, options).url;

/** The address to ask, if it may be asked: the first was approved by whoever called, the others follow from it. */
const requireAllowedUrl = async (text: string, from: URL | undefined, fetching: FetchContext): Promise<URL> => {
  const judgement = judge(text, fetching);
  const before = from === undefined ? "" : `${displayUrl(from.href, fetching)} redirects to ${judgement.url}. `;
  if (judgement.decision === "deny") throw new PolicyError("policy_violation", `${before}${judgement.reason}`);
  const url = new URL(text);
  url.username = "";
  url.password = "";
  if (from === undefined || isSameServer(from, url, judgement)) return url;
  if ((await fetching.mayFollow?.(judgement, from.href)) === true) return url;
  const what = judgement.reason === "" ? "That is another server, or a less safe way to it." : judgement.reason;
  throw new PolicyError(
    "policy_violation",
    `${before}${what} It was not followed: fetch it by itself if it is needed.`,
  );
};

/** The same server, or what people take for it: with or without `www.`, and from http to https. */
const isSameServer = (from: URL, to: URL, { decision }: UrlJudgement): boolean => {
  if (from.origin === to.origin) return true;
  const isDowngrade = from.protocol === "https:" && to.protocol === "http:";
  return decision === "allow" && !isDowngrade && hostWithoutWww(from) === hostWithoutWww(to);
};

const hostWithoutWww = (url: URL): string => normalizeHost(url).replace(/^www\./, "");

/** Every address of a host, all of them public: a name with one that is not is refused as a whole. */
const resolvePublicAddresses = async (url: URL, fetching: FetchContext): Promise<readonly string[]> => {
  const { lookup = systemLookup, refuseAddress: refuse = nonPublicReason, signal } = fetching;
  const host = normalizeHost(url);
  // A literal never reaches a resolver; judging the address has checked it.
  if (url.hostname.startsWith("[") || /^[\d.]+$/.test(url.hostname)) return [host];
  const addresses = await rejectOnAbort(lookup(host), signal).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new NetError("connect", `The name ${host} was not found.`, error);
  });
  if (addresses.length === 0) throw new NetError("connect", `The name ${host} has no address.`);
  for (const address of addresses) {
    const why = refuse(address);
    if (why !== undefined)
      throw new PolicyError("policy_violation", `${host} leads to ${address}, which is not public (${why}).`);
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
