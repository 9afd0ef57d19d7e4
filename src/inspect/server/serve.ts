import type { IncomingMessage, ServerResponse } from "node:http";
import { listen } from "../../http/listen.ts";
import { createToken, isSameSecret, loopbackHosts, refuseRequest } from "../../http/request-guard.ts";
import { UnknownNameError } from "../../providers/find.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { readAsset } from "./assets.ts";
import { Inspection, type InspectionOptions, type InspectionSource } from "./inspection.ts";

/** The page, being served. */
export type RunningInspector = {
  /** The address to open, with the token in its fragment, which browsers do not send. */
  readonly url: string;
  /** Ends all connections and resolves when the port is free. */
  readonly close: () => Promise<void>;
};

export type ServeInspectorOptions = InspectionOptions & {
  readonly port?: number;
  /** Milliseconds between two looks at the session file while a page follows it. */
  readonly interval?: number;
  /** Whether the process may end while the page is served. */
  readonly isBackground?: boolean;
};

/**
 * Serves the inspector page on loopback. Only GET is answered, so nothing can be changed through it. Everything but the
 * page's own files needs the token, and every request must name this address as its host.
 */
export const serveInspector = async (
  source: InspectionSource,
  { world, models, port = 0, interval = 500, isBackground = false }: ServeInspectorOptions,
): Promise<RunningInspector> => {
  const token = createToken();
  const inspection = new Inspection(source, { world, models });
  const followers = new Set<ServerResponse>();
  const listening = await listen(
    (request, response) => void answer({ request, response, inspection, token, port: listening.port, followers }),
    { port },
  );
  if (isBackground) listening.server.unref().on("connection", (socket) => socket.unref());
  const stopWatch = watchRevision(inspection, followers, interval);
  return {
    url: `http://127.0.0.1:${listening.port}/#token=${token}`,
    close: () => {
      stopWatch();
      for (const follower of followers) follower.end();
      return listening.close();
    },
  };
};

type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly inspection: Inspection;
  readonly token: string;
  readonly port: number;
  readonly followers: Set<ServerResponse>;
};

/** An answer: a status, a type, and the bytes. */
type Answer = { readonly status: number; readonly type: string; readonly body: string | Buffer };

const answer = async (exchange: Exchange): Promise<void> => {
  const { request, response, followers } = exchange;
  const refusal = refusalOf(exchange);
  if (refusal !== undefined) return send(response, refusal);
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://inspector");
  if (pathname === "/api/events") return follow(response, followers);
  try {
    const found = await (pathname.startsWith("/api/")
      ? answerData(exchange.inspection, pathname.slice("/api/".length), searchParams)
      : readAsset(pathname));
    send(response, found ?? text(404, "Not found."));
  } catch (error) {
    send(
      response,
      json({ error: error instanceof Error ? error.message : String(error) }, isUserFault(error) ? 400 : 500),
    );
  }
};

const isUserFault = (error: unknown): boolean => error instanceof UnknownNameError;

/** Refuses what every door refuses, and data without the token. */
const refusalOf = ({ request, token, port }: Exchange): Answer | undefined => {
  const refusal = refuseRequest(request, { hosts: loopbackHosts(port), methods: ["GET"] });
  if (refusal !== undefined) return text(refusal.status, refusal.message);
  if (!(request.url ?? "/").startsWith("/api/")) return undefined;
  const given = request.headers["x-parley-token"];
  return typeof given === "string" && isSameSecret(given, token) ? undefined : text(401, "Missing or wrong token.");
};

const answerData = async (
  inspection: Inspection,
  name: string,
  query: URLSearchParams,
): Promise<Answer | undefined> => {
  const number = (key: string, otherwise: number): number => {
    const value = Number(query.get(key) ?? otherwise);
    return Number.isSafeInteger(value) ? value : otherwise;
  };
  const model = query.get("for") ?? "";
  switch (name) {
    case "overview":
      return json(await inspection.overview());
    case "rows":
      return json(await inspection.rows(Math.max(0, number("from", 0)), Math.min(maxRows, number("count", 100))));
    case "places":
      return json(await inspection.places());
    case "search":
      return json(await inspection.search(query.get("q") ?? ""));
    case "rendering":
      return json(await inspection.rendering(model, number("start", -1), number("end", 2 ** 31)));
    case "comparison": {
      const comparison = await inspection.comparison(number("n", 0));
      return comparison === undefined ? undefined : json(comparison);
    }
    case "composition":
      return json(await inspection.composition(model));
    case "exchange": {
      const exchange = await inspection.exchange(number("n", 0));
      return exchange === undefined ? undefined : json(exchange);
    }
    case "switch":
      return json(await inspection.switchCheck(model));
    case "blob": {
      const bytes = await inspection.blob(query.get("hash") ?? "");
      // The page decides what a blob is shown as; the address itself is never a document.
      return bytes === undefined ? undefined : { status: 200, type: "application/octet-stream", body: bytes };
    }
    default:
      return undefined;
  }
};

const maxRows = 500;

/** All texts are sanitized here, as notes and findings quote what models and files wrote. */
const json = (value: unknown, status = 200): Answer => ({
  status,
  type: "application/json; charset=utf-8",
  body: JSON.stringify(value, (_, item: unknown) => (typeof item === "string" ? sanitizeForTerminal(item) : item)),
});

const text = (status: number, body: string): Answer => ({ status, type: "text/plain; charset=utf-8", body });

/** No inline script or style, nothing from elsewhere, and no string may become HTML. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "media-src blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const securityHeaders = {
  "content-security-policy": contentSecurityPolicy,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

const send = (response: ServerResponse, { status, type, body }: Answer): void => {
  response.writeHead(status, { ...securityHeaders, "content-type": type, "content-length": Buffer.byteLength(body) });
  response.end(body);
};

/** Keeps a connection open that gets a line whenever the session grows. */
const follow = (response: ServerResponse, followers: Set<ServerResponse>): void => {
  response.writeHead(200, { ...securityHeaders, "content-type": "text/event-stream; charset=utf-8" });
  response.write(": connected\n\n");
  followers.add(response);
  response.once("close", () => followers.delete(response));
};

/** Looks at the source while a page follows it. */
const watchRevision = (inspection: Inspection, followers: Set<ServerResponse>, interval: number): (() => void) => {
  let known: number | undefined;
  let isBusy = false;
  const look = async (): Promise<void> => {
    if (followers.size === 0 || isBusy) return;
    isBusy = true;
    // A file that cannot be read just now is looked at again.
    const revision = await inspection.revision().catch(() => known);
    isBusy = false;
    if (revision === known) return;
    known = revision;
    for (const follower of followers) follower.write(`event: change\ndata: ${revision}\n\n`);
  };
  const timer = setInterval(() => void look(), interval);
  timer.unref();
  return () => clearInterval(timer);
};
