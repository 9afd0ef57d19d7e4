import { domainToUnicode } from "node:url";
import { nonPublicReason } from "./public-address.ts";
import { sanitizeForTerminal } from "../terminal/sanitize.ts";
import { createRedactor, type Redactor } from "../secrets/redact.ts";

/** The judgement of a URL before it is fetched. */
export type UrlJudgement = {
  /** allow: no objection. ask: it is suspicious. deny: it is not on the public internet. */
  readonly decision: "allow" | "ask" | "deny";
  /** A sentence for the user and the model; empty if allowed. */
  readonly reason: string;
  /** The host that would be contacted, in ASCII; empty if there is none. */
  readonly host: string;
  /** The normalized URL, its host in ASCII, with secrets redacted. */
  readonly url: string;
};

/**
 * Judges a URL by the result of the URL parser, never by its spelling. Nothing is looked up: the addresses of a host
 * are checked when it is fetched.
 */
export const judgeUrl = (
  text: string,
  { redactor = createRedactor() }: { readonly redactor?: Redactor } = {},
): UrlJudgement => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined)
    return {
      decision: "deny",
      reason: "Not a valid URL.",
      host: "",
      url: redactor.redact(sanitizeForTerminal(text, "line")),
    };
  const host = normalizeHost(url);
  const common = { host, url: redactor.redact(url.href) };
  const denyReason = findDenyReason(url, host);
  if (denyReason !== undefined) return { decision: "deny", reason: denyReason, ...common };
  const askReasons = listAskReasons(text, url, host, redactor);
  return { decision: askReasons.length === 0 ? "allow" : "ask", reason: askReasons.join(" "), ...common };
};

/** The host without brackets and without trailing dots. */
export const normalizeHost = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.+$/, "");

const findDenyReason = (url: URL, host: string): string | undefined => {
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return `Only http and https URLs are fetched, not ${url.protocol}`;
  const literal = isIpLiteral(url) ? nonPublicReason(host) : undefined;
  if (literal !== undefined) return `${host} is not a public address (${literal}).`;
  if (isIpLiteral(url)) return undefined;
  if (!isHostName(host)) return `${sanitizeForTerminal(host, "line")} is not a host name.`;
  return isLocalName(host) ? `${host} is a local name, not a public host.` : undefined;
};

const isIpLiteral = (url: URL): boolean => url.hostname.startsWith("[") || /^[\d.]+$/.test(url.hostname);

/** Stricter than the URL parser, which accepts names no server can have. */
const isHostName = (host: string): boolean =>
  host.length <= 253 && host.split(".").every((label) => /^[a-z\d_]([a-z\d_-]{0,61}[a-z\d_])?$/.test(label));

/** Names without a dot resolve in the local network; the listed domains are reserved for local and cloud networks. */
const isLocalName = (host: string): boolean =>
  !host.includes(".") ||
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|svc|home\.arpa|in-addr\.arpa|ip6\.arpa)$/.test(
    host,
  ) ||
  /^(metadata|instance-data)\./.test(host);

const listAskReasons = (text: string, url: URL, host: string, { containsSecret }: Redactor): readonly string[] => {
  const parts = [
    text,
    decodeComponent(url.pathname),
    decodeComponent(url.search),
    decodeComponent(url.hash),
    host.replaceAll(".", ""),
    host,
  ];
  const found = [
    parts.some((part) => containsSecret(part)) && "The URL contains what looks like a secret.",
    (url.username !== "" || url.password !== "") && "The URL contains a user name or password, which is not sent.",
    !["", "80", "443"].includes(url.port) && `Unusual port ${url.port}.`,
    /(^|\.)xn--/.test(host) && `The host name contains letters that look like others: it is ${host}.`,
    isHostDisguised(text, url) && `The URL is spelled to look like another: its host is ${host}.`,
    looksLikeExfiltration(url, host) && "The URL has a long random-looking part, which may carry data out.",
  ];
  return found.filter((reason) => reason !== false);
};

const decodeComponent = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
};

/** Whether the written host differs from the parsed one: characters that the parser drops or converts. */
const isHostDisguised = (text: string, url: URL): boolean => {
  const trimmed = text.trim();
  if (/[\p{Cc}\s\\]/u.test(trimmed)) return true;
  const spelledHost = /^https?:\/\/(?:[^/?#@]*@)?([^/?#]*)/i.exec(trimmed)?.[1]?.toLowerCase().replace(/:\d*$/, "");
  return spelledHost !== url.hostname && spelledHost !== domainToUnicode(url.hostname);
};

const looksLikeExfiltration = (url: URL, host: string): boolean => {
  if (isIpLiteral(url)) return false;
  const labels = host.split(".");
  return (
    labels.some((label) => looksRandom(label, 20) || label.length > 40) ||
    looksRandom(labels.slice(0, -2).join(""), 32) ||
    host.length > 120 ||
    url.pathname.split("/").some((part) => looksRandom(part, 64)) ||
    [...url.searchParams].flat().some((value) => looksRandom(value, 32) || value.length > 500) ||
    url.href.length > 4000
  );
};

/** Whether a text is long, without separators, and has more digits or distinct characters than words have. */
const looksRandom = (text: string, minLength: number): boolean => {
  if (text.length < minLength) return false;
  const longest = Math.max(...text.split(/[\s,.;:!?()/_-]+/).map((run) => run.length));
  if (longest < minLength) return false;
  const digits = text.replaceAll(/\D/g, "").length;
  return digits >= text.length / 8 || new Set(text).size > 18;
};
