import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openAgent } from "../../src/agent/open-agent.ts";
import type { Entry } from "../../src/conversation/entry.ts";
import type { Part } from "../../src/conversation/parts.ts";
import { openTrustStore } from "../../src/policy/trust/folders.ts";
import { openSessionStore } from "../../src/session/store/store.ts";
import { loadSettings } from "../../src/settings/load/load.ts";
import type { ModelFunction } from "../../src/sim/family.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { bin, ensureBuilt } from "../built.ts";
import { serveProgram } from "../support/acp-client.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";
import { runInTerminal } from "../tui/terminal.ts";

/*
 * The same conversation through the program, through a subagent of the program, through the library, from an editor and
 * in the terminal leaves the same session log.
 */

const speak: ModelFunction = ({ turns }) => {
  const delegates = turns.some((turn) => turn.by === "user" && turn.text.includes("Delegate."));
  const answered = turns.filter((turn) => turn.by === "model").length;
  if (delegates)
    return answered === 0
      ? { parts: [{ type: "call", tool: "task", input: { description: "The work", prompt: "Do the work." } }] }
      : { parts: [{ type: "say", text: "Delegated." }] };
  if (answered === 0)
    return {
      parts: [
        { type: "think", text: "Three things at once." },
        { type: "say", text: "Looking." },
        { type: "call", tool: "run_shell_command", input: { command: "echo hello" } },
        { type: "call", tool: "read_file", input: { path: "dot.png" } },
        { type: "call", tool: "read_file", input: { path: "nowhere.txt" } },
      ],
    };
  if (answered === 1) return { parts: [{ type: "call", tool: "read_fil", input: {} }] };
  if (answered === 2) return { parts: [{ type: "call", tool: "run_shell_command", input: { command: "exit 3" } }] };
  return { parts: [{ type: "say", text: "All is done." }] };
};

let stage: ProgramStage;
beforeAll(async () => {
  ensureBuilt();
  stage = await openProgramStage(["anthropic"], { script: speak });
});
afterAll(() => stage.close());

const homeOf = (name: string): string => join(stage.home, name);

/** The entries of the only session in a home folder. */
const entriesIn = async (home: string): Promise<readonly Entry[]> => {
  const sessions = openSessionStore(realWorld({}), { home });
  const [only, ...others] = await sessions.list();
  expect(others).toEqual([]);
  return (await sessions.read(only?.id ?? "")).entries;
};

/** Removes what differs between runs: the initial context, ids of providers and processes, the order in which calls ended. */
const comparable = (entries: readonly Entry[]): readonly unknown[] => {
  const rest = entries[0]?.type === "notice" ? entries.slice(1) : entries;
  const plain = rest.map((entry) =>
    entry.type === "model" ? { type: "model", origin: entry.origin, parts: entry.parts.map(withoutSeal) } : entry,
  );
  return plain.flatMap((entry, index): readonly unknown[] => {
    if (entry.type !== "completion") return [entry];
    if (plain[index - 1]?.type === "completion") return [];
    const end = plain.findIndex((other, at) => at > index && other.type !== "completion");
    return plain
      .slice(index, end)
      .map((each) => JSON.stringify(each).replaceAll(/PGID: \d+/g, "PGID: one"))
      .toSorted();
  });
};

const withoutSeal = (part: Part): object => {
  if (!("seal" in part)) return part;
  const { seal, ...others } = part;
  return { ...others, sealed: Object.keys(seal ?? {}) };
};

const program = async (name: string, words: string): Promise<string> => {
  const home = homeOf(name);
  const { code } = await stage.run(["-p", words, "-m", "anthropic", "--approval-mode", "yolo"], {
    env: { PARLEY_HOME: home },
  });
  expect(code).toBe(0);
  return home;
};

const library = async (name: string): Promise<string> => {
  const home = homeOf(name);
  const world = realWorld(stage.env);
  const { project } = stage;
  const scope = await openTrustStore(world.disk, home).projectScope(project);
  const flags = { model: ["anthropic"], "approval-mode": ["yolo"] };
  const loaded = await loadSettings(world, { home, root: project, scope, flags });
  const { agent, close } = await openAgent({ world, home, folder: project, loaded, interactive: false });
  for await (const _ of agent.send("Do the work."));
  await close();
  return home;
};

/** The same prompt from an editor. */
const editor = async (name: string): Promise<string> => {
  const home = homeOf(name);
  const { client, close } = serveProgram(["-m", "anthropic", "--approval-mode", "yolo"], {
    cwd: stage.home,
    env: { ...stage.env, PARLEY_HOME: home },
  });
  await client.initialize();
  const { sessionId } = await client.request("session/new", { cwd: stage.project, mcpServers: [] });
  expect(await client.prompt(sessionId as string, "Do the work.")).toEqual({ stopReason: "end_turn" });
  expect(await close()).toBe(0);
  return home;
};

/** The same prompt, typed in a real pseudo-terminal. */
const terminal = async (name: string): Promise<string> => {
  const home = homeOf(name);
  await openTrustStore(realWorld(stage.env).disk, home).trustFolder(stage.project);
  const { waitFor, type, ended } = runInTerminal(bin, {
    args: ["--cwd", stage.project, "-m", "anthropic", "--approval-mode", "yolo"],
    size: { columns: 80, rows: 24 },
    env: { ...stage.env, PARLEY_HOME: home },
  });
  await waitFor((rows) => rows.some((row) => row.includes("? for keys")));
  type("Do the work.\r");
  await waitFor((rows) => {
    const screen = rows.join("\n");
    return screen.includes("All is done.") && !screen.includes("Esc to cancel");
  });
  type("\u0003/quit\r");
  expect((await ended).code).toBe(0);
  return home;
};

describe("one conversation", () => {
  it("leaves the same log through the program, a subagent, the library, an editor and the terminal", async () => {
    const direct = comparable(await entriesIn(await program("direct", "Do the work.")));
    const delegated = comparable(await entriesIn(join(await program("delegated", "Delegate."), "subagents")));
    const embedded = comparable(await entriesIn(await library("embedded")));
    expect(direct).toHaveLength(10);
    expect(delegated).toEqual(direct);
    expect(embedded).toEqual(direct);
    expect(comparable(await entriesIn(await editor("edited")))).toEqual(direct);
    expect(comparable(await entriesIn(await terminal("typed")))).toEqual(direct);
  });

  it("includes the usage of its subagents", async () => {
    const { code, out } = await stage.run(
      ["-p", "Delegate.", "-m", "anthropic", "--approval-mode", "yolo", "-o", "json"],
      {
        env: { PARLEY_HOME: homeOf("counted") },
      },
    );
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ response: "Delegated.", stats: { requests: 2 + 4 } });
  });
});
