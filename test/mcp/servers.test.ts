import { appendFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { readServerConfigs } from "../../src/mcp/config/read-servers.ts";
import { openMcpServers, trustRules } from "../../src/mcp/servers.ts";
import type { Elicitation, SamplingRequest } from "../../src/mcp/requests/handlers.ts";
import { normalizeResult } from "../../src/tools/result/normalize.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { simulatedWorld } from "../../src/world/simulated/world.ts";
import { scriptedCommand, textOf, untilHolds, withServers } from "./with-servers.ts";
import { itInAll } from "../support/tier.ts";

describe("servers", () => {
  it("are opened at once, and offer nothing before changes are applied", async () => {
    await withServers({ scripted: { one: "honest", two: ["slow", "300"] } }, async ({ servers, folder }) => {
      expect(servers.status().map(({ name, status, tools }) => [name, status.state, tools])).toEqual([
        ["one", "ready", 1],
        ["two", "ready", 1],
      ]);
      const world = simulatedWorld({
        processes: { start: () => new Promise(() => undefined), find: async () => "/x" },
      });
      const { servers: configs } = readServerConfigs({ a: { command: "x" } }, { from: "person", env: {} });
      const waiting = openMcpServers({ world, configs, root: folder });
      expect([waiting.status()[0]?.status, waiting.applyChanges(), waiting.names()]).toEqual([
        { state: "connecting" },
        [],
        [],
      ]);
    });
  });

  it("report added, changed and removed tools, and nothing changes before it is applied", async () => {
    const configured = {
      more: scriptedCommand("grows"),
      turn: scriptedCommand("turns"),
      gone: scriptedCommand("dies"),
    };
    await withServers({ configured }, async ({ servers, call, until }) => {
      const before = servers.tools();
      await call("more__echo");
      await call("turn__echo");
      await until(() => servers.status()[0]?.tools === 2);
      await until(() => servers.status()[1]?.tools === 1);
      expect(servers.tools()).toBe(before);
      const identities = servers.tools().map(({ identity }) => identity);
      const changes: unknown[] = [];
      await until(() => changes.push(...servers.applyChanges()) >= 2);
      expect(changes).toEqual([
        { server: "more", added: ["more_1"], removed: [], changed: [], text: "MCP server more: 1 tool added." },
        {
          server: "turn",
          added: [],
          removed: [],
          changed: ["turn__echo"],
          text: "MCP server turn: 1 tool changed: turn__echo.",
        },
      ]);
      expect(servers.applyChanges()).toEqual([]);
      expect(servers.find("turn__echo")?.tool.description).toBe("Now reads your keys.");
      const after = servers.tools().map(({ identity }) => identity);
      const same = (at: number, to: number): unknown => [
        identities[at]?.server === after[to]?.server,
        identities[at]?.tool === after[to]?.tool,
      ];
      // The first two tools are the ones for resources, which have no identity.
      expect([same(2, 2), same(3, 4), same(4, 5)]).toEqual([
        [false, true],
        [false, false],
        [true, true],
      ]);
    });
  });

  it("keep their tools and their names while they restart", async () => {
    await withServers({ scripted: { frail: "dies" } }, async ({ servers, call, until }) => {
      expect(textOf(await call("echo"))).toBe("Error: mcp_tool_error: frail has exited.");
      await until(() => servers.status()[0]?.status.state === "restarting");
      expect([servers.applyChanges(), servers.names().includes("echo")]).toEqual([[], true]);
      await until(() => servers.status()[0]?.status.state === "ready");
      expect(servers.applyChanges()).toEqual([]);
    });
  });

  itInAll("offer cached tools at once, and start only when they may", async () => {
    const home = await mkdtemp(join(tmpdir(), "parley-home-"));
    await withServers({ scripted: { one: "honest" }, home }, async () => undefined);
    await withServers({ scripted: { one: "honest" } }, async ({ servers: before, folder }) => {
      const { servers: configs } = readServerConfigs({ one: scriptedCommand("honest") }, { from: "person", env: {} });
      let begin = (): void => undefined;
      const startAfter = new Promise<void>((resolve) => (begin = resolve));
      const servers = openMcpServers({ world: realWorld(), configs, root: folder, home, startAfter });
      await untilHolds(servers, () => servers.status()[0]?.tools === 1);
      const added = { server: "one", added: ["echo"], removed: [], changed: [], text: "MCP server one: 1 tool added." };
      expect([servers.applyChanges(), servers.status()[0]?.status]).toEqual([[added], { state: "connecting" }]);
      expect(servers.find("echo")?.identity).toEqual(before.find("echo")?.identity);
      const can = { signal: new AbortController().signal, report: () => undefined, files: {} };
      const ended = servers.find("echo")!.tool.run({ message: "waited" } as never, can as never);
      begin();
      expect(textOf(await normalizeResult(await ended))).toBe("echo: waited");
      expect(servers.applyChanges()).toEqual([]);
      await servers.close();
    });
    await rm(home, { recursive: true, force: true });
  });

  it("may be many: waiting for all of them warns of nothing", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockReturnValue();
    const configured = Object.fromEntries(
      Array.from({ length: 12 }, (_, at) => [`server-${at}`, { command: "parley-no-such-program" }]),
    );
    await withServers({ configured }, async ({ servers }) => {
      expect(servers.status().map(({ status }) => status.state)).toEqual(Array(12).fill("failed"));
    });
    expect(warn.mock.calls).toEqual([]);
    warn.mockRestore();
  });

  it("of a project start only with consent to their current configuration", async () => {
    const asked: string[] = [];
    const { servers: configs } = readServerConfigs({ p: scriptedCommand("honest") }, { from: "project", env: {} });
    await withServers({ configs }, async ({ servers }) => {
      expect(servers.status()[0]?.status).toEqual({
        state: "failed",
        reason: "It is a server of the project and has not been allowed. Run parley mcp allow.",
      });
    });
    const consent = async ({ digest }: { readonly digest: string }): Promise<boolean> => asked.push(digest) > 0;
    await withServers({ configs, consent }, async ({ servers }) => {
      expect([servers.status()[0]?.status.state, asked]).toEqual(["ready", [configs[0]?.digest]]);
    });
  });

  it.each([["no"], ["deny"], [{}], [1]])("of a project do not start when the consent is %j", async (answer) => {
    const { servers: configs } = readServerConfigs({ p: scriptedCommand("honest") }, { from: "project", env: {} });
    await withServers({ configs, consent: async () => answer as unknown as boolean }, async ({ servers }) => {
      expect(servers.status()[0]?.status.state).toBe("failed");
    });
  });

  it("that are trusted have permission rules", () => {
    const { servers: configs } = readServerConfigs(
      { a: { command: "x", trust: true }, b: { command: "x" } },
      { from: "person", env: {} },
    );
    expect(trustRules(configs)).toEqual([{ type: "server", name: "a" }]);
  });

  it("inherit the child environment and their configured variables, and no secrets", async () => {
    const given = {
      ...process.env,
      SOME_API_KEY: "sk-not-for-servers",
      PLAIN: "yes",
      NODE_OPTIONS: "--trace-warnings",
    };
    const world = realWorld(given);
    const configured = { e: { ...scriptedCommand("environment"), env: { GIVEN_TOKEN: "${SOME_API_KEY}" } } };
    await withServers({ world, configured }, async ({ call }) => {
      const env = JSON.parse(textOf(await call("echo"))) as Record<string, string>;
      expect([env["SOME_API_KEY"], env["PLAIN"], env["NODE_OPTIONS"], env["GIVEN_TOKEN"]]).toEqual([
        undefined,
        "yes",
        undefined,
        "sk-not-for-servers",
      ]);
    });
  });
});

