import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
// @ts-expect-error The SDK brings express without its types.
import untypedExpress from "express";
import { afterEach, describe, expect, it } from "vitest";
import { AgentCard, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "@a2a-js/sdk";
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore, type AgentExecutor } from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import {
  DefaultRequestHandler as OlderRequestHandler,
  InMemoryTaskStore as OlderTaskStore,
  type AgentExecutor as OlderExecutor,
} from "a2a-sdk-2025/server";
import {
  agentCardHandler as olderCardHandler,
  jsonRpcHandler as olderRpcHandler,
  UserBuilder as OlderUserBuilder,
} from "a2a-sdk-2025/server/express";
import { readAgentFile } from "../../src/agent/subagents/agent-file.ts";
import { runRemoteAgent, type RemoteRun } from "../../src/agent/subagents/remote/run.ts";
import type { ToolResult } from "../../src/tools/tool.ts";
import { realWorld } from "../../src/world/real/world.ts";

/* Parley as a client of agents built with the official SDK, today's over both bindings and the 0.3 line. */

type ExpressApp = {
  readonly use: (path: string, handler: unknown) => void;
  readonly listen: (port: number, host: string, done: () => void) => Server;
};
const express = untypedExpress as () => ExpressApp;

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

const listen = async (app: ExpressApp, use: (url: string) => void): Promise<string> => {
  server = await new Promise<Server>((resolve) => {
    const opened: Server = app.listen(0, "127.0.0.1", () => resolve(opened));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  use(url);
  return url;
};

/** Runs tasks for the agent at an address in one session; texts are those that came as the answer grew. */
const openSession = async (url: string, more: Partial<RemoteRun> = {}) => {
  const text = `---\nkind: remote\nname: helper\nagent_card_url: ${url}/.well-known/agent-card.json\n---\n`;
  const agent = await readAgentFile({ label: "helper.md", text, isOwn: true });
  if (!("name" in agent) || agent.remote === undefined) throw new Error("no agent");
  const { remote } = agent;
  const contexts: RemoteRun["contexts"] = new Map();
  const texts: string[] = [];
  const run = (prompt: string): Promise<ToolResult> =>
    runRemoteAgent({
      agent: { ...agent, remote },
      prompt,
      world: realWorld({}),
      contexts,
      signal: new AbortController().signal,
      report: () => undefined,
      onText: (each) => texts.push(each),
      ...more,
    });
  return { run, texts };
};

const said = ({ content }: ToolResult): unknown =>
  content.slice(1).map((each) => (each.type === "text" ? each.text : each.type));

/** Answers word by word; "ask me" asks first, "wait" runs until it is cancelled. */
const executor: AgentExecutor = {
  execute: async ({ taskId, contextId, userMessage, task }, bus) => {
    const words = Message.toJSON(userMessage) as { readonly parts: readonly { readonly text?: string }[] };
    const text = words.parts[0]?.text ?? "";
    const status = (state: string, message?: string): void =>
      bus.publish(
        AgentEvent.statusUpdate(
          TaskStatusUpdateEvent.fromJSON({
            taskId,
            contextId,
            status: {
              state,
              ...(message === undefined
                ? {}
                : { message: { messageId: "q", role: "ROLE_AGENT", parts: [{ text: message }], taskId, contextId } }),
            },
          }),
        ),
      );
    bus.publish(
      AgentEvent.task(
        task ?? Task.fromJSON({ id: taskId, contextId, status: { state: "TASK_STATE_SUBMITTED" }, history: [] }),
      ),
    );
    status("TASK_STATE_WORKING", "Thinking.");
    if (text === "ask me") {
      status("TASK_STATE_INPUT_REQUIRED", "Which colour?");
      bus.finished();
      return;
    }
    if (text === "wait") return new Promise<void>((resolve) => (release = resolve));
    for (const [index, word] of ["You ", "said ", text].entries())
      bus.publish(
        AgentEvent.artifactUpdate(
          TaskArtifactUpdateEvent.fromJSON({
            taskId,
            contextId,
            append: index > 0,
            lastChunk: index === 2,
            artifact: { artifactId: "a", name: "answer", parts: [{ text: word }] },
          }),
        ),
      );
    status("TASK_STATE_COMPLETED");
    bus.finished();
  },
  cancelTask: async (taskId, bus) => {
    cancelled.push(taskId);
    release();
    bus.publish(
      AgentEvent.statusUpdate(
        TaskStatusUpdateEvent.fromJSON({ taskId, contextId: "", status: { state: "TASK_STATE_CANCELED" } }),
      ),
    );
    bus.finished();
  },
};
const cancelled: string[] = [];
let release: () => void = () => undefined;

const serveSdk = (binding: string, streaming: boolean): Promise<string> => {
  const app = express();
  return listen(app, (url) => {
    const card = AgentCard.fromJSON({
      name: "Helper",
      description: "Helps.",
      version: "1",
      supportedInterfaces: [
        { url: `${url}/${binding === "JSONRPC" ? "rpc" : "rest"}`, protocolBinding: binding, protocolVersion: "1.0" },
      ],
      capabilities: { streaming, pushNotifications: false },
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [],
    });
    const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
    const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
    app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
    app.use("/rpc", jsonRpcHandler(options));
    app.use("/rest", restHandler(options));
  });
};

/** The same agent in 0.3. */
const olderExecutor: OlderExecutor = {
  execute: async ({ taskId, contextId, userMessage, task }, bus) => {
    const [part] = userMessage.parts;
    const text = part?.kind === "text" ? part.text : "";
    if (task === undefined)
      bus.publish({ kind: "task", id: taskId, contextId, status: { state: "submitted" }, history: [userMessage] });
    if (text === "ask me")
      bus.publish({
        kind: "status-update",
        taskId,
        contextId,
        final: true,
        status: {
          state: "input-required",
          message: { kind: "message", messageId: "q", role: "agent", parts: [{ kind: "text", text: "Which colour?" }] },
        },
      });
    else {
      for (const [index, word] of ["You ", "said ", text].entries())
        bus.publish({
          kind: "artifact-update",
          taskId,
          contextId,
          append: index > 0,
          artifact: { artifactId: "a", name: "answer", parts: [{ kind: "text", text: word }] },
        });
      bus.publish({ kind: "status-update", taskId, contextId, final: true, status: { state: "completed" } });
    }
    bus.finished();
  },
  cancelTask: async () => undefined,
};

const serveOlder = (streaming: boolean): Promise<string> => {
  const app = express();
  return listen(app, (url) => {
    const requestHandler = new OlderRequestHandler(
      {
        name: "Helper",
        description: "Helps.",
        version: "1",
        protocolVersion: "0.3.0",
        url: `${url}/rpc`,
        preferredTransport: "JSONRPC",
        capabilities: { streaming },
        defaultInputModes: ["text/plain"],
        defaultOutputModes: ["text/plain"],
        skills: [],
      },
      new OlderTaskStore(),
      olderExecutor,
    );
    app.use("/.well-known/agent-card.json", olderCardHandler({ agentCardProvider: requestHandler }));
    app.use("/rpc", olderRpcHandler({ requestHandler, userBuilder: OlderUserBuilder.noAuthentication }));
  });
};

describe.each([
  ["JSON-RPC 1.0", (streaming: boolean) => serveSdk("JSONRPC", streaming)],
  ["REST 1.0", (streaming: boolean) => serveSdk("HTTP+JSON", streaming)],
  ["JSON-RPC 0.3", serveOlder],
])("an agent of the official SDK over %s", (_, serve) => {
  it.each([true, false])("answers, word by word if it streams: %s", async (streaming) => {
    const { run, texts } = await openSession(await serve(streaming));
    expect(said(await run("hi"))).toEqual(["You said hi"]);
    expect(texts).toEqual(streaming ? ["You ", "said ", "hi"] : []);
  });

  it("asks the person, and continues with the answer", async () => {
    const questions: string[] = [];
    const { run } = await openSession(await serve(true), {
      askUser: async ([question]) => {
        questions.push(question?.question ?? "");
        return [["red"]];
      },
    });
    expect(said(await run("ask me"))).toEqual(["You said red"]);
    expect(questions).toEqual(["The remote agent helper asks: Which colour?"]);
  });
});

describe.each([["JSONRPC"], ["HTTP+JSON"]])("a call over %s that is stopped", (binding) => {
  it("cancels the task", async () => {
    cancelled.length = 0;
    const stop = new AbortController();
    const { run } = await openSession(await serveSdk(binding, true), {
      signal: stop.signal,
      report: () => stop.abort(new Error("stopped")),
    });
    await expect(run("wait")).rejects.toThrow("stopped");
    expect(cancelled).toHaveLength(1);
  });
});
