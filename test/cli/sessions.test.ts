import { spawn as spawnInTerminal } from "@lydell/node-pty";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { call, done, text, thinking } from "../../src/conversation/builders.ts";
import type { Conversation, Origin } from "../../src/conversation/entry.ts";
import { Ledger } from "../../src/conversation/ledger.ts";
import { storeBase64 } from "../../src/conversation/media.ts";
import { serve } from "../../src/sim/serve.ts";
import { createSimulator } from "../../src/sim/simulator.ts";
import type { SwitchCheck } from "../../src/agent/models/switch-check.ts";
import type { SessionRequest } from "../../src/session/store/requests.ts";
import type { SessionSummary } from "../../src/session/store/summary.ts";
import { bin, ensureBuilt, type Ran } from "../built.ts";
import { runCommand } from "../support/run-command.ts";
import { itInAll } from "../support/tier.ts";

let base: string;
let here: string;
let there: string;
let home: string;

beforeAll(ensureBuilt);

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley sessions ")));
  [here, there, home] = ["here", "there", "home"].map((name) => join(base, name)) as [string, string, string];
  for (const folder of [here, there, home]) mkdirSync(folder);
});

afterEach(() => rmSync(base, { recursive: true }));

type RunOptions = { readonly cwd?: string; readonly input?: string; readonly env?: Readonly<Record<string, string>> };

const environment = (): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  HOME: base,
  PARLEY_HOME: home,
  TZ: "UTC",
});

const run = (args: readonly string[], { cwd = here, input = "", env = {} }: RunOptions = {}): Promise<Ran> =>
  runCommand(args, { cwd, input, env: { ...environment(), ...env } });

/** Runs a command that must succeed and returns its output. */
const runOk = async (args: readonly string[], setting?: RunOptions): Promise<string> => {
  const { code, out, err } = await run(args, setting);
  expect({ code, err }).toMatchObject({ code: 0 });
  return out;
};

const json = async <Value>(args: readonly string[], setting?: RunOptions): Promise<Value> =>
  JSON.parse(await runOk([...args, "--json"], setting)) as Value;

type ListOutput = { readonly sessions: readonly SessionSummary[] };
type ShowOutput = SessionSummary & {
  readonly findings: readonly string[];
  readonly requests: readonly SessionRequest[];
  readonly conversation: Conversation;
};
type PruneOutput = { readonly removed: readonly SessionSummary[] };
type RepairOutput = { readonly dryRun: boolean; readonly savedFiles: readonly string[] };
type CheckOutput = SwitchCheck & { readonly session: string; readonly counted: boolean };
type ExplainOutput = { readonly request: SessionRequest & { readonly asSent?: boolean } };
type Body = { readonly model: string; readonly messages: readonly unknown[] };

/** A complete conversation with thinking, a call and an image. */
const talk = (words: string, origin: Origin = { provider: "anthropic", model: "claude-sonnet-5" }): Conversation => {
  const { media, blob } = storeBase64("iVBORw0KGgo=", { mimeType: "image/png" });
  const ledger = new Ledger();
  ledger.user([text(words)]);
  const [asked] = ledger.model(origin, [
    { ...thinking("The picture will show it."), seal: { signature: "c2VhbA==" } },
    call("look", { at: "harbour" }, "toolu_1"),
  ]);
  ledger.complete(asked!.id, "look", done(text("a grey harbour"), media));
  ledger.model(origin, [text("It rains.")]);
  return { version: 1, tools: [{ name: "look" }], entries: ledger.entries, blobs: { [blob.hash]: blob.base64 } };
};

const importConversation = async (conversation: Conversation, cwd = here): Promise<string> =>
  (await runOk(["sessions", "import", "-"], { cwd, input: JSON.stringify(conversation) })).trim();
const importTalk = (words: string, cwd?: string): Promise<string> => importConversation(talk(words), cwd);

/** Creates a session by chatting with the demo model. */
const chatWithDemoModel = async (words: string, ...more: readonly string[]): Promise<string> => {
  const out = await runOk(["-p", words, "--output-format", "json", "--model", "offline", ...more]);
  return (JSON.parse(out) as { session_id: string }).session_id;
};

const fileOf = (id: string): string => {
  const [project] = readdirSync(join(home, "sessions"));
  return join(home, "sessions", project!, `${id}.jsonl`);
};

const ids = async (...options: readonly string[]): Promise<readonly string[]> =>
  (await runOk(["sessions", "--quiet", ...options])).split("\n").filter((line) => line !== "");

