import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realWorld } from "../../src/api/index.ts";
import { openAgent, type OpenAgentOptions } from "../../src/api/agent.ts";
import { encodeLine } from "../../src/session/log/line.ts";
import type { AgentSession } from "../../src/agent/open-agent.ts";
import type { ModelReply, SimModelRequest } from "../../src/sim/model/types.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";

/* "Don't ask again this session" holds in the resumed session, for exactly that, and cannot be forged. */

let stage: ProgramStage;
let asked = 0;
const opened: AgentSession[] = [];

beforeEach(async () => {
  asked = 0;
  stage = await openProgramStage(["anthropic"], { script: writeOnce });
  await stage.run(["trust", "."]);
});
afterEach(async () => {
  for (const { close } of opened.splice(0)) await close();
  await stage.close();
});

const parleyHome = (): string => join(stage.home, ".parley");

const writeOnce = ({ turns }: SimModelRequest): ModelReply =>
  turns.at(-1)?.by === "tools"
    ? { parts: [{ type: "say", text: "Done." }] }
    : {
        parts: [{ type: "call", tool: "write_file", input: { file_path: "a.txt", content: `${turns.length}` } }],
      };

const open = async (options: Partial<OpenAgentOptions> = {}): Promise<AgentSession> => {
  const session = await openAgent({
    folder: stage.project,
    model: "anthropic",
    home: parleyHome(),
    world: realWorld(stage.env),
    approve: ({ approval }) => {
      asked += 1;
      return approval.always.some(({ type }) => type === "edits")
        ? { type: "always", rule: "edits", scope: "session" }
        : { type: "refuse" };
    },
    ...options,
  });
  opened.push(session);
  return session;
};

const close = async (session: AgentSession): Promise<string> => {
  await session.close();
  opened.splice(opened.indexOf(session), 1);
  return session.session.id;
};

/** A session in which the person allowed edits. */
const createConsent = async (): Promise<string> => {
  const session = await open();
  await session.ask("Write.");
  expect(asked).toBe(1);
  return close(session);
};

const rulesOf = async ({ services }: AgentSession): Promise<readonly string[]> =>
  (await (await services()).gate.listRules()).map(({ list, scope, rule }) => `${scope}: ${list} ${rule.type}`);

const logPath = (id: string): string => {
  const sessions = join(parleyHome(), "sessions");
  return join(sessions, readdirSync(sessions)[0]!, `${id}.jsonl`);
};

type LogLine = { sequence: number; at: number; bytes: number; sum: string; record: Record<string, unknown> };

/** Rewrites the log with valid checksums, as a program that can write the file could do. */
const rewriteLog = (id: string, change: (lines: LogLine[]) => LogLine[]): void => {
  const path = logPath(id);
  const lines = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as LogLine);
  const text = change(lines)
    .map(({ at, record }, index) => encodeLine({ session: id, sequence: index + 1, at, text: JSON.stringify(record) }))
    .join("");
  writeFileSync(path, text);
};

