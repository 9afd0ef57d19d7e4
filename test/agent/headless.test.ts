import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ModelFunction } from "../../src/sim/family.ts";
import { bin, ensureBuilt } from "../built.ts";
import { openProgramStage, type OutputLine, type ProgramStage } from "../support/agent-program.ts";
import { itInAll, perTier, sampleCases } from "../support/tier.ts";

/** The files that one turn reads, each in a step of its own. */
const fileCount = perTier({ quick: 10, all: 120 });

const someJson = `\`\`\`json\n${JSON.stringify(
  Array.from({ length: 60 }, (_, id) => ({ id, name: "An item of the list", isActive: true, tags: [] })),
  null,
  2,
)}\n\`\`\``;

const speak: ModelFunction = ({ turns }) => {
  const prompt = turns.findLast((turn) => turn.by === "user");
  const results = turns.flatMap((turn) => (turn.by === "tools" ? turn.results : []));
  if (prompt?.by === "user" && prompt.text.includes("Say it"))
    return { parts: [{ type: "say", text: "It is \u001b[31msaid." }] };
  if (prompt?.by === "user" && prompt.text.includes("Read all")) {
    const input = { path: `file-${results.length}.txt` };
    return results.length < fileCount
      ? { parts: [{ type: "call", tool: "read_file", input }] }
      : { parts: [{ type: "say", text: "All read." }] };
  }
  if (prompt?.by === "user" && prompt.text.includes("Write JSON")) return { parts: [{ type: "say", text: someJson }] };
  if (prompt?.by === "user" && prompt.text.includes("Loop"))
    return { parts: [{ type: "say", text: "I will look at the file again to see what is in it. ".repeat(1000) }] };
  if (prompt?.by === "user" && prompt.text.includes("Again"))
    return { parts: [{ type: "call", tool: "run_shell_command", input: { command: "true" } }] };
  if (prompt?.by === "user" && prompt.text.includes("Touch it") && results.length === 0)
    return { parts: [{ type: "call", tool: "run_shell_command", input: { command: "touch made" } }] };
  if (results.length > 0) return { parts: [{ type: "say", text: `There were ${results.length} results.` }] };
  return {
    parts: [
      { type: "think", text: "Two things." },
      { type: "say", text: "Looking." },
      { type: "call", tool: "run_shell_command", input: { command: "echo hello" } },
      { type: "call", tool: "read_file", input: { path: "nowhere.txt" } },
    ],
  };
};

let stage: ProgramStage;
beforeAll(async () => {
  ensureBuilt();
  stage = await openProgramStage(["anthropic", "openai"], { script: speak });
});
beforeEach(() => void stage.log.splice(0));
afterAll(() => stage.close());

const schema = (name: string): ((value: unknown) => void) => {
  const path = fileURLToPath(new URL(`../../schemas/headless-${name}.schema.json`, import.meta.url));
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
  const check = ajv.compile(JSON.parse(readFileSync(path, "utf8")) as object);
  return (value) => expect(check(value) ? [] : [value, check.errors]).toEqual([]);
};

const yolo = ["-m", "anthropic", "--approval-mode", "yolo"];
const hello = { tool_id: "hist_tool_1", tool_name: "run_shell_command" };

/** Replaces times, sizes and ids by placeholders, so that two runs print the same. */
const normal = (line: OutputLine): unknown =>
  JSON.parse(
    JSON.stringify(line, (key, value: unknown) => {
      if (key === "timestamp" || key === "session_id" || key === "cwd" || key === "url") return `<${key}>`;
      if (key === "bytes" || key === "duration_ms" || key === "cost_usd" || key.endsWith("_tokens")) return `<${key}>`;
      return value;
    }),
  );

/** Joins the deltas of one text to one line. */
const joined = (lines: readonly OutputLine[]): readonly OutputLine[] => {
  const list: OutputLine[] = [];
  for (const line of lines) {
    const last = list.at(-1);
    if (line["delta"] === true && last?.["delta"] === true && last.type === line.type)
      list.splice(-1, 1, { ...last, content: `${String(last["content"])}${String(line["content"])}` });
    else list.push(line);
  }
  return list;
};

/** The tool results in call order, and all other lines. */
const parted = (lines: readonly OutputLine[]): readonly [readonly OutputLine[], readonly OutputLine[]] => [
  lines
    .filter(({ type }) => type === "tool_result")
    .toSorted((one, other) => String(one["tool_id"]).localeCompare(String(other["tool_id"]))),
  lines.filter(({ type }) => type !== "tool_result"),
];