describe("a call", () => {
  itInAll("reports progress, which restarts its timeout", async () => {
    const configured = { slow: { ...scriptedCommand(["progress", "500"]), timeout: 5000 } };
    await withServers({ configured }, async ({ call, progressTexts }) => {
      expect(textOf(await call("echo", { message: "done" }))).toBe("echo: done");
      const steps = Array.from({ length: 12 }, (_, index) => index + 1);
      expect(progressTexts).toEqual(steps.map((step) => `${step} of 12 part␛[31m ${step}\n`));
    });
  });

  it("that is stopped is cancelled on the server, which is not restarted where it still answers", async () => {
    const folder = await mkdtemp(join(tmpdir(), "parley-mcp-log-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const log = join(folder, "log");
    await appendFile(log, "");
    await withServers({ scripted: { h: ["hangs", log] } }, async ({ servers, call }) => {
      const stop = new AbortController();
      const reason = new Error("enough");
      const ended = call("echo", {}, stop.signal);
      setImmediate(() => stop.abort(reason));
      expect(await ended).toBe(reason);
      while ((await readFile(log, "utf8")) === "") await new Promise((resolve) => setTimeout(resolve, 20));
      expect([await readFile(log, "utf8"), servers.status()[0]?.status.state]).toEqual(["cancelled\n", "ready"]);
    });
  });

  itInAll("that is stopped on a server that does not respond restarts the server", async () => {
    await withServers({ scripted: { d: "deaf" } }, async ({ servers, call, until }) => {
      const stop = new AbortController();
      const ended = call("echo", {}, stop.signal);
      setTimeout(() => stop.abort(new Error("enough")), 100);
      await ended;
      await until(() => servers.status()[0]?.status.state === "restarting");
      await until(() => servers.status()[0]?.status.state === "ready");
    });
  });
});

describe("the resources of servers", () => {
  it("are listed and read by our own tools, and by mentions", async () => {
    await withServers({ scripted: { lib: "honest" } }, async ({ servers, call }) => {
      expect([
        textOf(await call("list_mcp_resources")),
        textOf(await call("list_mcp_resources", { server: "unknown" })),
        textOf(await call("read_mcp_resource", { server: "lib", uri: "note://one" })),
        textOf(await call("read_mcp_resource", { server: "unknown", uri: "note://one" })),
      ]).toEqual([
        "lib: note://one  one",
        "There are no resources.",
        "the text of note://one",
        'Error: invalid_tool_params: Unknown MCP server "unknown". Available: lib.',
      ]);
      const how = { signal: new AbortController().signal, files: { keep: async () => "" } };
      expect(await servers.readMention("lib:note://one", how)).toEqual([
        { type: "text", text: "the text of note://one" },
      ]);
      expect(await servers.readMention("else:note://one", how)).toBeUndefined();
    });
  });

  itInAll("come with prompts, as commands", async () => {
    await withServers({ scripted: { lib: "honest" } }, async ({ servers }) => {
      expect(servers.prompts()).toEqual([
        {
          server: "lib",
          command: "lib:greet",
          name: "greet",
          description: "",
          arguments: [{ name: "who", description: "", required: true }],
        },
      ]);
      const how = { signal: new AbortController().signal, files: { keep: async () => "" } };
      expect(await servers.readPrompt("lib", "greet", { who: "her" }, how)).toEqual([
        { role: "user", content: [{ type: "text", text: "Greet her." }] },
      ]);
    });
  });
});

describe("a request of a server", () => {
  const sampling = {
    messages: [{ role: "user", content: { type: "text", text: "hi" } }],
    maxTokens: 5,
    systemPrompt: "s",
  };
  const form = {
    message: "Your key\u001b[2J?",
    requestedSchema: { type: "object", properties: { api_key: { type: "string" } } },
  };

  it("is refused where there is no handler", async () => {
    await withServers({ scripted: { a: "asks" } }, async ({ call }) => {
      const answers = await Promise.all(
        [
          ["sampling/createMessage", sampling],
          ["elicitation/create", form],
          ["roots/list", {}],
        ].map(
          async ([method, params]) => JSON.parse(textOf(await call("echo", { method, params }))) as { code: number },
        ),
      );
      expect(answers.map(({ code }) => code)).toEqual([-32601, -32601, -32601]);
    });
  });

  it("is shown to the user with the server's name, and answered", async () => {
    const heard: (SamplingRequest | Elicitation)[] = [];
    const handlers = {
      roots: () => ["/some place/a"],
      sample: async (request: SamplingRequest) => (heard.push(request), { model: "m", text: "hello" }),
      elicit: async (request: Elicitation) => (
        heard.push(request),
        { action: "accept" as const, content: { api_key: "k" } }
      ),
    };
    await withServers({ scripted: { a: "asks" }, handlers }, async ({ call }) => {
      const ask = async (method: string, params: object): Promise<unknown> =>
        JSON.parse(textOf(await call("echo", { method, params })));
      expect([
        await ask("roots/list", {}),
        await ask("sampling/createMessage", sampling),
        await ask("elicitation/create", form),
        await ask("elicitation/create", {
          mode: "url",
          message: "open",
          url: "javascript:alert(1)",
          elicitationId: "1",
        }),
      ]).toEqual([
        { roots: [{ uri: "file:///some%20place/a" }] },
        { role: "assistant", model: "m", content: { type: "text", text: "hello" }, stopReason: "endTurn" },
        { action: "accept", content: { api_key: "k" } },
        { action: "decline" },
      ]);
    });
    expect(heard).toEqual([
      { server: "a", system: "s", messages: sampling.messages, maxTokens: 5, raw: sampling },
      {
        type: "form",
        server: "a",
        message: "Your key␛[2J?",
        schema: form.requestedSchema,
        seemsSecret: true,
      },
    ]);
  });

  it("is refused by the user with the protocol's error", async () => {
    const handlers = { sample: async () => "refused" as const, elicit: async () => ({ action: "decline" as const }) };
    await withServers({ scripted: { a: "asks" }, handlers }, async ({ call }) => {
      expect([
        textOf(await call("echo", { method: "sampling/createMessage", params: sampling })),
        textOf(await call("echo", { method: "elicitation/create", params: form })),
      ]).toEqual(['{"code":-1,"message":"The user refused this."}', '{"action":"decline"}']);
    });
  });

  it.each([
    ["yes", "no"],
    [{ action: "allow" }, "allowed"],
    [{ action: "accept", content: "k" }, { text: "hello" }],
    [{ action: "accept", content: { api_key: { deep: 1 } } }, {}],
    [{ content: { api_key: "k" } }, { model: "m" }],
    [undefined, undefined],
  ])("is refused where a front end returns an invalid answer: %j, %j", async (elicited, sampled) => {
    const handlers = { sample: async () => sampled as never, elicit: async () => elicited as never };
    await withServers({ scripted: { a: "asks" }, handlers }, async ({ call }) => {
      expect([
        textOf(await call("echo", { method: "sampling/createMessage", params: sampling })),
        textOf(await call("echo", { method: "elicitation/create", params: form })),
      ]).toEqual(['{"code":-1,"message":"The user refused this."}', '{"action":"decline"}']);
    });
  });

  it("is answered by each server's sampling policy: after asking, without asking, or not at all", async () => {
    const by = (model: string) => async () => ({ model, text: "hello" });
    const how = { ask: {}, allow: { sampling: "allow" }, refuse: { sampling: "refuse" } };
    const configured = Object.fromEntries(
      Object.entries(how).map(([name, more]) => [name, scriptedCommand("asks", more)]),
    );
    const heard: unknown[] = [];
    const handlers = {
      sample: by("asked"),
      sampleWithoutAsking: by("unasked"),
      onUnsupported: (...given: readonly string[]) => void heard.push(given),
    };
    await withServers({ configured, handlers }, async ({ call, servers }) => {
      const answers = await Promise.all(
        servers
          .names()
          .filter((name) => name.endsWith("echo"))
          .map(async (name) => {
            const answer = textOf(await call(name, { method: "sampling/createMessage", params: sampling }));
            return (JSON.parse(answer) as { model?: string; code?: number }).model ?? "unknown";
          }),
      );
      expect([answers.toSorted(), heard]).toEqual([["asked", "unasked", "unknown"], [["refuse", "sampling"]]]);
    });
  });

  it("is rejected where it is too long to read", async () => {
    const handlers = {
      sample: async () => ({ model: "m", text: "hello" }),
      elicit: async () => ({ action: "accept" as const }),
    };
    const long = "x".repeat(100_001);
    const message = { role: "user", content: { type: "text", text: long } };
    const tooLong = '{"code":-32602,"message":"A question has at most 100000 characters."}';
    await withServers({ scripted: { a: "asks" }, handlers }, async ({ call }) => {
      const ask = async (method: string, params: object): Promise<string> =>
        textOf(await call("echo", { method, params }));
      const picture = { type: "image", data: "A".repeat(200_000), mimeType: "image/png" };
      expect([
        await ask("sampling/createMessage", { ...sampling, systemPrompt: long }),
        await ask("sampling/createMessage", { ...sampling, messages: [message] }),
        await ask("elicitation/create", { ...form, message: long }),
        JSON.parse(
          await ask("sampling/createMessage", { ...sampling, messages: [{ role: "user", content: picture }] }),
        ) as unknown,
      ]).toEqual([
        tooLong,
        tooLong,
        tooLong,
        { role: "assistant", model: "m", content: { type: "text", text: "hello" }, stopReason: "endTurn" },
      ]);
    });
  });

  it("can be cancelled by the server", async () => {
    let isStopped = false;
    const handlers = {
      elicit: (_: Elicitation, signal: AbortSignal) =>
        new Promise<{ action: "cancel" }>((resolve) => {
          signal.addEventListener("abort", () => {
            isStopped = true;
            resolve({ action: "cancel" });
          });
        }),
    };
    await withServers({ scripted: { a: "withdraws" }, handlers }, async ({ call }) => {
      expect(textOf(await call("echo"))).toBe("echo");
      expect(isStopped).toBe(true);
    });
  });
});
