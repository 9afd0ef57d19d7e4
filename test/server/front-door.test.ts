import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SessionService } from "../../src/fleet/service.ts";
import { hashToken } from "../../src/http/request-guard.ts";
import { acceptTokens } from "../../src/server/authenticate.ts";
import { openFrontDoor, type AnswerLine, type FrontDoor, type FrontDoorOptions } from "../../src/server/front-door.ts";
import { routes } from "../../src/server/routes.ts";
import { openServiceStage, type ServiceStage } from "../fleet/service-stage.ts";
import { readEvents } from "./read-events.ts";

let stage: ServiceStage;
let service: SessionService;
let door: FrontDoor;
let lines: AnswerLine[];

beforeEach(async () => {
  stage = openServiceStage();
  service = await stage.open();
  lines = [];
  door = await openDoor();
});
afterEach(async () => {
  await door.close();
  await stage.close();
});

const openDoor = (options: Partial<FrontDoorOptions> = {}): Promise<FrontDoor> =>
  openFrontDoor({
    service,
    operator: "local",
    authenticate: acceptTokens(["a", "b", "local"].map((tenant) => ({ sha256: hashToken(`token-${tenant}`), tenant }))),
    onAnswer: (line) => void lines.push(line),
    ...options,
  });

type Answer = { readonly status: number; readonly body: unknown };

