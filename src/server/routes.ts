import { z } from "zod";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { CallId } from "../conversation/parts.ts";
import { ServiceError } from "../fleet/service-error.ts";
import type { PostReceipt, SessionCommand, SessionService } from "../fleet/service.ts";
import type { ApprovalDecision } from "../scheduler/events.ts";
import { safeHeaders, sendJson } from "../http/answer.ts";
import { openEventStream } from "../http/event-stream.ts";
import { changeSchema, createSchema, decideSchema, messageSchema, toUserParts } from "./schemas.ts";

/** A request to a route, after all checks: the tenant is that of its token. */
type RouteRequest = {
  readonly service: SessionService;
  readonly tenant: string;
  /** The session in the path; empty for routes without one. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** The sender's idempotency key. */
  readonly key: string | undefined;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborted when the server stops. */
  readonly closing: AbortSignal;
  readonly onEvent: () => void;
};

/** A route as data: the OpenAPI document is made from the same table. */
export type Route = {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With `{id}` for a session. */
  readonly path: string;
  readonly name: string;
  readonly about: string;
  readonly body?: z.ZodType;
  readonly query?: Readonly<Record<string, string>>;
  readonly success: { readonly status: number; readonly about: string; readonly type?: string };
  readonly answer: (request: RouteRequest) => Promise<void>;
};

const postCommand = async (
  { service, tenant, id, key, response }: RouteRequest,
  command: SessionCommand,
): Promise<void> => sendJson(response, 202, toReceipt(await service.post(tenant, id, { command, ...keyOf(key) })));

const toReceipt = ({ command, isDuplicate, sequence }: PostReceipt): object => ({
  command,
  duplicate: isDuplicate,
  sequence,
});

const keyOf = (key: string | undefined): { readonly key?: string } => (key === undefined ? {} : { key });

const readNumber = (text: string | null | undefined, name: string): number | undefined => {
  if (text === null || text === undefined || text === "") return undefined;
  // A live event is `17.3`: what follows record 17 is sent again.
  const number = /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Math.floor(Number(text)) : Number.NaN;
  if (Number.isNaN(number)) throw new ServiceError({ kind: "invalid", message: `${name} must be a number.` });
  return number;
};

const accepted = { status: 202, about: "The command is durable and will be carried out once." };

