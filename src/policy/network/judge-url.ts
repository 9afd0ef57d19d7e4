import { domainToUnicode } from "node:url";
import { nonPublicReason } from "./public-address.ts";
import { sanitizeForTerminal } from "../terminal/sanitize.ts";
import { createRedactor, type Redactor } from "../secrets/redact.ts";

/** What is known of an address before anybody is asked about it. */
export type UrlJudgement = {
  /** allow: nothing speaks against it. ask: something about it is odd. deny: it is not of the public internet. */
  readonly decision: "allow" | "ask" | "deny";
  /** A sentence for the person and the model; empty where nothing speaks against it. */
  readonly reason: string;
  /** The host that would be asked, in ASCII; empty where there is none. */
  readonly host: string;
  /** The address as it would be asked, its host in ASCII, with secrets hidden. */
  readonly url: string;
};

/**
 * Judges an address by what the URL parser makes of it, never by how it is
 * spelled. Nothing is looked up: where a name leads is checked when it is fetched.
 */
export const judgeUrl = (
  text: string,
  { redactor = createRedactor() }: { readonly redactor?: Redactor } = {},
): UrlJudgement => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined)
    return {
      decision: "deny",
      reason: "This is not an address.",
      host: "",
      url: redactor.redact(sanitizeForTerminal(text, "line")),
    };
  const host = normalizeHost(url);
  const known = { host, url: redactor.redact(url.href) };
  const refused = findDenyReason(url, host);
  if (refused !== undefined) return { decision: "deny", reason: refused, ...known };
  const odd = listAskReasons(text, url, host, redactor);
  return { decision: odd.length === 0 ? "allow" : "ask", reason: odd.join(" "), ...known };
};

/** The host without brackets and without the dots of a name that is written out to the root. */
export const normalizeHost = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.+$/, "");

const findDenyReason = (url: URL, host: string): string | undefined => {
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return `Only http and https addresses are fetched, not ${url.protocol}`;
  const literal = isIpLiteral(url) ? nonPublicReason(host) : undefined;
  if (literal !== undefined) return `${host} is not a public address (${literal}).`;
  if (isIpLiteral(url)) return undefined;
  if (!isHostName(host)) return `${sanitizeForTerminal(host, "line")} is not a host name.`;
  return isLocalName(host)
    ? `${host} is a name of this machine or its network, not of the public internet.`
    : undefined;
};

const isIpLiteral = (url: URL): boolean => url.hostname.startsWith("[") || /^[\d.]+$/.test(url.hostname);

/** Stricter than the URL parser, which takes names no server has. */
const isHostName = (host: string): boolean =>
  host.length <= 253 && host.split(".").every((label) => /^[a-z\d_]([a-z\d_-]{0,61}[a-z\d_])?$/.test(label));

/** Names without a dot are looked up among neighbours; the others are set aside for machines at home or in a cloud. */
const isLocalName = (host: string): boolean =>
  !host.includes(".") ||
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|svc|home\.arpa|in-addr\.arpa|ip6\.arpa)$/.test(
    host,
  ) ||
  /^(metadata|instance-data)\./.test(host);

const listAskReasons = (
  text: string,
  url: URL,
  host: string,
  { containsSecret: finds }: Redactor,
): readonly string[] => {
  const parts = [
    text,
    decodeComponent(url.pathname),
    decodeComponent(url.search),
    decodeComponent(url.hash),
    host.replaceAll(".", ""),
    host,
  ];
  const found = [
    parts.some((part) => finds(part)) && "The address carries what looks like a secret.",
    (url.username !== "" || url.password !== "") && "The address carries a user name or password; these are not sent.",
    !["", "80", "443"].includes(url.port) && `Port ${url.port} is not the web's.`,
    /(^|\.)xn--/.test(host) && `The name has letters that may pass for others: it is ${host}.`,
    isHostDisguised(text, url) && `The address is spelled to look like another: the host is ${host}.`,
    looksLikeExfiltration(url, host) && "The address has a long part that looks random, as if it carried data out.",
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

/** Whether what is written between the slashes is not simply the host: characters the parser drops, or turns into others. */
const isHostDisguised = (text: string, url: URL): boolean => {
  const trimmed = text.trim();
  if (/[\p{Cc}\s\\]/u.test(trimmed)) return true;
  const written = /^https?:\/\/(?:[^/?#@]*@)?([^/?#]*)/i.exec(trimmed)?.[1]?.toLowerCase().replace(/:\d*$/, "");
  return written !== url.hostname && written !== domainToUnicode(url.hostname);
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

/** Long, without a space, and with more kinds of characters than words have. */
const looksRandom = (text: string, shortest: number): boolean => {
  if (text.length < shortest) return false;
  const longest = Math.max(...text.split(/[\s,.;:!?()/_-]+/).map((run) => run.length));
  if (longest < shortest) return false;
  const digits = text.replaceAll(/\D/g, "").length;
  return digits >= text.length / 8 || new Set(text).size > 18;
};