describe("a permission rule of a session", () => {
  it("holds when the session is resumed, is shown, and ends once it is taken back", async () => {
    const id = await createConsent();
    const resumed = await open({ resume: { id } });
    expect(resumed.notes).toContain(
      "1 permission rule of this session holds again. /permissions shows and removes them.",
    );
    expect(await rulesOf(resumed)).toEqual(["session: allow edits"]);
    await resumed.ask("Again.");
    expect(asked).toBe(1);
    const { gate } = await resumed.services();
    for (const rule of await gate.listRules()) await gate.removeRule(rule);
    await close(resumed);
    const last = await open({ resume: { id } });
    expect(await rulesOf(last)).toEqual([]);
    await last.ask("Once more.");
    expect(asked).toBe(2);
  });

  it("does not hold in another session, a copy of the session, or an untrusted folder", async () => {
    const id = await createConsent();
    expect(await rulesOf(await open())).toEqual([]);
    expect(await rulesOf(await open({ resume: { id }, isFork: true }))).toEqual([]);
    await stage.run(["trust", ".", "--remove"]);
    const untrusted = await open({ resume: { id } });
    expect(await rulesOf(untrusted)).toEqual([]);
    expect(untrusted.notes.join("\n")).toContain("the folder is not trusted");
  });

  it("that restricts holds in any case; a tool by its name alone ends with the program", async () => {
    const session = await open();
    const { gate } = await session.services();
    await gate.addRule({ type: "command", words: ["make"] }, { list: "deny", scope: "session" });
    await gate.addRule({ type: "tool", name: "srv__tool" }, { list: "allow", scope: "session" });
    const id = await close(session);
    await stage.run(["trust", ".", "--remove"]);
    expect(await rulesOf(await open({ resume: { id } }))).toEqual(["session: deny command"]);
  });

  it("that a command has for its turn is not in the log, so a crash in the turn does not keep it", async () => {
    const session = await open();
    const { gate } = await session.services();
    const rule = { type: "command", words: ["git", "push"] } as const;
    await gate.addRule(rule, { list: "allow", scope: "session", isForTurn: true });
    expect(await rulesOf(session)).toEqual(["session: allow command"]);
    const id = await close(session);
    expect(await rulesOf(await open({ resume: { id } }))).toEqual([]);
  });

  it("is no cost where there is none: no key, no record", async () => {
    const session = await open({ approve: () => ({ type: "once" }) });
    await session.ask("Write.");
    const id = await close(session);
    expect(readdirSync(parleyHome())).not.toContain("session-consents.key");
    expect(readFileSync(logPath(id), "utf8")).not.toContain('"consent"');
  });
});

describe("a changed log does not allow more", () => {
  const forge = (record: Record<string, unknown>): Record<string, unknown> =>
    record["kind"] === "consent" ? { ...record, rule: { type: "tool", name: "run_shell_command" } } : record;
  const changes: readonly (readonly [what: string, change: (lines: LogLine[]) => LogLine[]])[] = [
    ["another rule", (lines) => lines.map((line) => ({ ...line, record: forge(line.record) }))],
    [
      "another folder",
      (lines) =>
        lines.map((line) =>
          line.record["kind"] === "consent" ? { ...line, record: { ...line.record, folder: "/" } } : line,
        ),
    ],
    [
      "a consent that is added",
      (lines) => {
        const consent = lines.find(({ record }) => record["kind"] === "consent")!;
        return [...lines, { ...consent, record: { ...forge(consent.record), number: 2 } }];
      },
    ],
    ["a consent that is repeated", (lines) => [...lines, lines.find(({ record }) => record["kind"] === "consent")!]],
    [
      "a seal without a key",
      (lines) =>
        lines.map((line) =>
          line.record["kind"] === "consent"
            ? { ...line, record: { ...line.record, seal: createHash("sha256").update("").digest("hex") } }
            : line,
        ),
    ],
  ];

  it.each(changes)("%s", async (_, change) => {
    const id = await createConsent();
    rewriteLog(id, change);
    const resumed = await open({ resume: { id } });
    expect(await rulesOf(resumed)).toEqual([]);
    expect(resumed.notes.join("\n")).toContain("You are asked again");
  });

  it("an unchanged one does (the rewriting itself is no damage)", async () => {
    const id = await createConsent();
    rewriteLog(id, (lines) => lines);
    expect(await rulesOf(await open({ resume: { id } }))).toEqual(["session: allow edits"]);
  });

  it("a removal that is deleted", async () => {
    const id = await createConsent();
    const resumed = await open({ resume: { id } });
    const { gate } = await resumed.services();
    for (const rule of await gate.listRules()) await gate.removeRule(rule);
    await gate.addRule({ type: "path", path: "b.txt" }, { list: "allow", scope: "session" });
    await close(resumed);
    rewriteLog(id, (lines) => lines.filter(({ record }) => record["change"] !== "remove"));
    expect(await rulesOf(await open({ resume: { id } }))).toEqual([]);
  });

  it("on another machine, or after its key was lost", async () => {
    const id = await createConsent();
    rmSync(join(parleyHome(), "session-consents.key"));
    expect(await rulesOf(await open({ resume: { id } }))).toEqual([]);
    writeFileSync(join(parleyHome(), "session-consents.key"), "");
    expect(await rulesOf(await open({ resume: { id }, isFork: true }))).toEqual([]);
  });
});