/** Sets the time of last use: sessions are ordered by it, and tests run within the same millisecond. */
const setLastUse = (id: string, time: string): void => utimesSync(fileOf(id), new Date(time), new Date(time));

describe("parley sessions list", () => {
  it("lists the sessions of this folder, last used first, and with --all those of all folders", async () => {
    const [old, young] = [await importTalk("How is the weather?"), await importTalk("Another\nquestion \u001B[2J")];
    setLastUse(old, "2026-03-01T10:00:00Z");
    setLastUse(young, "2026-03-02T10:05:00Z");
    const far = await importTalk("Elsewhere", there);
    expect(await runOk(["sessions"])).toBe(
      [
        "id          last used         model                      turns  title",
        `${young}  2026-03-02 10:05  anthropic/claude-sonnet-5      1  Another question \uFFFD[2J`,
        `${old}  2026-03-01 10:00  anthropic/claude-sonnet-5      1  How is the weather?`,
        "",
      ].join("\n"),
    );
    expect(await ids()).toEqual([young, old]);
    expect(await ids("--all", "-n", "2")).toEqual([far, young]);
    const all = await runOk(["sessions", "list", "-a"]);
    expect(all.split("\n").filter((line) => !line.startsWith("  "))).toEqual(["~/there", "", "~/here", ""]);
    expect(all).toContain(`  ${far}  `);
  });

  it("prints the details of each as JSON", async () => {
    const id = await importTalk("How is the weather?");
    setLastUse(id, "2026-03-01T10:00:00Z");
    const { created, ...rest } = (await json<ListOutput>(["sessions"])).sessions[0]!;
    expect(created).toBeGreaterThan(Date.UTC(2025));
    expect(rest).toEqual({
      id,
      root: here,
      title: "How is the weather?",
      models: ["anthropic/claude-sonnet-5"],
      turns: 1,
      size: statSync(fileOf(id)).size,
      modified: Date.UTC(2026, 2, 1, 10),
    });
  });

  it("prints nothing to stdout if there are none, and a hint to stderr", async () => {
    expect(await run(["sessions"])).toEqual({
      code: 0,
      out: "",
      err: "parley: No sessions in this folder; use --all for all folders.\n",
    });
  });
});

describe("parley sessions search", () => {
  it("prints matches with context", async () => {
    const id = await importTalk("How is the weather?");
    setLastUse(id, "2026-03-01T10:00:00Z");
    await importTalk("Elsewhere it is grey too", there);
    const expected = `${id}  2026-03-01 10:00  How is the weather?\n    tool: a grey harbour\n`;
    expect(await runOk(["sessions", "search", "GREY", "harbour"])).toBe(expected);
    expect((await json<{ matches: unknown }>(["sessions", "search", "grey", "--all"])).matches).toHaveLength(2);
    expect(await run(["sessions", "search", "sunny"])).toMatchObject({ code: 1, out: "" });
  });
});

