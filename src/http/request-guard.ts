import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** The requests a door accepts, before anything of them is read. */
export type RequestGuard = {
  /** The names it may be reached by, as `host:port` or `host`; a request that names another is refused (DNS rebinding). */
  readonly hosts: readonly string[];
  /** The web pages that may use it, as origins. Its own origins always may. */
  readonly origins?: readonly string[];
  readonly methods: readonly string[];
};

/** A refusal: a status and a sentence. */
export type HttpRefusal = { readonly status: number; readonly message: string };

/**
 * Refuses unknown methods, other hosts (DNS rebinding), and pages of other origins (CSRF): a browser says where a request
 * comes from, and other programs do not send these headers.
 */
export const refuseRequest = ({ method, headers }: IncomingMessage, guard: RequestGuard): HttpRefusal | undefined => {
  if (!guard.methods.includes(method ?? "")) return { status: 405, message: `Use ${guard.methods.join(", ")}.` };
  const { host, origin } = headers;
  if (host === undefined || !guard.hosts.includes(host.toLowerCase())) return { status: 403, message: "Unknown host." };
  const own = [host.toLowerCase()].flatMap((name) => [`http://${name}`, `https://${name}`]);
  const isListed = origin !== undefined && (guard.origins ?? []).includes(origin);
  if (origin !== undefined && !isListed && !own.includes(origin)) return { status: 403, message: "Other origin." };
  const site = headers["sec-fetch-site"];
  if (!isListed && site !== undefined && site !== "same-origin" && site !== "none")
    return { status: 403, message: "Other site." };
  return undefined;
};

/** The names of a server on this machine. */
export const loopbackHosts = (port: number): readonly string[] => [
  `127.0.0.1:${port}`,
  `localhost:${port}`,
  `[::1]:${port}`,
];

/** Whether only programs on this machine reach an address. */
export const isLoopback = (address: string): boolean =>
  address === "localhost" || address === "::1" || /^127(\.\d{1,3}){3}$/.test(address);

/** A new random token. */
export const createToken = (): string => randomBytes(24).toString("base64url");

/** The form in which tokens are stored: they are random, so a plain digest keeps them safe. */
export const hashToken = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Compares two secrets in a time that does not depend on where they differ. */
export const isSameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(createHash("sha256").update(one).digest(), createHash("sha256").update(other).digest());

/** The token of an `Authorization: Bearer` header. */
export const readBearerToken = ({ headers }: Pick<IncomingMessage, "headers">): string | undefined =>
  /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(headers.authorization ?? "")?.[1];
