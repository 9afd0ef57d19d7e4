import { expect, it, describe } from "vitest";
import { createA2aExtension } from "../../src/a2a/door-extension.ts";
import type { SessionService } from "../../src/fleet/service.ts";
import { hashToken } from "../../src/http/request-guard.ts";
import { acceptTokens } from "../../src/server/authenticate.ts";
import { openFrontDoor } from "../../src/server/front-door.ts";
import { routes } from "../../src/server/routes.ts";
import { openFleetStage } from "../fleet/stage.ts";
import { followToIdle, openServiceStage, prompt } from "../fleet/service-stage.ts";
import { describeOnPostgres, openTestDatabase } from "../support/postgres.ts";

/* Two tenants on one server, on files and on a database: every route, and every operation of A2A. */

type Request = { readonly method: string; readonly path: string; readonly body?: unknown };

const bodies: Readonly<Record<string, object>> = {
  "/v1/sessions/{id}": { title: "x" },
  "/v1/sessions/{id}/messages": { text: "hello" },
  "/v1/sessions/{id}/decisions": { call: "hist_tool_1", decision: { type: "once" } },
};

/** All requests about one session. */
const requestsAbout = (id: string): readonly Request[] => {
  const message = (more: object): object => ({
    message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "x" }], ...more },
  });
  const task = `${id}-1`;
  const operations: readonly (readonly [method: string, params: object])[] = [
    ["GetTask", { id: task }],
    ["CancelTask", { id: task }],
    ["SubscribeToTask", { id: task }],
    ["SendMessage", message({ taskId: task })],
    ["SendMessage", message({ contextId: id })],
    ["SendStreamingMessage", message({ contextId: id })],
    ["ListTasks", { contextId: id }],
    ["tasks/get", { id: task }],
    ["tasks/cancel", { id: task }],
    ["tasks/resubscribe", { id: task }],
    ["message/send", message({ contextId: id })],
  ];
  return [
    ...routes
      .filter(({ path }) => path.includes("{id}"))
      .map(({ method, path, body }) => ({
        method,
        path: path.replace("{id}", id),
        ...(body === undefined ? {} : { body: bodies[path] }),
      })),
    ...operations.map(([method, params]) => ({
      method: "POST",
      path: "/a2a",
      body: { jsonrpc: "2.0", id: 1, method, params },
    })),
    { method: "GET", path: `/a2a/rest/tasks/${task}` },
    { method: "GET", path: `/a2a/rest/tasks?contextId=${id}` },
    { method: "POST", path: `/a2a/rest/tasks/${task}:cancel`, body: {} },
    { method: "POST", path: `/a2a/rest/tasks/${task}:subscribe`, body: {} },
    { method: "POST", path: "/a2a/rest/message:send", body: message({ taskId: task }) },
    { method: "POST", path: "/a2a/rest/message:stream", body: message({ contextId: id }) },
  ];
};

const checkIsolation = async (service: SessionService): Promise<void> => {
  const door = await openFrontDoor({
    service,
    operator: "local",
    authenticate: acceptTokens(["a", "b", "local"].map((tenant) => ({ sha256: hashToken(`token-${tenant}`), tenant }))),
    extensions: [createA2aExtension(service)],
  });
  const send = async (tenant: string, { method, path, body }: Request): Promise<readonly unknown[]> => {
    const response = await fetch(`${door.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer token-${tenant}`,
        "a2a-version": "1.0",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== "date"));
    return [method, response.status, headers, await response.text()];
  };
  try {
    const { id } = await service.create("a", {});
    await service.post("a", id, { command: prompt("hello") });
    await followToIdle(service, { id });
    const before = await service.read("a", id);

    const absent = "0".repeat(id.length);
    for (const [index, foreign] of requestsAbout(id).entries()) {
      const unknown = requestsAbout(absent)[index]!;
      const [one, other] = [await send("b", foreign), await send("b", unknown)];
      expect([foreign.path, foreign.body, one]).toEqual([foreign.path, foreign.body, other]);
      expect(JSON.stringify(one)).not.toContain(id);
    }

    expect(await service.read("a", id)).toEqual(before);
    expect((await send("b", { method: "GET", path: "/v1/sessions" }))[3]).toBe('{"sessions":[]}');
    const none = await send("b", { method: "GET", path: "/nothing" });
    expect(await send("b", { method: "GET", path: "/metrics" })).toEqual(none);
    const metrics = await send("local", { method: "GET", path: "/metrics" });
    expect([metrics[1], String(metrics[3]).includes(id)]).toEqual([200, false]);
    const tasks = await send("a", { method: "GET", path: `/a2a/rest/tasks?contextId=${id}` });
    expect(JSON.parse(String(tasks[3]))).toMatchObject({ tasks: [{ id: `${id}-1` }], totalSize: 1 });
  } finally {
    await door.close();
  }
};

const promise = "cannot tell another's session from one that does not exist, on any route or operation of A2A";

describe("two tenants on files", () => {
  it(promise, async () => {
    const stage = openServiceStage();
    await checkIsolation(await stage.open()).finally(() => stage.close());
  });
});

describeOnPostgres("two tenants on a database", () => {
  it(promise, async () => {
    const database = await openTestDatabase();
    const stage = await openFleetStage(database);
    stage.startWorker();
    await checkIsolation(stage.service).finally(async () => {
      await stage.close();
      await database.close();
    });
  });
});