const tokens = {
  input_tokens: "<input_tokens>",
  cached_tokens: "<cached_tokens>",
  output_tokens: "<output_tokens>",
  cost_usd: "<cost_usd>",
};
const stats = { ...tokens, total_tokens: "<total_tokens>", duration_ms: "<duration_ms>" };
const usage = {
  type: "usage",
  model: "anthropic/claude-sonnet-5",
  ...tokens,
  cache_write_tokens: "<cache_write_tokens>",
  reasoning_tokens: "<reasoning_tokens>",
  timestamp: "<timestamp>",
};
const request = (number: number, notes: number) => ({
  type: "request",
  number,
  model: "anthropic/claude-sonnet-5",
  url: "<url>",
  bytes: "<bytes>",
  attempt: 1,
  notes,
  timestamp: "<timestamp>",
});
const timestamp = "<timestamp>";

describe("piped input", () => {
  /** The program with a pipe for its input, which stays open until the test closes it. */
  const opened = (...words: readonly string[]) => {
    const child = spawn(process.execPath, [bin, "-m", "offline", ...words], { cwd: stage.project, env: stage.env });
    let [out, err] = ["", ""];
    child.stdout.on("data", (bytes: Buffer) => (out += bytes.toString()));
    child.stderr.on("data", (bytes: Buffer) => (err += bytes.toString()));
    const ended = once(child, "close").then(([code]) => ({ code: code as unknown, out, err }));
    return { stdin: child.stdin, ended };
  };

  it("is not waited for forever if there is a prompt, and a message says so", async () => {
    const { code, out, err } = await opened("-p", "hello").ended;
    expect([code, out === ""]).toEqual([0, false]);
    expect(err).toContain("parley: No piped input for 3 seconds, ignoring the pipe.");
  });

  itInAll("is read to its end once it has begun, and waited for if there is no prompt", async () => {
    for (const words of [["-p", "Count the words."], []]) {
      const { stdin, ended } = opened(...words, "-o", "json");
      stdin.write("one two ");
      stdin.end("three");
      const { code, err } = await ended;
      expect([code, err]).toEqual([0, ""]);
    }
  });
});

describe("a system prompt file that does not exist", () => {
  it("is an error that names the file and the variable", async () => {
    const { code, out, err } = await stage.run(["-p", "Say it", ...yolo], { env: { PARLEY_SYSTEM_MD: "/nowhere.md" } });
    expect([code, out]).toEqual([52, ""]);
    expect(err).toContain('The system prompt "/nowhere.md" does not exist. PARLEY_SYSTEM_MD names it');
    expect(err).not.toContain("bug");
  });
});

describe("stream-json", () => {
  itInAll("has no thoughts if a setting turns them off", async () => {
    mkdirSync(join(stage.home, ".parley"), { recursive: true });
    const settings = join(stage.home, ".parley", "settings.json");
    writeFileSync(settings, JSON.stringify({ thoughts: false }));
    const { code, lines } = await stage.run(["-p", "Do it.", ...yolo, "-o", "stream-json"]);
    rmSync(settings);
    expect([code, lines().filter(({ type }) => type === "thought")]).toEqual([0, []]);
  });

  it("is a line per event, and each fits the schema", async () => {
    const check = schema("stream-json");
    const { code, lines, err } = await stage.run(["-p", "Do it.", ...yolo, "-o", "stream-json"]);
    expect([code, err.includes("parley: This is a bug")]).toEqual([0, false]);
    for (const line of lines()) check(line);
    // Whether a short command's output is shown while it runs, and which call ends first, depends on the machine.
    const [ended, others] = parted(joined(lines()).filter(({ type }) => type !== "tool_output"));
    expect(ended.map(({ tool_id, status, error }) => [tool_id, status, error])).toEqual([
      ["hist_tool_1", "success", undefined],
      ["hist_tool_2", "error", { type: "file_not_found", message: expect.stringContaining("nowhere.txt") as string }],
    ]);
    const prompt_id = `${String(others[0]?.["session_id"])}#1`;
    expect(others.map(normal)).toEqual([
      { type: "init", session_id: "<session_id>", model: "anthropic/claude-sonnet-5", cwd: "<cwd>", timestamp },
      { type: "message", role: "user", content: "Do it.", timestamp },
      { ...request(1, expect.any(Number) as number), prompt_id },
      { type: "thought", content: "Two things.", delta: true, timestamp },
      { type: "message", role: "assistant", content: "Looking.", delta: true, timestamp },
      usage,
      {
        type: "tool_use",
        ...hello,
        parameters: { command: "echo hello" },
        is_client_initiated: false,
        prompt_id,
        timestamp,
      },
      {
        type: "tool_use",
        tool_name: "read_file",
        tool_id: "hist_tool_2",
        parameters: { path: "nowhere.txt" },
        is_client_initiated: false,
        prompt_id,
        timestamp,
      },
      { ...request(2, expect.any(Number) as number), prompt_id },
      { type: "message", role: "assistant", content: "There were 2 results.", delta: true, timestamp },
      usage,
      {
        type: "result",
        status: "success",
        reason: "stop",
        response: "There were 2 results.",
        permission_denials: [],
        stats: { requests: 2, tool_calls: 2, tool_errors: 1, ...stats },
        timestamp,
      },
    ]);
  });

  it("takes a message per line, in one session", async () => {
    const input = ["Say it.", "Say it twice."].map((text) => `${JSON.stringify({ type: "user", text })}\n`).join("");
    const { code, lines } = await stage.run([...yolo, "-o", "stream-json", "--input-format", "stream-json"], { input });
    expect(code).toBe(0);
    expect(
      lines().flatMap((line) => (line.type === "message" && line["role"] === "user" ? [line["content"]] : [])),
    ).toEqual(["Say it.", "Say it twice."]);
    expect(lines().filter(({ type }) => type === "init")).toHaveLength(1);
    expect(lines().at(-1)).toMatchObject({ type: "result", status: "success", stats: { requests: 2 } });
  });

  it("refuses a line it cannot parse, and says which", async () => {
    const { code, err, lines } = await stage.run([...yolo, "-o", "stream-json", "--input-format", "stream-json"], {
      input: "hello\n",
    });
    expect(code).toBe(2);
    const message = 'Invalid input line, expected {"type":"user","text":"..."}: hello';
    expect(err).toContain(`parley: ${message}\n`);
    const last = lines().at(-1);
    schema("stream-json")(last);
    expect(last).toMatchObject({ type: "result", status: "error", error: { type: "bad-input", message } });
    const check = schema("input");
    check({ type: "user", text: "hello" });
    expect(() => check({ type: "user" })).toThrow();
  });
});

