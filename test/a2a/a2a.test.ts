import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createA2aExtension } from "../../src/a2a/door-extension.ts";
import { hashToken } from "../../src/http/request-guard.ts";
import { acceptTokens } from "../../src/server/authenticate.ts";
import { openFrontDoor, type FrontDoor } from "../../src/server/front-door.ts";
import type { SessionService } from "../../src/fleet/service.ts";
import { followUntil, openServiceStage, type ServiceStage } from "../fleet/service-stage.ts";

/* A2A on real HTTP. The official clients are in oracles/clients/a2a.test.ts. */

let stage: ServiceStage;
let service: SessionService;
let door: FrontDoor;

beforeEach(async () => {
  stage = openServiceStage();
  service = await stage.open({ parkAfter: 0 });
  door = await openFrontDoor({
    service,
    operator: "local",
    authenticate: acceptTokens(["a", "b"].map((tenant) => ({ sha256: hashToken(`token-${tenant}`), tenant }))),
    extensions: [createA2aExtension(service)],
  });
});
afterEach(async () => {
  await door.close();
  await stage.close();
});

type Rpc = {
  readonly result?: Record<string, never>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
};

const rpc = async (method: string, params: unknown, { tenant = "a", version = "1.0" } = {}): Promise<Rpc> => {
  const response = await fetch(`${door.url}/a2a`, {
    method: "POST",
    headers: { authorization: `Bearer token-${tenant}`, "content-type": "application/json", "a2a-version": version },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return (await response.json()) as Rpc;
};

const idOf = ({ result }: Rpc): unknown =>
  (result as { readonly task?: { readonly id?: string } } | undefined)?.task?.id;

let count = 0;
const message = (text: string, more: object = {}): object => ({
  message: { messageId: `m${++count}`, role: "ROLE_USER", parts: [{ text }], ...more },
});
const send = async (text: string, more: object = {}): Promise<{ readonly id: string; readonly contextId: string }> => {
  const { result, error } = await rpc("SendMessage", message(text, more));
  if (result === undefined) throw new Error(JSON.stringify(error));
  return result["task"] as never;
};

describe("A2A", () => {
  it("publishes its card without a token, with the address it was asked at", async () => {
    const response = await fetch(`${door.url}/.well-known/agent-card.json`);
    expect(await response.json()).toMatchObject({
      name: "Parley",
      supportedInterfaces: [
        { url: `${door.url}/a2a`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        { url: `${door.url}/a2a/rest`, protocolBinding: "HTTP+JSON" },
        { protocolVersion: "0.3" },
      ],
      capabilities: { streaming: true, pushNotifications: false },
      url: `${door.url}/a2a`,
      protocolVersion: "0.3.0",
    });
    expect([response.headers.get("etag") === null, response.headers.get("cache-control")]).toEqual([
      false,
      "max-age=300",
    ]);
    expect((await fetch(`${door.url}/a2a`, { method: "POST", body: "{}" })).status).toBe(401);
  });

  it.each<readonly [string, string, unknown, object, number]>([
    ["an unknown method", "Nope", {}, {}, -32601],
    ["an unknown method of 0.3", "tasks/nope", {}, {}, -32601],
    ["another version", "GetTask", { id: "x" }, { version: "2.0" }, -32009],
    ["a message without parts", "SendMessage", { message: { messageId: "x", parts: [] } }, {}, -32602],
    ["a message without an id", "SendMessage", { message: { parts: [{ text: "x" }] } }, {}, -32602],
    [
      "a file by its address",
      "SendMessage",
      { message: { messageId: "x", parts: [{ url: "http://169.254.169.254/" }] } },
      {},
      -32005,
    ],
    ["an unknown task", "GetTask", { id: "0000000000-1" }, {}, -32001],
    ["a made-up task", "GetTask", { id: "../../x" }, {}, -32001],
    ["an unknown context", "SendMessage", message("x", { contextId: "0000000000" }), {}, -32602],
    ["push notifications", "CreateTaskPushNotificationConfig", {}, {}, -32003],
    ["an extended card", "GetExtendedAgentCard", {}, {}, -32007],
    ["a page of 101", "ListTasks", { pageSize: 101 }, {}, -32602],
  ])("answers %s with the error of the specification", async (_, method, params, options, code) => {
    const { error } = await rpc(method, params, options);
    expect(error).toMatchObject({ code, data: [{ domain: "a2a-protocol.org" }] });
  });

  it("carries out a message once, however often it is sent", async () => {
    const params = message("hello");
    const [one, other] = [await rpc("SendMessage", params), await rpc("SendMessage", params)];
    expect([one.error, other.error]).toEqual([undefined, undefined]);
    expect(idOf(other)).toBe(idOf(one));
    const { totalSize } = (await rpc("ListTasks", {})).result as unknown as { readonly totalSize: number };
    expect(totalSize).toBe(1);
  });

  it("returns at once where it is asked to, and the task can be read until it ends", async () => {
    const params = { ...message("hello"), configuration: { returnImmediately: true } };
    const task = (await rpc("SendMessage", params)).result?.["task"] as unknown as { readonly id: string };
    const read = async (): Promise<string> =>
      ((await rpc("GetTask", { id: task.id })).result as unknown as { readonly status: { readonly state: string } })
        .status.state;
    let state = await read();
    while (state === "TASK_STATE_WORKING") state = await read();
    expect(state).toBe("TASK_STATE_COMPLETED");
  });

  it.each([
    ["a data part", { parts: [{ data: { call: "hist_tool_1", decision: { type: "once" } } }] }, "1\n"],
    [
      "an outcome as Gemini CLI's server names it",
      { parts: [{ data: { callId: "hist_tool_1", outcome: "proceed_once" } }] },
      "1\n",
    ],
    ["no", { parts: [{ text: "no" }] }, undefined],
    ["other words, which refuse", { parts: [{ text: "Call it two.txt" }] }, undefined],
  ])("takes %s as the answer to a question", async (_, parts, expected) => {
    const { id } = await send("write one");
    const { result } = await rpc("SendMessage", message("", { ...parts, taskId: id }));
    expect(result).toMatchObject({ task: { id, status: { state: "TASK_STATE_COMPLETED" } } });
    expect(stage.file("one.txt")).toBe(expected);
  });

  it("asks on while questions are open, and runs each call once", async () => {
    const { id } = await send("write both");
    const answer = (call: string): Promise<Rpc> =>
      rpc("SendMessage", message("", { taskId: id, parts: [{ data: { call, decision: { type: "once" } } }] }));
    await answer("hist_tool_1");
    // The first answer is applied before the second is given.
    while (stage.file("one.txt") === undefined) await rpc("GetTask", { id });
    expect(stage.file("two.txt")).toBeUndefined();
    expect((await answer("hist_tool_2")).result).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
    expect([stage.file("one.txt"), stage.file("two.txt")]).toEqual(["1\n", "2\n"]);
  });

  it("shows the new question where an answer was for one that has changed since", async () => {
    const { id, contextId } = await send("write one");
    await followUntil(service, { id: contextId }, (event) => event.type === "turn" && event.end.type === "parked");
    stage.write("one.txt", "by another\n");
    const { result } = await rpc("SendMessage", message("yes", { taskId: id }));
    expect(result).toMatchObject({ task: { id, status: { state: "TASK_STATE_INPUT_REQUIRED" } } });
    expect(JSON.stringify(result)).toContain("-by another");
    expect(stage.file("one.txt")).toBe("by another\n");
  });

  it("takes a plain yes for one open question only: the client may not have seen the second", async () => {
    const { id } = await send("write both");
    while (!JSON.stringify((await rpc("GetTask", { id })).result).includes("hist_tool_2")) await rpc("GetTask", { id });
    expect((await rpc("SendMessage", message("yes", { taskId: id }))).error).toMatchObject({ code: -32602 });
    const { result } = await rpc("SendMessage", message("no", { taskId: id }));
    expect(result).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
    expect([stage.file("one.txt"), stage.file("two.txt")]).toEqual([undefined, undefined]);
  });
});
