import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, text } from "../../src/conversation/builders.ts";
import { Ledger } from "../../src/conversation/ledger.ts";
import type { Call } from "../../src/conversation/parts.ts";
import { findProvider } from "../../src/providers/find.ts";
import type { FinishedCall } from "../../src/scheduler/events.ts";
import { createScheduler, type Scheduler } from "../../src/scheduler/scheduler.ts";
import { listSimulatedProviders } from "../../src/sim/registry.ts";
import { createPermissionGate } from "../../src/policy/gate/create.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { deliveryOfResult } from "../../test/support/media-matrix.ts";
import { sendConversation } from "../../test/support/exchange.ts";
import { serveSimulators, type ServedSimulators } from "../../test/support/serve-simulators.ts";
import { textOf, withServers, type McpTestSession } from "../../test/mcp/with-servers.ts";
import { packagedServer, serveEverything } from "./everything-server.ts";

/*
 * The official MCP reference servers from npm, over every transport they support.
 */

const everything = { command: process.execPath, args: [packagedServer("server-everything"), "stdio"] };

const stops: (() => void)[] = [];
afterAll(() => stops.forEach((stop) => stop()));

const served = async (transport: "streamableHttp" | "sse"): Promise<object> => {
  const { url, stop } = await serveEverything(transport);
  stops.push(stop);
  return { url };
};

const ways: Readonly<Record<string, () => Promise<object>>> = {
  stdio: async () => everything,
  "streamable HTTP": () => served("streamableHttp"),
  "server-sent events": async () => ({ ...(await served("sse")), type: "sse" }),
};

const asking = {
  roots: () => ["/somewhere"],
  sample: async () => ({ model: "m", text: "sampled words" }),
  elicit: async () => ({ action: "decline" as const }),
};

describe.each(Object.keys(ways))("the everything server over %s", (way) => {
  let config: object;
  beforeAll(async () => void (config = await ways[way]!()));
  const using = (work: (setting: McpTestSession) => Promise<void>): Promise<void> =>
    withServers({ configured: { every: config }, handlers: asking }, work);

  it("offers its tools, resources and prompts", async () => {
    await using(async ({ servers }) => {
      const [status] = servers.status();
      expect(status).toMatchObject({ name: "every", status: { state: "ready" }, prompts: 4, omitted: [] });
      expect(servers.names()).toEqual(
        expect.arrayContaining([
          "echo",
          "get-sum",
          "get-tiny-image",
          "get-structured-content",
          "trigger-sampling-request",
        ]),
      );
      expect(servers.resources().map(({ uri }) => uri)).toContain("demo://resource/static/document/architecture.md");
      expect(servers.prompts().map(({ command }) => command)).toContain("every:args-prompt");
    });
  });

  it("answers calls with text, images and structured values", async () => {
    await using(async ({ call: run }) => {
      expect([
        textOf(await run("echo", { message: "hi" })),
        textOf(await run("get-sum", { a: 2, b: 3 })),
        (await run("get-tiny-image")) as object,
        textOf(await run("get-structured-content", { location: "Chicago" })),
        textOf(await run("trigger-sampling-request", { prompt: "hi", maxTokens: 5 })),
      ]).toEqual([
        "Echo: hi",
        "The sum of 2 and 3 is 5.",
        expect.objectContaining({
          content: [
            { type: "text", text: "Here's the image you requested:" },
            {
              type: "text",
              text: "[Tool 'get-tiny-image' provided the following image data with mime-type: image/png]",
            },
            expect.objectContaining({ type: "file", mimeType: "image/png", width: 20, height: 20 }),
            { type: "text", text: "The image above is the MCP logo." },
          ],
        }),
        expect.stringMatching(/"temperature":\s*\d+/),
        expect.stringContaining("sampled words"),
      ]);
    });
  });

  it("reads resources and prompts, and reports progress", async () => {
    await using(async ({ servers, call: run, progressTexts: reported }) => {
      const how = { signal: new AbortController().signal, files: { keep: async () => "" } };
      const uri = "demo://resource/static/document/architecture.md";
      expect(await servers.readMention(`every:${uri}`, how)).toEqual([
        { type: "text", text: expect.stringContaining("Everything Server") as string },
      ]);
      expect(await servers.readPrompt("every", "args-prompt", { city: "Oslo" }, how)).toEqual([
        { role: "user", content: [{ type: "text", text: expect.stringContaining("Oslo") as string }] },
      ]);
      expect(textOf(await run("trigger-long-running-operation", { duration: 0.3, steps: 3 }))).toMatch(/completed/);
      expect(reported).toEqual(["1 of 3\n", "2 of 3\n", "3 of 3\n"]);
    });
  });

  it("accepts the next call after a cancelled one", async () => {
    await using(async ({ call: run }) => {
      const stop = new AbortController();
      const reason = new Error("enough");
      const ended = run("trigger-long-running-operation", { duration: 60, steps: 60 }, stop.signal);
      setTimeout(() => stop.abort(reason), 200);
      expect(await ended).toBe(reason);
      expect(textOf(await run("echo", { message: "next" }))).toBe("Echo: next");
    });
  });
});