describe("json", () => {
  it("is one object at the end, and fits the schema", async () => {
    const { code, out } = await stage.run(["-p", "Do it.", ...yolo, "-o", "json"]);
    const result = JSON.parse(out) as OutputLine;
    expect(code).toBe(0);
    schema("json")(result);
    expect(normal(result)).toEqual({
      session_id: "<session_id>",
      model: "anthropic/claude-sonnet-5",
      status: "success",
      reason: "stop",
      response: "There were 2 results.",
      permission_denials: [],
      stats: { requests: 2, tool_calls: 2, tool_errors: 1, ...stats },
    });
  });

  it.each([
    { what: "an option that does not exist", args: ["-p", "Do it.", "--no-such-option"], code: 2, type: "bad-input" },
    { what: "a model that does not exist", args: ["-p", "Do it.", "-m", "unknown/none"], code: 2, type: "bad-input" },
    { what: "no prompt", args: [], code: 2, type: "bad-input" },
    { what: "a session that does not exist", args: ["-p", "Do it.", "--resume", "zzz"], code: 1, type: "cannot-start" },
    { what: "an invalid value", args: ["-p", "Do it.", "--max-turns", "x"], code: 2, type: "bad-input" },
    { what: "an invalid limit", args: ["-p", "Do it.", "--max-spend", "much"], code: 2, type: "bad-input" },
    { what: "an invalid rule", args: ["-p", "Do it.", "--deny", "Bash("], code: 2, type: "bad-input" },
    { what: "a copy of nothing", args: ["-p", "Do it.", "--fork"], code: 2, type: "bad-input" },
    { what: "two modes", args: ["-p", "Do it.", "-y", "--approval-mode", "plan"], code: 2, type: "bad-input" },
    { what: "no session to resume", args: ["-p", "Do it.", "-r"], code: 2, type: "bad-input" },
    { what: "invalid settings", args: ["-p", "Do it.", "--mcp-config", "dot.png"], code: 52, type: "settings" },
    {
      what: "a folder that does not exist",
      args: ["-p", "Do it.", "--cwd", "/nowhere/at/all"],
      code: 1,
      type: "cannot-start",
    },
  ])("is an object for a run that fails at start: $what", async ({ args, code, type }) => {
    for (const format of ["json", "stream-json"]) {
      const ran = await stage.run([...args, "-o", format]);
      const result = (format === "json" ? JSON.parse(ran.out) : ran.lines().at(-1)) as OutputLine;
      schema(format)(result);
      expect([ran.code, result["status"], result["error"]]).toMatchObject([code, "error", { type }]);
      expect(ran.err).not.toContain("This is a bug");
    }
  });

  it("lists the denied calls, and stderr says what would allow each", async () => {
    const args = ["-p", "Touch it.", "-m", "anthropic", "--approval-mode", "default"];
    const ran = await stage.run([...args, "-o", "json"]);
    const result = JSON.parse(ran.out) as OutputLine;
    schema("json")(result);
    expect([ran.code, result["status"], result["permission_denials"]]).toEqual([
      0,
      "success",
      [
        {
          tool_name: "run_shell_command",
          tool_id: "hist_tool_1",
          parameters: { command: "touch made" },
          reason: expect.stringContaining("this session is not interactive") as string,
          allowed_by: [expect.stringContaining("--allowed-tools")],
        },
      ],
    ]);
    expect(ran.err).toMatch(
      /^parley: 1 tool call was denied:\n {2}run_shell_command \{"command":"touch made"\}: allow it with --allowed-tools .*$/m,
    );
    const streamed = await stage.run([...args, "-o", "stream-json"]);
    expect(streamed.lines().at(-1)).toMatchObject({ type: "result", permission_denials: result["permission_denials"] });
  });

  it.each([
    { what: "a limit", args: ["-p", "Again.", ...yolo, "--max-turns", "2"], env: {}, code: 53, type: "max-turns" },
    {
      what: "an invalid key",
      args: ["-p", "Say it.", "-m", "openai"],
      env: { OPENAI_API_KEY: "" },
      code: 41,
      type: "no-key",
    },
  ])("reports $what, with its exit code", async ({ args, env, code, type }) => {
    const ran = await stage.run([...args, "-o", "json"], { env });
    const result = JSON.parse(ran.out) as OutputLine;
    schema("json")(result);
    expect([ran.code, result["status"], result["error"]]).toMatchObject([code, "error", { type }]);
  });
});

