import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { ServiceError, type ServiceFailure } from "../fleet/service-error.ts";
import { withTrace, type SessionService } from "../fleet/service.ts";
import { sendBytes, sendJson } from "../http/answer.ts";
import { listen, type ListenOptions } from "../http/listen.ts";
import { readJsonBody, RequestBodyError } from "../http/request-body.ts";
import { isLoopback, loopbackHosts, readBearerToken, refuseRequest } from "../http/request-guard.ts";
import type { RequestSpan } from "../telemetry/request-span.ts";
import type { AuthenticateToken } from "./authenticate.ts";
import { HttpMetrics } from "./metrics.ts";
import { describeApi } from "./openapi.ts";
import { routes, type Route } from "./routes.ts";

/** More routes on the same door, such as A2A. They get requests that passed host, origin and token checks. */
export type DoorExtension = {
  /** Paths that need no token, such as an agent card. */
  readonly isPublic: (path: string) => boolean;
  /** Answers a request; false if the path is none of its own. `tenant` is undefined for public paths. */
  readonly answer: (exchange: DoorExchange) => Promise<boolean>;
};

/** A request that passed the checks of the door. */
type DoorExchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly tenant: string | undefined;
  readonly closing: AbortSignal;
  readonly readBody: () => Promise<unknown>;
  /** The span of the request as a `traceparent`. */
  readonly trace: string | undefined;
};

export type FrontDoorOptions = ListenOptions & {
  readonly service: SessionService;
  readonly authenticate: AuthenticateToken;
  /** The tenant whose tokens may read the metrics, which count all tenants. */
  readonly operator: string;
  /** Names it is reached by besides loopback ones, as `host` or `host:port`: those a proxy passes on. */
  readonly hosts?: readonly string[];
  readonly origins?: readonly string[];
  readonly bodyBytes?: number;
  readonly extensions?: readonly DoorExtension[];
  /** Called for each answer. It gets the route and never a path, a query or a header, so no token and no id is in a log. */
  readonly onAnswer?: (line: AnswerLine) => void;
  /** Starts the span of a request, with the `traceparent` its client sent. */
  readonly startTrace?: ((traceparent: string | undefined) => RequestSpan) | undefined;
};

/**
 * One answer, as it may be logged.
 *
 * @internal Exported for its tests.
 */
export type AnswerLine = {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
};

/** The front door, open. */
export type FrontDoor = {
  readonly url: string;
  readonly port: number;
  /** Says "not ready", ends streams, lets open requests end for at most this long. */
  readonly close: (milliseconds?: number) => Promise<void>;
};

const methods = ["GET", "POST", "PATCH", "DELETE"];
/** Any session of another tenant, a session that does not exist and a path that does not exist. */
const notFound = { error: { kind: "not-found", message: "Not found." } };