export const routes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/sessions",
    name: "createSession",
    about: "Create a session",
    body: createSchema,
    success: { status: 201, about: "The session, or the one an earlier request with this key created." },
    answer: async ({ service, tenant, body, key, response }) => {
      const request = createSchema.parse(body ?? {});
      const { id, isDuplicate, sequence } = await service.create(tenant, { ...dropUndefined(request), ...keyOf(key) });
      sendJson(response, 201, { id, duplicate: isDuplicate, sequence }, { location: `/v1/sessions/${id}` });
    },
  },
  {
    method: "GET",
    path: "/v1/sessions",
    name: "listSessions",
    about: "List sessions, newest first",
    query: { limit: "The most sessions of a page, up to 100.", cursor: "The `next` of the page before." },
    success: { status: 200, about: "A page of sessions; `next` is absent on the last one." },
    answer: async ({ service, tenant, query, response }) => {
      const limit = readNumber(query.get("limit"), "limit") ?? 50;
      const cursor = query.get("cursor");
      const page = { limit: Math.min(100, Math.max(1, limit)), ...(cursor === null ? {} : { cursor }) };
      sendJson(response, 200, await service.list(tenant, page));
    },
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}",
    name: "readSession",
    about: "Read the state of a session, with the approvals it awaits",
    success: { status: 200, about: "The session." },
    answer: async ({ service, tenant, id, response }) => sendJson(response, 200, await service.read(tenant, id)),
  },
  {
    method: "PATCH",
    path: "/v1/sessions/{id}",
    name: "changeSession",
    about: "Change the title or the model",
    body: changeSchema,
    success: accepted,
    answer: async (route) => {
      const { title, model } = changeSchema.parse(route.body);
      const { service, tenant, id, key, response } = route;
      const commands: SessionCommand[] = [
        ...(model === undefined ? [] : [{ type: "model", model } as const]),
        ...(title === undefined ? [] : [{ type: "title", title } as const]),
      ];
      let receipt: PostReceipt | undefined;
      for (const command of commands)
        receipt = await service.post(tenant, id, {
          command,
          ...keyOf(key === undefined ? key : `${key}:${command.type}`),
        });
      if (receipt !== undefined) sendJson(response, 202, toReceipt(receipt));
    },
  },
  {
    method: "DELETE",
    path: "/v1/sessions/{id}",
    name: "removeSession",
    about: "Remove a session and everything stored for it",
    success: { status: 204, about: "Removed." },
    answer: async ({ service, tenant, id, response }) => {
      await service.remove(tenant, id);
      response.writeHead(204, safeHeaders).end();
    },
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/messages",
    name: "postMessage",
    about: "Post a message: a prompt, or one for the turn that runs",
    body: messageSchema,
    success: accepted,
    answer: (route) => {
      const message = messageSchema.parse(route.body);
      const { parts, blobs } = toUserParts(message);
      return postCommand(route, { type: message.steer === true ? "steer" : "user", parts, blobs });
    },
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/decisions",
    name: "postDecision",
    about: "Answer an approval request",
    body: decideSchema,
    success: accepted,
    answer: (route) => {
      const { call, decision, digest, agent } = decideSchema.parse(route.body);
      return postCommand(route, {
        type: "decide",
        call: call as CallId,
        decision: dropUndefined(decision) as ApprovalDecision,
        ...(digest === undefined ? {} : { digest }),
        ...(agent === undefined ? {} : { agent }),
      });
    },
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/cancel",
    name: "cancelTurn",
    about: "Cancel the turn, also one that is parked, and the prompts before this request",
    success: accepted,
    answer: (route) => postCommand(route, { type: "cancel" }),
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/events",
    name: "followSession",
    about: "Follow a session as server-sent events; Last-Event-ID resumes after an event",
    query: {
      after: "The same as Last-Event-ID: events after this sequence number. Default: 0, all of them.",
      live: "1 for live events too: text as it arrives, and the state and output of calls.",
      until: "idle to end the stream once the session has nothing to do or waits for a decision.",
    },
    success: { status: 200, about: "Events, each with its sequence number as id.", type: "text/event-stream" },
    answer: followSession,
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/export",
    name: "exportSession",
    about: "Export the log of a session, or its conversation",
    query: { format: "records (default): the lines of a session file; conversation: one JSON document." },
    success: { status: 200, about: "The export.", type: "application/octet-stream" },
    answer: async ({ service, tenant, id, query, response }) => {
      const format = query.get("format") ?? "records";
      if (format !== "records" && format !== "conversation")
        throw new ServiceError({ kind: "invalid", message: "format must be records or conversation." });
      let isBegun = false;
      for await (const chunk of service.export(tenant, id, format)) {
        if (!isBegun)
          response.writeHead(200, {
            ...safeHeaders,
            "content-type": format === "records" ? "application/jsonl" : "application/json",
            "content-disposition": `attachment; filename="${id}.${format === "records" ? "jsonl" : "json"}"`,
          });
        isBegun = true;
        if (!response.write(chunk))
          await new Promise<void>((resolve) => response.once("drain", resolve).once("close", resolve));
        if (response.destroyed) return;
      }
      response.end();
    },
  },
];

async function followSession({
  service,
  tenant,
  id,
  query,
  request,
  response,
  closing,
  onEvent,
}: RouteRequest): Promise<void> {
  const last = request.headers["last-event-id"];
  const after = readNumber(typeof last === "string" ? last : query.get("after"), "Last-Event-ID") ?? 0;
  // Rejects before the answer begins if there is no such session.
  await service.read(tenant, id);
  const stream = openEventStream(response);
  const events = service.follow(tenant, id, {
    after,
    signal: AbortSignal.any([stream.signal, closing]),
    isLive: query.get("live") === "1",
    untilIdle: query.get("until") === "idle",
  });
  for await (const { id: number, event, ...rest } of events) {
    const isOpen = await stream.send({ id: number, event: event.type, data: JSON.stringify({ ...rest, ...event }) });
    onEvent();
    if (!isOpen) break;
  }
  stream.end();
}

const dropUndefined = <Value extends object>(value: Value): { [Key in keyof Value]: Exclude<Value[Key], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [Key in keyof Value]: Exclude<Value[Key], undefined>;
  };
