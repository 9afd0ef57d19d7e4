import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Message, StreamResponse, Task, type SendMessageRequest } from "@a2a-js/sdk";
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory, type Client } from "@a2a-js/sdk/client";
import { A2AClient as OlderClient } from "a2a-sdk-2025/client";
import { createA2aExtension } from "../../src/a2a/door-extension.ts";
import { hashToken } from "../../src/http/request-guard.ts";
import { acceptTokens } from "../../src/server/authenticate.ts";
import { openFrontDoor, type FrontDoor } from "../../src/server/front-door.ts";
import { openServiceStage, type ServiceStage } from "../../test/fleet/service-stage.ts";

/* The official A2A client, today's over both bindings and the one Gemini CLI uses (0.3), against `parley serve --a2a`. */

let stage: ServiceStage;
let door: FrontDoor;

beforeEach(async () => {
  stage = openServiceStage();
  const service = await stage.open();
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

const fetchAs =
  (tenant: string): typeof fetch =>
  (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer token-${tenant}`);
    return fetch(input, { ...init, headers });
  };

let count = 0;
const request = (text: string, more: object = {}): SendMessageRequest =>
  ({
    tenant: "",
    message: Message.fromJSON({ messageId: `m${++count}`, role: "ROLE_USER", parts: [{ text }], ...more }),
    configuration: undefined,
    metadata: undefined,
  }) as SendMessageRequest;

/** A task as it is written, whichever of the two a client returns. */
const taskOf = (result: unknown): Record<string, never> & { readonly id: string; readonly contextId: string } =>
  Task.toJSON(result as Task) as never;

type UpdateOf<Part> = {
  readonly artifact: { readonly artifactId: string; readonly parts: readonly Part[] };
  readonly append?: boolean;
  readonly lastChunk?: boolean;
};
type TextChunk = { readonly id: string; readonly text: string; readonly append: boolean; readonly lastChunk: boolean };

const toChunk = ({ artifact, append = false, lastChunk = false }: UpdateOf<{ readonly text?: string }>): TextChunk => ({
  id: artifact.artifactId,
  text: artifact.parts.map(({ text = "" }) => text).join(""),
  append,
  lastChunk,
});

/** The text of an artifact once all its updates are applied. */
const joinChunks = (chunks: readonly TextChunk[]): string =>
  chunks.reduce((text, chunk) => (chunk.append ? text + chunk.text : chunk.text), "");

describe.each([
  ["JSON-RPC", "JSONRPC", JsonRpcTransportFactory],
  ["REST", "HTTP+JSON", RestTransportFactory],
])("the official client over %s", (_, name, Factory) => {
  const connect = (tenant = "a"): Promise<Client> =>
    new ClientFactory({
      transports: [new Factory({ fetchImpl: fetchAs(tenant) })],
      preferredTransports: [name],
    }).createFromUrl(door.url);

  it("sends a message and gets the answer as an artifact, then continues the context", async () => {
    const client = await connect();
    const task = taskOf(await client.sendMessage(request("hello")));
    expect(task).toMatchObject({
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ name: "answer", parts: [{ text: "Hello there." }] }],
    });
    const next = taskOf(await client.sendMessage(request("hello", { contextId: task.contextId })));
    expect([next.contextId, next.id === task.id]).toEqual([task.contextId, false]);
    const read = taskOf(await client.getTask({ tenant: "", id: task.id, historyLength: undefined }));
    expect(read).toMatchObject({ id: task.id, status: { state: "TASK_STATE_COMPLETED" } });
    const { tasks, totalSize } = await client.listTasks({ tenant: "", contextId: task.contextId, status: 0 } as never);
    expect([tasks.map(({ id }) => id).toSorted(), totalSize]).toEqual([[task.id, next.id].toSorted(), 2]);
  });

  it("streams an answer word by word, the same in the end as the task has it", async () => {
    const client = await connect();
    const chunks: TextChunk[] = [];
    let id = "";
    for await (const item of client.sendMessageStream(request("hello"))) {
      const { task, artifactUpdate } = StreamResponse.toJSON(item) as {
        readonly task?: { readonly id: string };
        readonly artifactUpdate?: UpdateOf<{ readonly text?: string }>;
      };
      id = task?.id ?? id;
      if (artifactUpdate !== undefined) chunks.push(toChunk(artifactUpdate));
    }
    expect(joinChunks(chunks)).toBe("Hello there.");
    expect(chunks[0]).toMatchObject({ append: false, lastChunk: false });
    expect(chunks.map(({ lastChunk }) => lastChunk)).toEqual(chunks.map((_each, at) => at === chunks.length - 1));
    const read = taskOf(await client.getTask({ tenant: "", id, historyLength: undefined }));
    expect(read).toMatchObject({ artifacts: [{ artifactId: chunks[0]?.id, parts: [{ text: "Hello there." }] }] });
  });

  it("streams, is asked for approval, answers, and gets the change as a diff", async () => {
    const client = await connect();
    const items: Record<string, never>[] = [];
    for await (const item of client.sendMessageStream(request("write one")))
      items.push(StreamResponse.toJSON(item) as Record<string, never>);
    expect(Object.keys(items[0] ?? {})).toEqual(["task"]);
    const { id } = (items[0] as unknown as { readonly task: { readonly id: string } }).task;
    expect(items.at(-1)).toMatchObject({
      statusUpdate: {
        status: {
          state: "TASK_STATE_INPUT_REQUIRED",
          message: { parts: [{}, { data: { kind: "approval", call: "hist_tool_1" } }] },
        },
      },
    });
    expect(stage.file("one.txt")).toBeUndefined();

    const task = taskOf(await client.sendMessage(request("yes", { taskId: id })));
    expect(stage.file("one.txt")).toBe("1\n");
    expect(task).toMatchObject({
      id,
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [
        { name: "one.txt", parts: [{ mediaType: "text/x-diff", text: expect.stringContaining("+1") }] },
        { name: "answer", parts: [{ text: "Wrote one." }] },
      ],
    });
    await expect(client.sendMessage(request("more", { taskId: id }))).rejects.toThrow(/ended/);
  });

  it("cancels a task, and cannot twice", async () => {
    const client = await connect();
    const { id } = taskOf(await client.sendMessage(request("write one")));
    expect(taskOf(await client.cancelTask({ tenant: "", id, metadata: undefined }))).toMatchObject({
      id,
      status: { state: "TASK_STATE_CANCELED" },
    });
    await expect(client.cancelTask({ tenant: "", id, metadata: undefined })).rejects.toThrow(/cannot be cancelled/);
    expect(stage.file("one.txt")).toBeUndefined();
  });

  it("subscribes to a task that waits", async () => {
    const client = await connect();
    const { id } = taskOf(await client.sendMessage(request("write one")));
    const items: string[] = [];
    for await (const item of client.resubscribeTask({ tenant: "", id }))
      items.push(...Object.keys(StreamResponse.toJSON(item) as object));
    expect(items[0]).toBe("task");
  });

  it("finds nothing of another tenant, in the same words as for what does not exist", async () => {
    const { id, contextId } = taskOf(await (await connect()).sendMessage(request("hello")));
    const other = await connect("b");
    const failureOf = (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => "none",
        (error: unknown) => String(error),
      );
    const get = (which: string): Promise<string> =>
      failureOf(other.getTask({ tenant: "", id: which, historyLength: undefined }));
    expect(await get(id)).toBe(await get("0000000000-1"));
    expect(await get(id)).toMatch(/not found/i);
    const send = (context: string): Promise<string> =>
      failureOf(other.sendMessage(request("hello", { contextId: context })));
    expect(await send(contextId)).toBe(await send("0000000000"));
    expect((await other.listTasks({ tenant: "" } as never)).tasks).toEqual([]);
  });
});

describe("the client of A2A 0.3, which Gemini CLI uses", () => {
  const send = (text: string, more: object = {}): never =>
    ({
      message: { kind: "message", messageId: `o${++count}`, role: "user", parts: [{ kind: "text", text }], ...more },
    }) as never;

  it("sends, streams, is asked, answers, reads and cancels", async () => {
    const client = await OlderClient.fromCardUrl(`${door.url}/.well-known/agent-card.json`, {
      fetchImpl: fetchAs("a"),
    });
    const answer = await client.sendMessage(send("hello"));
    expect(answer).toMatchObject({
      result: {
        kind: "task",
        status: { state: "completed" },
        artifacts: [{ parts: [{ kind: "text", text: "Hello there." }] }],
      },
    });
    const chunks: TextChunk[] = [];
    for await (const item of client.sendMessageStream(send("hello")))
      if (item.kind === "artifact-update") chunks.push(toChunk(item as UpdateOf<{ readonly text?: string }>));
    expect(joinChunks(chunks)).toBe("Hello there.");
    expect(chunks[0]).toMatchObject({ append: false, lastChunk: false });
    const items: { readonly kind: string; readonly id?: string; readonly final?: boolean }[] = [];
    for await (const item of client.sendMessageStream(send("write one"))) items.push(item as never);
    expect([items[0]?.kind, items.at(-1)]).toMatchObject([
      "task",
      { kind: "status-update", final: true, status: { state: "input-required" } },
    ]);
    const done = await client.sendMessage(send("yes", { taskId: items[0]?.id }));
    expect(done).toMatchObject({ result: { status: { state: "completed" } } });
    expect(stage.file("one.txt")).toBe("1\n");
    expect(await client.getTask({ id: items[0]?.id ?? "" })).toMatchObject({
      result: { kind: "task", status: { state: "completed" } },
    });
    expect(await client.cancelTask({ id: items[0]?.id ?? "" })).toMatchObject({ error: { code: -32002 } });
  });
});