const request = (
  path: string,
  { tenant = "a", method = "GET", body, headers = {} }: RequestOptions = {},
): Promise<Response> =>
  fetch(`${door.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer token-${tenant}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

type RequestOptions = {
  readonly tenant?: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

const call = async (path: string, options: RequestOptions = {}): Promise<Answer> => {
  const response = await request(path, options);
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
};

const create = async (tenant = "a"): Promise<string> =>
  ((await call("/v1/sessions", { method: "POST", body: {}, tenant })).body as { readonly id: string }).id;

describe("the front door", () => {
  it("creates, posts, follows, reads, lists, exports and removes", async () => {
    const created = await call("/v1/sessions", { method: "POST", body: { title: "T" } });
    expect(created).toMatchObject({ status: 201, body: { duplicate: false } });
    const { id } = created.body as { readonly id: string };
    const posted = await call(`/v1/sessions/${id}/messages`, { method: "POST", body: { text: "hello" } });
    expect(posted).toMatchObject({ status: 202, body: { command: 1, duplicate: false } });

    const events = await readEvents(await request(`/v1/sessions/${id}/events?until=idle&live=1`));
    expect(events.filter(({ event }) => event !== "usage").map(({ event }) => event)).toEqual([
      "created",
      "title",
      "user",
      ...events.filter(({ event }) => event === "text").map(() => "text"),
      "message",
      "turn",
    ]);
    const message = events.find(({ event }) => event === "message");
    expect(JSON.parse(message?.data ?? "")).toMatchObject({ text: "Hello there.", sequence: Number(message?.id) });

    const later = await readEvents(
      await request(`/v1/sessions/${id}/events?until=idle`, { headers: { "last-event-id": message?.id ?? "" } }),
    );
    expect(later).toEqual(events.filter(({ id: each }) => Number(each) > Number(message?.id)));

    expect(await call(`/v1/sessions/${id}`)).toMatchObject({ status: 200, body: { id, title: "T", state: "idle" } });
    expect(await call("/v1/sessions")).toMatchObject({ status: 200, body: { sessions: [{ id }] } });
    const exported = await request(`/v1/sessions/${id}/export`);
    expect(await exported.text()).toMatch(/^\t\{"sequence":1,/);
    expect(await call(`/v1/sessions/${id}/export?format=conversation`)).toMatchObject({
      status: 200,
      body: { version: 1 },
    });
    expect(await call(`/v1/sessions/${id}`, { method: "DELETE" })).toEqual({ status: 204, body: undefined });
    expect((await call(`/v1/sessions/${id}`)).status).toBe(404);
  });

  it("takes a decision, and repeats of it once", async () => {
    const id = await create();
    await call(`/v1/sessions/${id}/messages`, { method: "POST", body: { text: "write one" } });
    const stream = await request(`/v1/sessions/${id}/events`);
    const asked = (await readEvents(stream, ({ event }) => event === "asked")).at(-1);
    const { call: which, digest } = JSON.parse(asked?.data ?? "") as { readonly call: string; readonly digest: string };
    const decide = (): Promise<Answer> =>
      call(`/v1/sessions/${id}/decisions`, {
        method: "POST",
        body: { call: which, digest, decision: { type: "once" } },
        headers: { "idempotency-key": "d1" },
      });
    expect(await decide()).toMatchObject({ status: 202, body: { duplicate: false } });
    expect(await decide()).toMatchObject({ status: 202, body: { duplicate: true } });
    await readEvents(await request(`/v1/sessions/${id}/events?until=idle`));
    expect(stage.file("one.txt")).toBe("1\n");
    const late = await call(`/v1/sessions/${id}/decisions`, {
      method: "POST",
      body: { call: which, decision: { type: "once" } },
    });
    expect(late).toMatchObject({ status: 409, body: { error: { kind: "not-asked" } } });
  });

  it("cancels a turn, and changes title and model", async () => {
    const id = await create();
    await call(`/v1/sessions/${id}/messages`, { method: "POST", body: { text: "write one" } });
    await readEvents(await request(`/v1/sessions/${id}/events`), ({ event }) => event === "asked");
    expect((await call(`/v1/sessions/${id}/cancel`, { method: "POST" })).status).toBe(202);
    const events = await readEvents(await request(`/v1/sessions/${id}/events?until=idle`));
    expect(JSON.parse(events.at(-1)?.data ?? "")).toMatchObject({ type: "turn", end: { type: "cancelled" } });
    const change = { title: "New", model: "offline/script" };
    expect((await call(`/v1/sessions/${id}`, { method: "PATCH", body: change })).status).toBe(202);
    await readEvents(await request(`/v1/sessions/${id}/events?until=idle`));
    expect((await call(`/v1/sessions/${id}`)).body).toMatchObject({ title: "New" });
  });

  it.each<readonly [string, string, RequestOptions, number]>([
    ["no text", "messages", { method: "POST", body: {} }, 400],
    ["an unknown field", "messages", { method: "POST", body: { text: "x", txet: "y" } }, 400],
    [
      "an unknown decision",
      "decisions",
      { method: "POST", body: { call: "hist_tool_1", decision: { type: "yes" } } },
      400,
    ],
    ["a made-up call", "decisions", { method: "POST", body: { call: "../x", decision: { type: "once" } } }, 400],
    ["a wrong Last-Event-ID", "events", { headers: { "last-event-id": "x" } }, 400],
    ["a wrong key", "cancel", { method: "POST", headers: { "idempotency-key": "a b" } }, 400],
    ["an unknown format", "export?format=zip", {}, 400],
    ["an unknown path", "nosuch", {}, 404],
  ])("answers %s with an error that says why", async (_, path, options, status) => {
    const id = await create();
    expect(await call(`/v1/sessions/${id}/${path}`, options)).toMatchObject({
      status,
      body: { error: { kind: expect.any(String), message: expect.any(String) } },
    });
  });

  it("describes itself: each route is in the OpenAPI document, and each operation of the document is answered", async () => {
    const { paths } = (await call("/openapi.json")).body as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    };
    const described = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations)
        .filter((name) => name !== "parameters")
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.toSorted()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).toSorted());
    for (const { method, path, body, success } of routes) {
      const id = await create();
      const operation = paths[path]?.[method.toLowerCase()] as {
        readonly responses: object;
        readonly requestBody?: object;
      };
      expect(Object.keys(operation.responses)).toContain(String(success.status));
      expect(operation.requestBody !== undefined).toBe(body !== undefined);
      const response = await request(`${path.replace("{id}", id)}?until=idle`, {
        method,
        ...(body === undefined ? {} : { body: exampleBodies[path] }),
      });
      const expected = path.endsWith("/decisions") ? 409 : success.status;
      expect([method, path, response.status]).toEqual([method, path, expected]);
      await response.body?.cancel();
    }
  });

  it("says that it is alive and ready, without a token, and that it is not ready while it stops", async () => {
    const open = async (path: string): Promise<Answer> => {
      const response = await fetch(`${door.url}${path}`);
      return { status: response.status, body: await response.json() };
    };
    expect(await open("/healthz")).toEqual({ status: 200, body: { status: "ok" } });
    expect(await open("/readyz")).toEqual({ status: 200, body: { status: "ready" } });
    await service.drain(1000);
    expect(await open("/readyz")).toEqual({ status: 503, body: { status: "not ready" } });
    const id = "0000000000";
    expect(await call("/v1/sessions", { method: "POST", body: {} })).toMatchObject({ status: 503 });
    expect((await call(`/v1/sessions/${id}`)).status).toBe(404);
  });

  it("counts requests for its operator, without a tenant or a session", async () => {
    const id = await create();
    await call(`/v1/sessions/${id}`);
    const text = await (await request("/metrics", { tenant: "local" })).text();
    expect(text).toContain('parley_http_requests_total{method="GET",route="/v1/sessions/{id}",status="200"} 1');
    expect(text).toContain("parley_open_sessions 0");
    expect(text).not.toContain(id);
    expect((await call("/metrics")).status).toBe(404);
  });
});

const exampleBodies: Readonly<Record<string, object>> = {
  "/v1/sessions": {},
  "/v1/sessions/{id}": { title: "x" },
  "/v1/sessions/{id}/messages": { text: "hello" },
  "/v1/sessions/{id}/decisions": { call: "hist_tool_1", decision: { type: "once" } },
};

describe("two tenants", () => {
  it("use the same key without meeting", async () => {
    const post = (tenant: string): Promise<Answer> =>
      call("/v1/sessions", { method: "POST", body: {}, tenant, headers: { "idempotency-key": "k" } });
    const [one, other] = [await post("a"), await post("b")];
    expect((one.body as { readonly id: string }).id).not.toBe((other.body as { readonly id: string }).id);
  });
});

/** Writes bytes to the door and resolves with all it answers, once it has closed the connection. */
const writeRaw = (port: number, bytes: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    let answers = "";
    socket.on("data", (chunk) => (answers += chunk.toString()));
    socket.on("close", () => resolve(answers));
    socket.on("error", () => undefined);
  });

const head = (headers: readonly string[]): string => `${headers.join("\r\n")}\r\n\r\n`;

const post = (headers: readonly string[], body: string): string =>
  head(["POST /v1/sessions HTTP/1.1", ...headers, `Content-Length: ${body.length}`]) + body;

describe("an attacker", () => {
  it.each<readonly [string, Readonly<Record<string, string>>, number]>([
    ["no token", { authorization: "" }, 401],
    ["a wrong token", { authorization: "Bearer nope" }, 401],
    ["the digest of a token", { authorization: `Bearer ${hashToken("token-a")}` }, 401],
    ["a page of another origin", { origin: "https://evil.example" }, 403],
    ["a page of another site", { "sec-fetch-site": "cross-site" }, 403],
  ])("with %s gets nothing, on any route", async (_, headers, status) => {
    const id = await create();
    for (const { method, path } of routes) {
      const response = await request(path.replace("{id}", id), { method, headers });
      expect([method, path, response.status]).toEqual([method, path, status]);
      expect(await response.text()).not.toContain(id);
    }
  });

  it("finds no token, no session and no path in what is logged", async () => {
    const id = await create();
    await request(`/v1/sessions/${id}?token=token-a`);
    await request("/token-a/secret?x=token-a", { headers: { "x-other": "token-a" } });
    const logged = JSON.stringify(lines);
    expect(logged).not.toMatch(/token-a|secret/);
    expect(logged).not.toContain(id);
    expect(lines.map(({ route }) => route)).toContain("/v1/sessions/{id}");
  });

  const own = ["Host: 127.0.0.1:PORT", "Authorization: Bearer token-a"];
  const json = "Content-Type: application/json";
  /** A request that an attacker hides in the body of another. */
  const hidden = post([...own, json, "Connection: close"], '{"title":"Hidden"}');

  /** Sends bytes to a door with these limits; returns its answers, and the titles of the sessions there are then. */
  const attack = async (bytes: string, limits: Partial<FrontDoorOptions>): Promise<object> => {
    const limited = await openDoor(limits);
    const answers = await writeRaw(limited.port, bytes.replaceAll("PORT", `${limited.port}`));
    await limited.close();
    const { sessions } = (await call("/v1/sessions")).body as {
      readonly sessions: readonly { readonly title: string }[];
    };
    return {
      statuses: [...answers.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status)),
      sessions: sessions.map(({ title }) => title),
    };
  };

  it("would create a session with the request that is hidden below", async () => {
    expect(await attack(hidden, {})).toEqual({ statuses: [201], sessions: ["Hidden"] });
  });

  it.each<readonly [string, string, readonly number[]]>([
    ["another host (DNS rebinding)", head(["GET /v1/sessions HTTP/1.1", "Host: evil.example", own[1]!]), [403]],
    ["the host without its port", head(["GET /v1/sessions HTTP/1.1", "Host: 127.0.0.1", own[1]!]), [403]],
    ["no host", head(["GET /v1/sessions HTTP/1.1", own[1]!]), [400]],
    [
      "another host in its address",
      head(["GET http://evil.example/nothing HTTP/1.1", ...own, "Connection: close"]),
      [404],
    ],
    ["a form (CSRF)", post([...own, "Content-Type: application/x-www-form-urlencoded"], "title=x"), [415]],
    ["plain text (CSRF)", post([...own, "Content-Type: text/plain"], "{}"), [415]],
    ["two lengths (smuggling)", post([...own, json, "Content-Length: 0"], hidden), [400]],
    [
      "a length and chunks (smuggling)",
      post([...own, json, "Transfer-Encoding: chunked"], `0\r\n\r\n${hidden}`),
      [400],
    ],
    [
      "an unknown encoding (smuggling)",
      head(["POST /v1/sessions HTTP/1.1", ...own, json, "Transfer-Encoding: xchunked"]) + hidden,
      [400],
    ],
    [
      "a space before a colon (smuggling)",
      head(["POST /v1/sessions HTTP/1.1", ...own, json, "Transfer-Encoding : chunked"]) + `0\r\n\r\n${hidden}`,
      [400],
    ],
    [
      "a folded header (smuggling)",
      head(["POST /v1/sessions HTTP/1.1", ...own, json, "Transfer-Encoding:\r\n chunked"]) + `0\r\n\r\n${hidden}`,
      [400],
    ],
    ["a request in the body of one it refuses", post(["Host: 127.0.0.1:PORT", json], hidden), [401]],
    [
      "a request in the body of one without a path",
      head(["POST /nothing HTTP/1.1", ...own, json, `Content-Length: ${hidden.length}`]) + hidden,
      [404],
    ],
    ["headers over 16 KiB", head(["GET /v1/sessions HTTP/1.1", ...own, `X: ${"x".repeat(20_000)}`]), [431]],
    [
      "a length over its limit",
      head(["POST /v1/sessions HTTP/1.1", ...own, json, "Content-Length: 99999999"]) + hidden,
      [413],
    ],
    [
      "chunks over its limit",
      head(["POST /v1/sessions HTTP/1.1", ...own, json, "Transfer-Encoding: chunked"]) +
        `401\r\n${"x".repeat(1025)}\r\n`,
      [413],
    ],
  ])("with %s changes nothing, and the connection is closed", async (_, bytes, statuses) => {
    expect(await attack(bytes, { idleTime: 100, bodyBytes: 1024 })).toEqual({ statuses, sessions: [] });
  });

  it.each<readonly [string, string]>([
    ["half a head, and no more (slowloris)", "GET /v1/sessions HTTP/1.1\r\nHost: 127"],
    [
      "half a body, and no more (slowloris)",
      head(["POST /v1/sessions HTTP/1.1", ...own, json, "Content-Length: 10"]) + "{",
    ],
  ])("with %s holds no connection for long", async (_, bytes) => {
    expect(await attack(bytes, { headTime: 200, requestTime: 200 })).toEqual({ statuses: [408], sessions: [] });
  });

  it("does not make the server remember a body over its limit", async () => {
    const response = await request("/v1/sessions", {
      method: "POST",
      body: { title: "x".repeat(17 * 2 ** 20) },
    }).catch((error: unknown) => error);
    // The answer may come while the body is still being sent, which ends the connection.
    if (response instanceof Response) expect(response.status).toBe(413);
    expect((await call("/v1/sessions")).body).toEqual({ sessions: [] });
  });
});
