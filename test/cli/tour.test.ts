import { execFileSync, spawn as start, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runTour, type TourOptions } from "../../src/cli/tour/steps.ts";
import { createTourProject, type TourProject } from "../../src/cli/tour/project.ts";
import { startTourSimulators, type TourSimulators } from "../../src/cli/tour/simulators.ts";
import { holdConversation } from "../../src/cli/tour/conversation.ts";
import { isSuccessful } from "../../src/cli/tour/table.ts";
import { openTourVisitor } from "../../src/cli/tour/visit.ts";
import { summarizeTour } from "../../src/cli/tour/texts.ts";
import { parseConversation, type Conversation } from "../../src/api/index.ts";
import { providers } from "../../src/providers/all.ts";
import { findProvider } from "../../src/providers/find.ts";
import { renderRequest } from "../../src/providers/request.ts";
import { lint } from "../../src/rules/lint.ts";
import type { SimModelRequest } from "../../src/sim/model/types.ts";
import { bin, ensureBuilt, root } from "../built.ts";
import { testedProviders } from "../support/tested-providers.ts";
import { itInAll, sampleCases } from "../support/tier.ts";

beforeAll(ensureBuilt, 240_000);

let base: string;
/** An environment without keys and settings, with its own folder for temporary files. */
let sandbox: { readonly env: NodeJS.ProcessEnv; readonly home: string; readonly temporary: string };
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "parley-tour-test-"));
  const [home, temporary] = [join(base, "home"), join(base, "tmp")];
  for (const folder of [home, temporary]) mkdirSync(folder);
  const path = `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`;
  sandbox = { home, temporary, env: { PATH: path, HOME: home, TMPDIR: temporary, PARLEY_HOME: join(home, ".parley") } };
});
afterEach(() => rmSync(base, { recursive: true }));

type Ran = { readonly code: number | null; readonly out: string; readonly err: string };