describe("parley sessions show and export", () => {
  it("print a session as Markdown", async () => {
    const id = await importTalk("How is the weather?");
    const page = await runOk(["sessions", "show", id.slice(0, -1)]);
    for (const part of [
      `Session ${id}`,
      "## You\n\nHow is the weather?",
      "**Tool call: look**",
      "a grey harbour",
      "It rains.",
    ])
      expect(page).toContain(part);
    expect(await runOk(["sessions", "export", id, "--format", "markdown"])).toBe(page);
  });

  it("print all details with --json, including requests and conversation", async () => {
    const id = await chatWithDemoModel("say hello");
    const { requests, conversation, findings, title } = await json<ShowOutput>(["sessions", "show", id]);
    expect({ findings, title }).toEqual({ findings: [], title: "say hello" });
    expect(requests).toEqual([
      {
        number: 1,
        at: expect.stringMatching(/^20.*Z$/),
        model: "offline/parley",
        entries: 2,
        digest: expect.stringMatching(/^[0-9a-f]{16}$/),
        usage: expect.objectContaining({ cachedRead: 0 }),
        notes: [],
      },
    ]);
    expect(conversation).toEqual(JSON.parse(await runOk(["sessions", "export", id])));
  });

  it("export a file that import turns into the same conversation", async () => {
    const id = await importTalk("How is the weather?");
    expect(await runOk(["sessions", "export", id, "--output", "talk.json"])).toBe("");
    expect(statSync(join(here, "talk.json")).mode & 0o777).toBe(0o600);
    const saved: unknown = JSON.parse(readFileSync(join(here, "talk.json"), "utf8"));
    expect(saved).toEqual(talk("How is the weather?"));
    const copy = (await json<{ id: string }>(["sessions", "import", "talk.json", "--title", "A copy"])).id;
    expect(copy).not.toBe(id);
    expect(JSON.parse(await runOk(["sessions", "export", copy]))).toEqual(saved);
    expect((await json<ShowOutput>(["sessions", "show", copy])).title).toBe("A copy");
  });

  it("export the request body of any API, for the session's own model if it uses that API", async () => {
    const id = await importConversation(
      talk("How is the weather?", { provider: "anthropic", model: "claude-haiku-4-5" }),
    );
    const own = JSON.parse(await runOk(["sessions", "export", id, "--format", "anthropic"])) as Body;
    expect(own).toEqual(JSON.parse(await runOk(["render", id])));
    expect(own.model).toBe("claude-haiku-4-5");
    const gemini = await runOk(["sessions", "export", id, "--format", "gemini"]);
    expect(gemini).toBe(await runOk(["sessions", "export", id, "--for", "google"]));
    expect(gemini).toBe(await runOk(["render", id, "--for", "google"]));
    const file = join(here, "body.json");
    writeFileSync(file, gemini);
    expect(await run(["lint", file, "--wire", "gemini"])).toMatchObject({ code: 0 });
  });

  it.each([
    [["--format", "gemini", "--for", "anthropic"], "anthropic uses the API anthropic, not gemini."],
    [["--format", "json", "--for", "anthropic"], "it cannot be combined with --format json"],
    [["--format", "xml"], 'Unknown format "xml". Available: json, markdown, html, claude, pi, gemini'],
    [["--for", "antropic"], "Did you mean anthropic"],
    [["--output", "no/such/folder/x.json"], "Cannot write no/such/folder/x.json: "],
  ])("reject %j before anything is written", async (options, message) => {
    const id = await importTalk("How is the weather?");
    const { code, out, err } = await run(["sessions", "export", id, ...options]);
    expect({ isRefused: code === 1 || code === 2, out }).toEqual({ isRefused: true, out: "" });
    expect(err).toContain(message);
  });
});

describe("parley sessions import", () => {
  it("imports a request body, and the session can be resumed", async () => {
    const body = {
      messages: [
        { role: "user", content: "Say hello." },
        { role: "assistant", content: "Hello." },
      ],
    };
    const id = (await runOk(["sessions", "import", "-"], { input: JSON.stringify(body) })).trim();
    expect(await runOk(["sessions"])).toMatch(/ {2}openai-chat {2,}1 {2}Say hello\.$/m);
    expect((await run(["render", id])).err).toContain("Missing option --for PROVIDER/MODEL");
    expect(await chatWithDemoModel("say hello", "--resume", id)).toBe(id);
    const { entries } = JSON.parse(await runOk(["sessions", "export", id])) as Conversation;
    expect(entries.map(({ type }) => type)).toEqual(["user", "model", "user", "model"]);
  });

  it.each([
    ["{}", "its API cannot be detected"],
    ['{"version": 1, "entries": [{"type": "song"}], "blobs": {}}', "At /entries/0"],
    ['{"contents": []}', "It has no messages."],
    ["{", "is not valid JSON"],
  ])("rejects %s and creates no session", async (input, message) => {
    const { code, out, err } = await run(["sessions", "import", "-"], { input });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
    expect(await ids("--all")).toEqual([]);
  });
});