/** Serves sessions over HTTP. */
export const openFrontDoor = async (options: FrontDoorOptions): Promise<FrontDoor> => {
  const { host = "127.0.0.1" } = options;
  const metrics = new HttpMetrics();
  const closing = new AbortController();
  const server = await listen((request, response) => {
    const started = performance.now();
    const named = { route: "unknown" };
    const { traceparent } = request.headers;
    const span = options.startTrace?.(typeof traceparent === "string" ? traceparent : undefined);
    response.once("close", () => {
      const milliseconds = performance.now() - started;
      const { method = "" } = request;
      const line = {
        method: methods.includes(method) ? method : "other",
        route: named.route,
        status: response.statusCode,
        milliseconds,
      };
      metrics.countRequest(line.route, { ...line, seconds: milliseconds / 1000 });
      options.onAnswer?.(line);
      span?.end(line);
    });
    const hosts = [
      ...(isLoopback(host) ? loopbackHosts(server.port) : []),
      ...(options.hosts ?? []).flatMap((each) => [each.toLowerCase(), `${each.toLowerCase()}:${server.port}`]),
    ];
    const door = { ...options, hosts, metrics, closing: closing.signal, named, trace: span?.traceparent };
    answerRequest(request, response, door).catch((error: unknown) => sendFailure(response, error));
  }, options);
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`,
    port: server.port,
    close: (milliseconds = 0) => {
      closing.abort();
      return server.close(milliseconds);
    },
  };
};

type OpenDoor = FrontDoorOptions & {
  readonly hosts: readonly string[];
  readonly metrics: HttpMetrics;
  readonly closing: AbortSignal;
  /** Filled in with the route of the request. */
  readonly named: { route: string };
  readonly trace: string | undefined;
};

const answerRequest = async (request: IncomingMessage, response: ServerResponse, door: OpenDoor): Promise<void> => {
  const { service, named, closing, metrics, trace } = door;
  const refusal = refuseRequest(request, { hosts: door.hosts, origins: door.origins ?? [], methods });
  if (refusal !== undefined) return sendRefusal(response, refusal.status, "refused", refusal.message);
  const url = new URL(request.url ?? "/", "http://door");
  const readBody = (): Promise<unknown> =>
    readJsonBody(request, {
      bytes: door.bodyBytes ?? 16 * 2 ** 20,
      types: ["application/json", "application/a2a+json"],
    });
  const isGet = request.method === "GET";
  if (isGet && url.pathname === "/healthz") {
    named.route = "/healthz";
    return sendJson(response, 200, { status: "ok" });
  }
  if (isGet && url.pathname === "/readyz") {
    named.route = "/readyz";
    const isReady =
      !closing.aborted &&
      (await service.checkReady().then(
        () => true,
        () => false,
      ));
    return sendJson(response, isReady ? 200 : 503, { status: isReady ? "ready" : "not ready" });
  }
  const open = (door.extensions ?? []).find(({ isPublic }) => isPublic(url.pathname));
  if (open !== undefined) {
    named.route = "public";
    if (await open.answer({ request, response, url, tenant: undefined, closing, readBody, trace })) return;
  }
  const token = readBearerToken(request);
  const tenant = token === undefined ? undefined : await door.authenticate(token);
  if (tenant === undefined) {
    response.setHeader("www-authenticate", "Bearer");
    return sendRefusal(response, 401, "unauthorized", "Send a valid token: Authorization: Bearer TOKEN.");
  }
  if (isGet && url.pathname === "/openapi.json") {
    named.route = "/openapi.json";
    return sendJson(response, 200, describeApi());
  }
  if (isGet && url.pathname === "/metrics" && tenant === door.operator) {
    named.route = "/metrics";
    return sendBytes(response, 200, metrics.format(await service.gauges()), {
      "content-type": "text/plain; version=0.0.4; charset=utf-8",
    });
  }
  const found = findRoute(request.method ?? "", url.pathname);
  if (found !== undefined) {
    named.route = found.route.path;
    const body = found.route.body === undefined ? await drainBody(readBody) : await readBody();
    return found.route.answer({
      service: withTrace(service, trace),
      tenant,
      id: found.id,
      query: url.searchParams,
      body,
      key: readKey(request),
      request,
      response,
      closing,
      onEvent: () => metrics.countEvent(),
    });
  }
  for (const extension of door.extensions ?? []) {
    named.route = "extension";
    if (await extension.answer({ request, response, url, tenant, closing, readBody, trace })) return;
  }
  sendJson(response, 404, notFound);
};

/** A body where none is needed is read and not used, within the limit. */
const drainBody = async (readBody: () => Promise<unknown>): Promise<undefined> => {
  await readBody();
  return undefined;
};

const findRoute = (method: string, path: string): { readonly route: Route; readonly id: string } | undefined => {
  for (const route of routes) {
    if (route.method !== method) continue;
    if (!route.path.includes("{id}")) {
      if (route.path === path) return { route, id: "" };
      continue;
    }
    const [before = "", after = ""] = route.path.split("{id}");
    if (!path.startsWith(before) || !path.endsWith(after) || path.length <= before.length + after.length) continue;
    const id = path.slice(before.length, path.length - after.length);
    if (/^[A-Za-z0-9_-]{1,64}$/.test(id)) return { route, id };
  }
  return undefined;
};

const readKey = ({ headers }: IncomingMessage): string | undefined => {
  const key = headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (typeof key !== "string" || !/^[\x21-\x7e]{1,200}$/.test(key))
    throw new ServiceError({
      kind: "invalid",
      message: "Idempotency-Key must be 1 to 200 printable ASCII characters.",
    });
  return key;
};

const sendRefusal = (response: ServerResponse, status: number, kind: string, message: string): void =>
  sendJson(response, status, { error: { kind, message } }, { connection: "close" });

const statusOf: Readonly<Record<ServiceFailure["kind"], number>> = {
  "not-found": 404,
  invalid: 400,
  "key-reused": 422,
  "not-asked": 409,
  limit: 429,
  busy: 409,
  unavailable: 503,
};

/** Sends the answer for an error. The words of an error that is no failure of the service are not sent: they may say too much. */
const sendFailure = (response: ServerResponse, error: unknown): void => {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (error instanceof RequestBodyError) return sendRefusal(response, error.status, "body", error.message);
  if (error instanceof z.ZodError)
    return sendJson(response, 400, { error: { kind: "invalid", message: z.prettifyError(error) } });
  if (error instanceof ServiceError) {
    const { failure } = error;
    if (failure.kind === "not-found") return sendJson(response, 404, notFound);
    return sendJson(response, statusOf[failure.kind], { error: { kind: failure.kind, message: error.message } });
  }
  sendJson(response, 500, { error: { kind: "internal", message: "Internal error." } });
};