const node = (args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = root): Ran => {
  const ran = spawnSync(process.execPath, args, {
    cwd,
    env: { ...sandbox.env, ...env },
    input: "",
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  return { code: ran.status, out: ran.stdout, err: ran.stderr };
};

/** Replaces what differs from docs/tour.md: the program name, and cache shares, which depend on the length of paths. */
const comparable = (text: string): string =>
  text.replaceAll(/node \S*parley\.cjs/g, "parley").replaceAll(/[1-9]\d*% +/g, "N%  ");

describe("parley tour", () => {
  it("prints the text in docs/tour.md, in 80 columns without colour, and suggests commands that work", () => {
    const { code, out, err } = node([bin, "tour"], { FORCE_COLOR: "1" });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const document = readFileSync(join(root, "docs", "tour.md"), "utf8");
    const [, shown = ""] = /```text\n\$ parley tour\n(.*?)```/s.exec(document) ?? [];
    expect(comparable(out)).toBe(comparable(shown));
    expect(
      comparable(out)
        .split("\n")
        .filter((line) => line.length > 80 || /\p{Cc}/u.test(line)),
    ).toEqual([]);

    const commands = [...out.matchAll(/^ {2}(node .+)$/gm)].map(([, line]) => line!);
    expect(commands).toHaveLength(3);
    const outs = commands.map((line) =>
      execFileSync("bash", ["-euo", "pipefail", "-c", line], {
        cwd: root,
        env: sandbox.env,
        input: "",
        encoding: "utf8",
        stdio: "pipe",
      }),
    );
    expect(outs[0]).toContain("README.md");
    expect(outs[1]).toContain("what is in this folder?");
    expect(lint(JSON.parse(outs[2]!), { wire: "openai-responses", provider: "openai", model: "gpt-5.6" })).toEqual([]);
  });

  it("opens no other connection, uses no key or setting of the user, and leaves no files", async () => {
    let asked = 0;
    const server = createServer((_, answer) => {
      asked += 1;
      answer.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    mkdirSync(join(sandbox.home, ".parley"));
    writeFileSync(join(sandbox.home, ".parley", "settings.json"), "this is not JSON");
    const child = start(process.execPath, [bin, "tour", "--json"], {
      env: {
        ...sandbox.env,
        HTTP_PROXY: url,
        OPENAI_API_KEY: "own",
        PARLEY_OPENAI_BASE_URL: url,
        GOOGLE_CLOUD_LOCATION: "not a place",
        PARLEY_SYSTEM_MD: join(sandbox.home, "none.md"),
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const said = textOf(child);
    const [code] = (await once(child, "close")) as [number];
    server.close();
    expect({ code, asked }).toEqual({ code: 0, asked: 0 });
    expect(await said).toMatch(/^\{\n {2}"accepted": true,\n/);
    expect(readdirSync(sandbox.temporary)).toEqual([]);
    expect(readdirSync(sandbox.home, { recursive: true, encoding: "utf8" }).toSorted()).toEqual([
      ".parley",
      join(".parley", "settings.json"),
    ]);
  });

  it.each(sampleCases(["A tour", "(thinks: 12 tokens)", "google "], 3))(
    "ends with 130 when it is interrupted after %j, and leaves nothing behind",
    async (sign) => {
      const child = start(process.execPath, [bin, "tour"], { env: sandbox.env, stdio: ["ignore", "pipe", "pipe"] });
      const complaint = textOf(child, "stderr");
      let said = "";
      child.stdout.on("data", (chunk: Buffer) => {
        if (!said.includes(sign) && (said += chunk.toString()).includes(sign)) child.kill("SIGINT");
      });
      const [code] = (await once(child, "close")) as [number];
      expect({ code, complaint: await complaint }).toEqual({ code: 130, complaint: "parley: The tour was stopped.\n" });
      expect(said).not.toContain("Try next");
      expect(readdirSync(sandbox.temporary)).toEqual([]);
    },
  );

  itInAll("leaves no files if its output is closed", async () => {
    const child = start(process.execPath, [bin, "tour"], { env: sandbox.env, stdio: ["ignore", "pipe", "inherit"] });
    child.stdout.once("data", () => child.stdout.destroy());
    await once(child, "exit");
    expect(readdirSync(sandbox.temporary)).toEqual([]);
  });

  it("rejects --conversation with --json", () => {
    const { code, out, err } = node([bin, "tour", "--json", "--conversation"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/^parley: Use either --conversation or --json\.\n/);
  });
});

const textOf = async (child: ChildProcess, stream: "stdout" | "stderr" = "stdout"): Promise<string> => {
  let text = "";
  for await (const chunk of child[stream] ?? []) text += String(chunk);
  return text;
};

describe("parley tour --conversation", () => {
  it("prints thinking, a single call, five parallel calls of which four are cancelled, and an image; lint finds no errors for any provider", async () => {
    const { code, out, err } = node([bin, "tour", "--conversation"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const conversation = await parseConversation(JSON.parse(out));
    const made = conversation.entries.flatMap((entry) =>
      entry.type === "model" ? [entry.parts.map((part) => (part.type === "call" ? part.tool : part.type))] : [],
    );
    expect(made).toEqual([
      ["thinking", "text", "read_file"],
      ["thinking", "read_file", "run_shell_command", "run_shell_command", "run_shell_command", "run_shell_command"],
      ["read_file"],
      ["text"],
    ]);
    const ends = new Map(
      conversation.entries.flatMap((entry) => (entry.type === "completion" ? [[entry.call, entry.outcome]] : [])),
    );
    const word = { type: "text", text: "The user cancelled this call while it ran." };
    const cancelled = { status: "cancelled", content: expect.arrayContaining([word]) as unknown };
    expect(Object.fromEntries(ends)).toEqual({
      hist_tool_1: {
        status: "complete",
        content: [{ type: "text", text: expect.stringContaining("<main id=") as string }],
      },
      hist_tool_2: {
        status: "complete",
        content: [{ type: "text", text: expect.stringContaining("#root") as string }],
      },
      hist_tool_3: cancelled,
      hist_tool_4: cancelled,
      hist_tool_5: cancelled,
      hist_tool_6: cancelled,
      hist_tool_7: {
        status: "complete",
        content: [expect.objectContaining({ mimeType: "image/png", name: "page.png", width: 64, height: 48 })],
      },
    });
    expect(
      Object.values(conversation.blobs).map((base64) => Buffer.from(base64, "base64").toString("latin1", 1, 4)),
    ).toEqual(["PNG"]);
    const findings = providers.flatMap(({ id, wire, defaultModel: model }) => {
      const { body } = renderRequest(conversation, id, { policy: { unsupportedMedia: "stub" } });
      return lint(body, { wire, provider: id, model }).filter(({ level }) => level === "error");
    });
    expect(findings).toEqual([]);
  });
});

const refusal = {
  ordinal: 0,
  method: "POST",
  path: "/",
  faults: [],
  verdict: "refused",
  status: 400,
  message: "No.",
} as const;

/** The same simulators for a wrong key. */
const withKey =
  (name: string) =>
  (simulators: TourSimulators): TourSimulators => ({
    ...simulators,
    world: { ...simulators.world, env: { ...simulators.world.env, [name]: "wrong" } },
  });

describe("the visits of the tour", () => {
  const signal = new AbortController().signal;
  let project: TourProject;
  let simulators: TourSimulators;
  let conversation: Conversation;
  beforeAll(async () => {
    project = await createTourProject();
    simulators = await startTourSimulators(project.home);
    conversation = await holdConversation({ world: simulators.world, project, signal });
  });
  afterAll(async () => {
    await simulators.close();
    project.remove();
  });

  const visit = async (id: string, on: TourSimulators = simulators) => {
    const visiting = await openTourVisitor(on, project, conversation);
    try {
      return await visiting.visit(findProvider(id), signal);
    } finally {
      await visiting.close();
    }
  };

  const call = (from: number): readonly string[] => Array.from({ length: 7 }, (_, at) => `call_${from + at}`);

  it.each([
    ["google", "inside", call(1), { state: 0, rendering: 2, projection: 3 }],
    ["openai", "inside", call(1), { state: 0, rendering: 2, projection: 0 }],
    ["openai-chat", "after", call(1), { state: 0, rendering: 3, projection: 1 }],
    ["groq", "named", call(1), { state: 0, rendering: 3, projection: 0 }],
    [
      "bedrock",
      "inside",
      call(1).map((id) => id.replace("call", "tooluse")),
      { state: 0, rendering: 2, projection: 0 },
    ],
    [
      "mistral",
      "after",
      call(1).map((id) => id.replace("call_", "c0000000")),
      { state: 0, rendering: 3, projection: 1 },
    ],
  ] as const)("report the request to %s: image %s", async (id, image, ids, notes) => {
    expect(await visit(id)).toEqual({
      provider: id,
      model: findProvider(id).defaultModel,
      accepted: 2,
      refusals: [],
      end: "finished",
      ids,
      image,
      prompt: expect.anything() as unknown,
      notes,
      kinds: expect.anything() as unknown,
    });
  });

  it("keep the tool-call ids of the provider that made the calls", async () => {
    const { ids, image, notes, kinds } = await visit("anthropic");
    const own = conversation.entries.flatMap((entry) =>
      entry.type === "model" ? entry.parts.flatMap((part) => (part.type === "call" ? [part.seal?.id] : [])) : [],
    );
    expect({ ids, image, notes, kinds }).toEqual({
      ids: own,
      image: "inside",
      notes: { state: 0, rendering: 0, projection: 0 },
      kinds: {},
    });
  });

  it.each(sampleCases(testedProviders, 7))(
    "count the tokens that %s counted, and find its second prompt in the cache if it has one",
    async (id) => {
      const { prompt } = await visit(id);
      const last = simulators.log(id).at(-1);
      const usage = last?.verdict === "accepted" ? last.usage : undefined;
      expect(prompt).toEqual({ tokens: usage?.input, cached: usage?.cachedRead });
      const hasCache = !["cohere", "local"].includes(id);
      expect(prompt.cached / prompt.tokens > 0.9).toBe(hasCache);
    },
  );

  itInAll("count notes by kind", async () => {
    expect((await visit("openai-chat")).kinds).toEqual({
      "thinking-dropped": 2,
      "media-after": 1,
      "setting-adapted": 1,
    });
  });

  it("report a rejection with the provider's message", async () => {
    const refused = await visit("groq", withKey("GROQ_API_KEY")(simulators));
    expect(refused).toMatchObject({ accepted: 0, end: "failed", ids: [], image: "unseen" });
    expect(refused.refusals).toEqual(["The key is not known."]);
  });

  it("report a rejection even if a later request was accepted", async () => {
    const mended = await visit("google", { ...simulators, log: (id) => [...simulators.log(id), refusal] });
    expect({ refusals: mended.refusals, end: mended.end, isGood: isSuccessful(mended) }).toEqual({
      refusals: ["No."],
      end: "finished",
      isGood: false,
    });
  });

  it("detect an image that is neither sent nor described", async () => {
    const withoutFiles = (request: SimModelRequest): SimModelRequest => ({
      ...request,
      turns: request.turns.map((turn) =>
        turn.by === "tools"
          ? { ...turn, results: turn.results.map((each) => ({ ...each, text: "", files: [] })) }
          : turn,
      ),
    });
    const lost = await visit("google", {
      ...simulators,
      parsedRequests: (id) => simulators.parsedRequests(id).map(withoutFiles),
    });
    expect({ image: lost.image, isGood: isSuccessful(lost), refusals: lost.refusals }).toEqual({
      image: "lost",
      isGood: false,
      refusals: [],
    });
    expect(summarizeTour([], [lost])).toEqual(["There were problems:", "  google: the image was lost"]);
  });
});

describe("a tour with rejected requests", () => {
  const runModifiedTour = async (
    modify: (simulators: TourSimulators) => TourSimulators,
    { show = "text", hasColour = false, signal = new AbortController().signal }: Partial<TourOptions> = {},
  ): Promise<{ readonly code: number; readonly lines: readonly string[] }> => {
    const project = await createTourProject();
    const simulators = await startTourSimulators(project.home);
    let text = "";
    const code = await runTour({
      simulators: modify(simulators),
      project,
      show,
      hasColour,
      write: (more) => (text += more),
      signal,
    }).finally(async () => {
      await simulators.close();
      project.remove();
    });
    return { code, lines: text.split("\n") };
  };

  itInAll("exits with 1, with the row of the provider in red and its message below", async () => {
    const { code, lines } = await runModifiedTour(withKey("GROQ_API_KEY"), { hasColour: true });
    expect(code).toBe(1);
    const row = ["groq".padEnd(11), "0 of 1".padEnd(8), " ".repeat(30), "unseen", "0%".padEnd(6), "0/3/0"].join("  ");
    expect(lines.filter((line) => line.includes("\u001B"))).toEqual([`\u001B[31m${row}\u001B[39m`]);
    const from = lines.indexOf("There were problems:");
    expect(lines.slice(from + 1, from + 4)).toEqual(["  groq: The key is not known.", "  groq: the turn failed", ""]);
  });

  itInAll("prints no colour with NO_COLOR", async () => {
    const { lines } = await runModifiedTour(withKey("GROQ_API_KEY"));
    expect(lines.filter((line) => line.includes("\u001B"))).toEqual([]);
  });

  it.each(sampleCases(["text", "json", "conversation"] as const, 3))(
    "ends with 1 when the conversation itself is refused: %s",
    async (show) => {
      const { code, lines } = await runModifiedTour(withKey("ANTHROPIC_API_KEY"), { show });
      expect(code).toBe(1);
      if (show === "text") expect(lines).toContain("  the conversation: The key is not known.");
      if (show === "json")
        expect(JSON.parse(lines.join("\n"))).toMatchObject({
          accepted: false,
          refusals: ["The key is not known.", "The key is not known."],
        });
    },
  );

  itInAll("exits with 1 if only a request of the conversation was rejected", async () => {
    const { code, lines } = await runModifiedTour((simulators) => ({
      ...simulators,
      log: (id) => [...(id === "anthropic" ? [refusal] : []), ...simulators.log(id)],
    }));
    expect(code).toBe(1);
    const from = lines.indexOf("There were problems:");
    expect(lines.slice(from + 1, from + 3)).toEqual(["  the conversation: No.", ""]);
  });

  it.each(sampleCases(["text", "json", "conversation"] as const, 3))(
    "prints no %s after a cancellation",
    async (show) => {
      const stopped = runModifiedTour((simulators) => simulators, { show, signal: AbortSignal.abort() });
      await expect(stopped).rejects.toMatchObject({ name: "UserError", code: 130 });
    },
  );
});

describe("npm start", () => {
  const script = join(root, "scripts", "start.mjs");

  itInAll("runs the tour without a terminal and without arguments", () => {
    const { code, out } = node([script]);
    expect({ code, first: out.split("\n", 1) }).toEqual({
      code: 0,
      first: ["A tour, entirely on this machine: a small project in a temporary folder, and"],
    });
  });

  itInAll("passes arguments on", () => {
    expect(node([script, "--version"])).toEqual(node([bin, "--version"]));
    expect(node([script, "lint", "examples/broken-request.json"])).toEqual(
      node([bin, "lint", "examples/broken-request.json"]),
    );
  });

  it("runs the terminal UI in a terminal", async () => {
    const terminal = spawn(process.execPath, [script], { cwd: root, env: { ...sandbox.env, TERM: "xterm-256color" } });
    const first = await new Promise<string>((resolve) => terminal.onData(resolve));
    const ended = new Promise<void>((resolve) => terminal.onExit(() => resolve()));
    terminal.kill("SIGKILL");
    await ended;
    expect(first).not.toContain("A tour");
  });
});