describe("parley sessions rename and delete", () => {
  it("rename by a prefix of the id", async () => {
    const id = await importTalk("How is the weather?");
    expect(await run(["sessions", "rename", id.slice(0, 9), "Rain", "\u001B[31m in Oslo"])).toEqual({
      code: 0,
      out: "",
      err: "",
    });
    expect((await json<ListOutput>(["sessions"])).sessions[0]!.title).toBe("Rain \uFFFD[31m in Oslo");
  });

  it("delete one session and nothing else, without a question if there is no terminal", async () => {
    const [one, other] = [await importTalk("How is the weather?"), await importTalk("Another")];
    const trial = await run(["sessions", "delete", one, "--dry-run"]);
    expect(trial).toEqual({ code: 0, out: `Would delete session ${one} "How is the weather?".\n`, err: "" });
    expect(await ids()).toHaveLength(2);
    const { code, out } = await run(["sessions", "delete", one]);
    expect({ code, out }).toEqual({ code: 0, out: `Deleted session ${one} "How is the weather?".\n` });
    expect(await ids()).toEqual([other]);
    expect(await json<ShowOutput>(["sessions", "show", other])).toMatchObject({ findings: [], turns: 1 });
  });

  it("ask at a terminal, and treat anything but yes as no", async () => {
    const id = await importTalk("How is the weather?");
    const answering = async (answer: string): Promise<number> => {
      const terminal = spawnInTerminal(process.execPath, [bin, "sessions", "delete", id], {
        cwd: here,
        env: environment(),
      });
      let shown = "";
      terminal.onData((data) => {
        const wasAsked = shown.includes("[y/N]");
        shown += data;
        if (!wasAsked && shown.includes("[y/N]")) terminal.write(answer);
      });
      return new Promise((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
    };
    expect(await answering("\r")).toBe(1);
    expect(await ids()).toEqual([id]);
    expect(await answering("yes\r")).toBe(0);
    expect(await ids()).toEqual([]);
  });

  it("change nothing if an id is ambiguous or unknown", async () => {
    const both = [await importTalk("How is the weather?"), await importTalk("Another")];
    const several = await run(["sessions", "delete", both[0]!.slice(0, 1)]);
    expect({ code: several.code, out: several.out }).toEqual({ code: 1, out: "" });
    for (const id of both) expect(several.err).toContain(id);
    expect((await run(["sessions", "delete", "zzz"])).err).toContain("There is no session zzz.");
    expect((await ids()).toSorted()).toEqual(both.toSorted());
  });
});

describe("parley sessions repair", () => {
  const damage = (id: string): { readonly before: Buffer; readonly broken: string } => {
    const file = fileOf(id);
    const lines = readFileSync(file, "utf8").split("\n");
    const broken = lines[2]!.replace("harbour", "HARBOUR");
    writeFileSync(file, [...lines.slice(0, 2), broken, ...lines.slice(3), '{"torn'].join("\n"));
    return { before: readFileSync(file), broken };
  };

  it("with --dry-run, prints what it would do and changes nothing", async () => {
    const id = await importTalk("How is the weather?");
    const { before } = damage(id);
    const { code, out } = await run(["sessions", "repair", id, "--dry-run"]);
    expect(code).toBe(0);
    expect(out).toContain("cannot be read.");
    expect(out).toContain(`A repair would rewrite ${fileOf(id)}`);
    expect(readFileSync(fileOf(id))).toEqual(before);
    expect(readdirSync(join(fileOf(id), "..")).filter((name) => name.includes("damaged"))).toEqual([]);
  });

  it("repairs the file, and prints where the unreadable bytes are saved", async () => {
    const id = await importTalk("How is the weather?");
    const { broken } = damage(id);
    const { code, out } = await run(["sessions", "repair", id]);
    expect(code).toBe(0);
    const [, saved] = /^Saved the unreadable bytes to (.+)\.$/m.exec(out)!;
    const aside = readFileSync(saved!, "utf8");
    expect(aside).toContain(broken);
    expect(aside).toContain('{"torn');
    expect(await run(["sessions", "repair", id])).toEqual({ code: 0, out: `Session ${id} is not damaged.\n`, err: "" });
    expect(await runOk(["sessions", "show", id])).toContain("It rains.");
  });

  it("saves even a file that is entirely unreadable", async () => {
    const id = await importTalk("How is the weather?");
    writeFileSync(fileOf(id), "not a session at all\n");
    expect((await run(["sessions", "show", id])).err).toContain(`parley sessions repair ${id}`);
    const { dryRun, savedFiles } = await json<RepairOutput>(["sessions", "repair", id]);
    expect(dryRun).toBe(false);
    expect(readFileSync(savedFiles[0]!, "utf8")).toContain("not a session at all");
    expect((await run(["sessions", "show", id])).code).toBe(0);
  });
});

describe("parley sessions prune", () => {
  const three = async (): Promise<readonly string[]> => {
    const all = [await importTalk("One"), await importTalk("Two"), await importTalk("Three")];
    for (const [at, id] of all.entries()) setLastUse(id, `2026-03-0${at + 1}T10:00:00Z`);
    return all;
  };

  it("keeps the given number of sessions of a folder, and with --dry-run all", async () => {
    const [one, two, last] = await three();
    const far = await importTalk("Elsewhere", there);
    const trial = await run(["sessions", "prune", "--keep-count", "1", "--dry-run"]);
    expect(trial.out).toBe(`Would delete ${two}  2026-03-02 10:00  Two\nWould delete ${one}  2026-03-01 10:00  One\n`);
    expect(trial.err).toBe("parley: 1 session kept.\n");
    expect(await ids()).toEqual([last, two, one]);
    const { removed } = await json<PruneOutput>(["sessions", "prune", "--keep-count", "1"]);
    expect(removed.map((each) => each.id)).toEqual([two, one]);
    expect(await ids("--all")).toEqual([far, last]);
  });

  it("with --all, keeps the given number of sessions of each folder", async () => {
    const [, , last] = await three();
    const far = await importTalk("Elsewhere", there);
    await runOk(["sessions", "prune", "--all", "--keep-count", "1"]);
    expect(await ids("--all")).toEqual([far, last]);
  });

  it("uses the settings if no option is given, and prunes by age", async () => {
    await three();
    const young = await importTalk("Young");
    writeFileSync(join(home, "settings.json"), '{"sessions": {"keepDays": 30}}');
    await runOk(["sessions", "prune"]);
    expect(await ids()).toEqual([young]);
  });

  it("deletes nothing without a limit", async () => {
    const all = await three();
    const { code, err } = await run(["sessions", "prune"]);
    expect(code).toBe(2);
    expect(err).toContain("Use --keep-days N or --keep-count N");
    expect(await ids()).toHaveLength(all.length);
  });
});

describe("parley sessions", () => {
  it.each([
    [["fly"], 'Unknown action "fly" for sessions. Available: list, search'],
    [["toString"], 'Unknown action "toString" for sessions.'],
    [["show"], "Missing argument ID: parley sessions show ID."],
    [["show", "a", "b"], 'Unexpected argument "b" for sessions show.'],
    [["list", "more"], 'Unexpected argument "more" for sessions list.'],
    [["rename", "abc"], "parley sessions rename ID TITLE"],
    [["search"], "Missing argument WORDS"],
    [["import", "--from", "anthropic"], "parley sessions import FILE"],
    [["show", "abc", "--all"], "Unexpected option --all for sessions show."],
    [["list", "--limit", "0"], "--limit must be a whole number of at least 1"],
    [["prune", "--keep-days", "soon"], "--keep-days must be a whole number of at least 1"],
  ])("answers %j with a helpful message and exit code 2", async (args, message) => {
    const { code, out, err } = await run(["sessions", ...args]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
  });
});

describe("parley render of a session", () => {
  const body = async (...args: readonly string[]): Promise<Body> =>
    JSON.parse(await runOk(["render", ...args])) as Body;
  const request = async (id: string, turn: string): Promise<ExplainOutput["request"]> => {
    const { err } = await run(["render", id, "--turn", turn, "--explain"]);
    return (JSON.parse(err) as ExplainOutput).request;
  };

  it("renders each request as it was sent, also those of a later run", async () => {
    writeFileSync(join(here, "a.txt"), "hello\n");
    const id = await chatWithDemoModel("read a.txt");
    await chatWithDemoModel("list the files", "--resume", id);
    const { requests } = await json<ShowOutput>(["sessions", "show", id]);
    expect(requests.map((each) => [each.number, each.model])).toEqual([1, 2, 3, 4].map((at) => [at, "offline/parley"]));
    for (const made of requests) {
      const { asSent, ...rest } = await request(id, String(made.number));
      expect(asSent).toBe(true);
      expect(rest).toEqual(made);
    }
    const [first, second, third] = [
      await body(id, "--turn", "1"),
      await body(id, "--turn", "2"),
      await body(id, "--turn", "3"),
    ];
    expect(second.messages.slice(0, first.messages.length)).toEqual(first.messages);
    expect(third.messages.slice(0, second.messages.length)).toEqual(second.messages);
    expect(JSON.stringify(first)).not.toContain("hello");
    expect(JSON.stringify(second)).toContain("hello");
    expect(JSON.stringify(second)).not.toContain("list the files");
    expect(JSON.stringify(third)).toContain("list the files");
  });

  it("renders it for another model too, without `asSent` then", async () => {
    const id = await chatWithDemoModel("say hello");
    expect((await body(id, "--turn", "1", "--for", "anthropic")).model).toBe("claude-sonnet-5");
    const { err } = await run(["render", id, "--turn", "1", "--for", "anthropic", "--explain"]);
    expect((JSON.parse(err) as ExplainOutput).request).not.toHaveProperty("asSent");
    expect(JSON.stringify(await body(id, "--for", "anthropic"))).toContain("say hello");
  });

  it("reports if the printed body differs from the sent one", async () => {
    writeFileSync(join(here, "a.txt"), "hello\n");
    const id = await chatWithDemoModel("read a.txt");
    const { err } = await run(["render", id, "--turn", "2", "--thinking", "text", "--explain"]);
    expect((JSON.parse(err) as ExplainOutput).request.asSent).toBe(false);
  });

  it("includes thinking that the session's own account can read, and no other", async () => {
    const claude = { provider: "anthropic", model: "claude-sonnet-5" };
    const conversation = talk("How is the weather?", { ...claude, account: "a1b2" });
    expect(JSON.stringify(await body(await importConversation(conversation)))).toContain("c2VhbA==");
    const ledger = Ledger.from(conversation.entries);
    ledger.user([text("Sure?")]);
    ledger.model({ ...claude, account: "c3d4" }, [text("Yes.")]);
    const moved = await importConversation({ ...conversation, entries: ledger.entries });
    expect(JSON.stringify(await body(moved))).not.toContain("c2VhbA==");
  });

  it("prefers a file of that name", async () => {
    const id = await chatWithDemoModel("say hello");
    writeFileSync(join(here, id), JSON.stringify(talk("How is the weather?")));
    const found = JSON.stringify(await body(id, "--for", "anthropic"));
    expect(found).toContain("How is the weather?");
    const { code, err } = await run(["render", id, "--for", "anthropic", "--turn", "1"]);
    expect(code).toBe(2);
    expect(err).toContain("--turn is for sessions; this is a file.");
  });

  it("reports an invalid turn or id", async () => {
    const id = await chatWithDemoModel("say hello");
    expect(await run(["render", id, "--turn", "2"])).toEqual({
      code: 2,
      out: "",
      err: `parley: Session ${id} has 1 request; --turn must be from 1 to 1.\n`,
    });
    expect((await run(["render", id, "--turn", "0"])).err).toContain("--turn must be a whole number of at least 1");
    expect((await run(["render", await importTalk("Hi"), "--turn", "1"])).err).toContain("has no completed request");
    expect((await run(["render", "zzz", "--for", "google"])).err).toContain(
      "No file zzz, and no session whose id starts with it.",
    );
    expect((await run(["render", "zzz", "--for", "gogle"])).err).toContain("Did you mean google");
  });
});

describe("parley switch-check", () => {
  it("prints media and thinking that would be lost, and the cost", async () => {
    const id = await importTalk("How is the weather?");
    const { tokens, cost, ...check } = await json<CheckOutput>(["switch-check", "deepseek", "--session", id]);
    expect(check).toEqual({
      session: id,
      counted: false,
      model: "deepseek/deepseek-v4-flash",
      known: true,
      context: expect.any(Number),
      fits: true,
      uncached: tokens,
      stubbed: [expect.objectContaining({ kind: "media-stub" })],
      thinking: [expect.objectContaining({ kind: "thinking-dropped" })],
      others: expect.any(Array),
    });
    expect(cost).toBeGreaterThan(0);
    const { out } = await run(["switch-check", "deepseek", "-s", id]);
    expect(out).toContain(`Session ${id} "How is the weather?"\nto deepseek/`);
    expect(out).toMatch(/^ {2}context {3}fits: about [\d,]+ of [\d,]+ tokens$/m);
    expect(out).toMatch(/^ {2}media {5}1 file would be described, not sent\./m);
    expect(out).toMatch(/^ {2}thinking {2}1 thought would not carry over\./m);
    expect(out.split("\n").filter((line) => line.length > 100)).toEqual([]);
  });

  it("checks the last session of this folder, and recognizes its last model", async () => {
    await chatWithDemoModel("say hello");
    const { uncached, stubbed, others } = await json<CheckOutput>(["switch-check", "offline"]);
    expect({ uncached, stubbed, others }).toEqual({ uncached: 0, stubbed: [], others: [] });
    expect((await run(["switch-check", "offline"])).out).toContain("last used model");
    const none = await run(["switch-check", "offline"], { cwd: there });
    expect({ code: none.code, out: none.out }).toEqual({ code: 1, out: "" });
    expect(none.err).toContain("No session in this folder.");
  });

  it("starts from the usage of the last response", async () => {
    const id = await chatWithDemoModel("say hello");
    const { requests } = await json<ShowOutput>(["sessions", "show", id]);
    const [{ usage }] = requests as [SessionRequest];
    expect((await json<CheckOutput>(["switch-check", "anthropic"])).tokens).toBe(
      Number(usage?.["input"]) + Number(usage?.["output"]),
    );
  });

  it("exits with 1 if the conversation does not fit", async () => {
    await chatWithDemoModel("say hello");
    writeFileSync(join(home, "settings.json"), '{"models": {"local/tiny": {"context": 100}}}');
    const { code, out } = await run(["switch-check", "local/tiny"]);
    expect(code).toBe(1);
    expect(out).toContain("does not fit: about");
    expect(out).toContain("of 100 tokens");
  });

  it("has the provider count with --count, and says if it cannot", async () => {
    const id = await chatWithDemoModel("say hello");
    const simulator = createSimulator({ provider: "anthropic" });
    const serving = await serve(simulator);
    try {
      const env = { ANTHROPIC_API_KEY: "sk-ant-test", ANTHROPIC_BASE_URL: serving.url };
      const { counted, tokens } = await json<CheckOutput>(["switch-check", "anthropic", "-s", id, "--count"], { env });
      expect(counted).toBe(true);
      expect(tokens).toBeGreaterThan(0);
      expect(simulator.log.map(({ path, verdict }) => [path, verdict])).toEqual([
        ["/v1/messages/count_tokens", "accepted"],
      ]);
    } finally {
      await serving.close();
    }
    const { code, out, err } = await run(["switch-check", "offline", "-s", id, "--count", "--json"]);
    expect({ code, counted: (JSON.parse(out) as CheckOutput).counted }).toEqual({ code: 0, counted: false });
    expect(err).toContain("does not count tokens. Using an estimate.");
  });

  it("suggests the nearest name for a mistyped one", async () => {
    const { code, err } = await run(["switch-check", "antropic"]);
    expect(code).toBe(2);
    expect(err).toContain("Did you mean anthropic?");
  });
});

describe("parley trust", () => {
  const settings = {
    permissions: { deny: ["run_shell_command(git push)"], mode: "plan" },
    mcpServers: {
      files: { command: "npx", args: ["-y", "files", "--token=sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"] },
    },
    model: "openai/gpt-5.6",
  };
  const furnish = (): void => {
    mkdirSync(join(here, ".parley"));
    mkdirSync(join(here, "sub"));
    writeFileSync(join(here, ".parley", "settings.json"), JSON.stringify(settings));
    writeFileSync(join(here, "AGENTS.md"), "Speak of harbours.");
    writeFileSync(join(here, "sub", "CLAUDE.md"), "Speak of rain.");
  };

  it("prints what is used from now on, and what still needs consent", async () => {
    furnish();
    expect(await run(["trust"])).toEqual({
      code: 0,
      out: [
        `${here} is now trusted.`,
        "  context files  AGENTS.md, sub/CLAUDE.md",
        "  settings       approval mode at most plan, deny run_shell_command(git push)",
        "  needs consent  mcpServers.files (npx -y files --token=[secret])",
        "",
      ].join("\n"),
      err: 'parley: .parley/settings.json: "model" has no effect. A project can only restrict what your own settings allow.\n',
    });
    const { system } = JSON.parse(
      await runOk(["sessions", "export", await chatWithDemoModel("say hello")]),
    ) as Conversation;
    expect(system).toContain("Speak of harbours.");
  });

  it("lists the folders, and removes trust", async () => {
    furnish();
    expect(await run(["trust", "--list"])).toEqual({ code: 0, out: "", err: "parley: No trusted folders.\n" });
    await runOk(["trust", "sub"]);
    await runOk(["trust", "../there"]);
    rmSync(there, { recursive: true });
    expect(await runOk(["trust", "--list"])).toBe(`${join(here, "sub")}\n${there}  (no longer exists)\n`);
    expect(await runOk(["trust", "../there", "--remove"])).toBe(`${there} is no longer trusted.\n`);
    expect(await json(["trust", "--list"])).toEqual({ folders: [{ folder: join(here, "sub"), exists: true }] });
    expect((await run(["trust", "--remove"])).err).toBe(`parley: ${here} was not trusted.\n`);
  });

  it("reports that a folder stays trusted because of a parent folder", async () => {
    furnish();
    await runOk(["trust"]);
    await runOk(["trust", "sub"]);
    expect(await run(["trust", "sub", "--remove"])).toEqual({
      code: 1,
      out: `${join(here, "sub")} is no longer trusted.\n`,
      err: `parley: ${join(here, "sub")} is still trusted, because a parent folder is.\n`,
    });
  });

  it("warns about the root and the home folder", async () => {
    const { code, err } = await run(["trust", base]);
    expect(code).toBe(0);
    expect(err).toContain("All subfolders are trusted, too.");
  });

  it.each([
    [["nowhere"], "No such folder: "],
    [["a.txt"], "is a file, not a folder."],
    [["--list", "--remove"], "--list cannot be combined with --remove or a folder."],
  ])("answers %j with a helpful message, and trusts nothing", async (args, message) => {
    writeFileSync(join(here, "a.txt"), "");
    const { code, out, err } = await run(["trust", ...args]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
    expect(await json(["trust", "--list"])).toEqual({ folders: [] });
  });
});

describe("parley completion", () => {
  const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
    const script = `parley() { "$NODE" "$PARLEY" "$@"; }
      source <(parley completion bash)
      COMP_WORDS=(parley "$@"); COMP_CWORD=$#; _parley; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { ...environment(), NODE: process.execPath, PARLEY: bin };
    const child = spawn("bash", ["-c", script, "bash", ...words], { cwd: here, env });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => (out += String(chunk)));
    await once(child, "close");
    return out.split("\n").filter((line) => line !== "");
  };

  itInAll("offers the options of chat without a command name, their short forms and values", async () => {
    expect(await complete("--re")).toEqual(["--resume"]);
    expect(await complete("-")).toEqual(expect.arrayContaining(["-p", "--prompt", "-m", "--help", "--version"]));
    expect(await complete("-p", "hello", "--out")).toEqual(["--output-format"]);
    expect(await complete("-o", "stream")).toEqual(["stream-json"]);
    expect(await complete("--model", "anth")).toEqual(["anthropic/claude-sonnet-5"]);
    expect(await complete("sess")).toEqual(["sessions"]);
  });

  itInAll("offers session ids wherever one is expected", async () => {
    const [one, other] = [await importTalk("One"), await importTalk("Two")];
    setLastUse(one, "2026-03-01T10:00:00Z");
    for (const words of [
      ["-r"],
      ["--resume"],
      ["sessions", "show"],
      ["sessions", "delete"],
      ["switch-check", "google", "--session"],
    ])
      expect(await complete(...words, "")).toEqual([other, one]);
    expect(await complete("render", one.slice(0, -1))).toEqual([one]);
    writeFileSync(join(here, "1 talk.json"), "");
    expect(await complete("render", "1")).toEqual([other, one, "1 talk.json"]);
    expect(await complete("sessions", "import", "")).toEqual(["1 talk.json"]);
  });

  itInAll("offers actions, settings, formats and models", async () => {
    expect(await complete("sessions", "re")).toEqual(["rename", "repair"]);
    expect(await complete("config", "set", "sessions.")).toEqual(["sessions.keepDays", "sessions.keepCount"]);
    expect(await complete("sessions", "export", "x", "--format", "m")).toEqual(["markdown"]);
    expect(await complete("switch-check", "anth")).toEqual(["anthropic/claude-sonnet-5"]);
  });

  it("has short forms, ids and the options of chat in fish", async () => {
    const fish = await runOk(["completion", "fish"]);
    expect(fish).toMatch(/^complete -c parley -n 'not __fish_seen_subcommand_from [^']*' -s p -l prompt /m);
    expect(fish).toMatch(/ -s r -l resume .* -x -a '\(parley sessions list --quiet --all 2>\/dev\/null\)'$/m);
    expect(fish).toMatch(/from sessions; and __fish_seen_subcommand_from show' -f -a '\(parley sessions list/m);
    expect(fish).toMatch(/from config; and __fish_seen_subcommand_from set' -f -a 'model pools/m);
  });
});

describe("parley --help", () => {
  it("starts with what Parley is, and groups the commands", async () => {
    const help = await runOk(["--help"]);
    expect(help).toMatch(/^Parley is a terminal agent for every model/);
    expect([...help.matchAll(/^[A-Z][a-z ]+$/gm)].map(([title]) => title)).toEqual([
      "Chat",
      "Set up",
      "Requests",
      "For other programs",
    ]);
    expect(help).toContain("  -p, --prompt TEXT ");
    expect(help.split("\n").filter((line) => line.length > 100)).toEqual([]);
  });
});