describe("a long task", () => {
  it("makes as many requests as it needs", async () => {
    const { code, out } = await stage.run(["-p", "Read all of it.", ...yolo]);
    expect([code, out, stage.log.length]).toEqual([0, "All read.\n", fileCount + 1]);
  });

  it("writes a file of similar lines to its end", async () => {
    const { code, out } = await stage.run(["-p", "Write JSON.", ...yolo]);
    expect([code, out]).toEqual([0, `${someJson}\n`]);
  });

  it.each(
    sampleCases(
      [
        ["the same text", "Loop."],
        ["the same call with the same result", "Again."],
      ],
      2,
    ),
  )("is stopped when it repeats %s", async (_, words) => {
    const { code, err } = await stage.run(["-p", words, ...yolo]);
    expect([code, err]).toEqual([53, expect.stringContaining("kept repeating the same step")]);
  });
});

describe("text", () => {
  it("is the answer and nothing else", async () => {
    const { code, out } = await stage.run(["-p", "Say it.", ...yolo]);
    expect([code, out]).toEqual([0, "It is \u001b[31msaid.\n"]);
  });

  it("answers the piped input, which precedes the prompt and whose @paths are not mentions", async () => {
    writeFileSync(join(stage.project, "secret.txt"), "a secret");
    const { code } = await stage.run(["-p", "Say it.", ...yolo], { input: "See @secret.txt\n" });
    expect(code).toBe(0);
    const body = JSON.stringify(stage.log.at(-1)?.entry.body);
    expect([body.includes("See @secret.txt\\n\\nSay it."), body.includes("a secret")]).toEqual([true, false]);
    await stage.run(["-p", "Say it: @secret.txt", ...yolo]);
    expect(JSON.stringify(stage.log.at(-1)?.entry.body)).toContain("a secret");
  });
});

describe("a run with -p", () => {
  it("makes exactly the requests it needs, and only to the provider", async () => {
    const file = join(stage.home, "hosts.txt");
    const preload = fileURLToPath(new URL("../support/hosts.mjs", import.meta.url));
    writeFileSync(file, "");
    const one = await stage.runBuilt(["-p", "Say it.", ...yolo], { env: { HOSTS_FILE: file }, preload });
    expect([one.code, stage.log.length]).toEqual([0, 1]);
    const three = await stage.runBuilt(["-p", "Do it.", ...yolo], { env: { HOSTS_FILE: file }, preload });
    expect([three.code, stage.log.length]).toEqual([0, 3]);
    const provider = new URL(stage.env["PARLEY_ANTHROPIC_BASE_URL"] ?? "").host;
    const hosts = readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "");
    expect([...new Set(hosts)]).toEqual([provider]);
  });

  it("exits with 130 if it is cancelled, and says so", async () => {
    const ran = await stage.runBuilt(["-p", "Again.", ...yolo, "-o", "stream-json"], {
      line: (line, child) => void (line.includes('"tool_use"') && child.kill("SIGINT")),
    });
    expect([ran.code, ran.lines().at(-1)]).toMatchObject([130, { type: "result", status: "cancelled" }]);
    schema("stream-json")(ran.lines().at(-1));
  });
});