describe("the filesystem server", () => {
  it("reads and writes inside its client's roots, and fails with a message elsewhere", async () => {
    const config = { command: process.execPath, args: [packagedServer("server-filesystem"), "."] };
    await withServers({ configured: { files: config } }, async ({ call: run, folder }) => {
      expect(textOf(await run("write_file", { path: `${folder}/a.txt`, content: "hello" }))).toContain(
        "Successfully wrote",
      );
      expect(textOf(await run("read_text_file", { path: `${folder}/a.txt` }))).toBe("hello");
      expect(await run("read_text_file", { path: "/etc/passwd" })).toMatchObject({
        error: { type: "mcp_tool_error", message: expect.stringContaining("Access denied") as string },
      });
    });
  });
});

describe("an image from a server", () => {
  let simulators: ServedSimulators;
  let finished: FinishedCall;
  let made: Call;
  beforeAll(async () => {
    simulators = await serveSimulators();
    await withServers({ configured: { every: everything } }, async ({ servers, folder }) => {
      const ledger = new Ledger();
      ledger.user([text("show it")]);
      [made] = ledger.model({ provider: "elsewhere", model: "m" }, [call("get-tiny-image", {})]) as [Call];
      [finished] = (await schedulerFor(servers, folder).schedule([made])) as [FinishedCall];
    });
  });
  afterAll(() => simulators.close());

  it("passes through the scheduler as media of its call", () => {
    expect(finished).toMatchObject({
      outcome: {
        status: "complete",
        content: [{ type: "text" }, { type: "text" }, { type: "media", mimeType: "image/png" }, { type: "text" }],
      },
      record: { function_name: "get-tiny-image", success: true, tool_type: "mcp" },
    });
    expect(Object.keys(finished.blobs)).toHaveLength(1);
  });

  it.each(listSimulatedProviders())("is delivered to %s like any image", async (id) => {
    const provider = findProvider(id);
    const ledger = new Ledger();
    ledger.user([text("show it")]);
    const [again] = ledger.model({ provider: "elsewhere", model: "m" }, [call("get-tiny-image", {})]);
    ledger.complete(again!.id, made.tool, finished.outcome);
    const { sent } = await sendConversation(simulators.transport, provider, {
      version: 1,
      entries: ledger.entries,
      blobs: finished.blobs,
    });
    const notes = (sent?.report.notes ?? []).map(({ kind }) => kind);
    const delivery = notes.includes("media-stub") ? "named" : notes.includes("media-after") ? "after" : "inside";
    expect(simulators.simulators[id]!.log.at(-1)).toMatchObject({ verdict: "accepted" });
    expect(delivery).toBe(deliveryOfResult(`${id}/${provider.defaultModel}`, "image", "bytes"));
  });
});

const schedulerFor = (servers: McpTestSession["servers"], folder: string): Scheduler => {
  const nothing = async (): Promise<never> => Promise.reject(new Error("not for this test"));
  const files = { roots: [folder], resolve: nothing, keep: async () => "" };
  return createScheduler({
    tools: servers,
    gate: createPermissionGate({
      mode: "yolo",
      rules: {},
      trusted: true,
      interactive: false,
      protection: () => ({ level: "free", reason: "" }) as never,
      judgeCommand: nothing,
      judgeUrl: () => ({ decision: "allow", reason: "", host: "", url: "" }),
    }),
    capabilities: (grant) => ({ files, ...grant }) as never,
    clock: realWorld().clock,
    limits: { processes: 1, toolTime: 60_000 },
  });
};
