import { describe, expect, it } from "vitest";
import { call, done, text } from "../conversation/builders.ts";
import { Ledger } from "../conversation/ledger.ts";
import { completeInterruptedCalls } from "./interrupted-calls.ts";
import { findSessionFile, createSessionFixture, root, type SessionFixture } from "./session.cases.ts";

const origin = { provider: "google", model: "gemini-3.8-flash" };
const unknown = {
  status: "interrupted",
  content: [
    text(
      "No result was recorded: the run was interrupted before this call finished. Its outcome is unknown, and it may have had effects. A program it started may still be running.",
    ),
  ],
  synthetic: true,
};

const interrupted = (): Ledger => {
  const ledger = new Ledger();
  ledger.user([text("Do three things.")]);
  const [first] = ledger.model(origin, [
    call("read_file", { path: "a" }),
    call("run_shell_command", { command: `rm ${"x".repeat(200)}` }),
    { type: "call", tool: "write_file", input: { text: '{"path":' } },
  ]);
  if (first !== undefined) ledger.complete(first.id, "read_file", done("text of a"));
  return ledger;
};

describe("resuming a session", () => {
  it("completes calls without a result as interrupted, and reports them to the model and the user", () => {
    const ledger = interrupted();
    const [, shell] = ledger.entries[1]?.type === "model" ? ledger.entries[1].parts : [];
    const completion = { type: "completion", call: "hist_tool_2", tool: "run_shell_command", outcome: unknown };

    expect(completeInterruptedCalls(ledger)).toEqual({
      calls: [shell],
      entries: [completion],
      messages: [
        `run_shell_command was running when the session ended, so its outcome is unknown; it may have had effects ({"command":"rm ${"x".repeat(104)}…). A program it started may still be running.`,
      ],
    });
    expect(ledger.entries.at(-1)).toEqual(completion);
    expect(completeInterruptedCalls(ledger)).toEqual({ calls: [], entries: [], messages: [] });
  });

  it("leaves calls with malformed arguments to the next request", () => {
    const ledger = interrupted();
    completeInterruptedCalls(ledger);

    expect(ledger.pending().map(({ tool }) => tool)).toEqual(["write_file"]);
  });

  describe("after a compaction", () => {
    const origin2 = { provider: "openai", model: "gpt-5.6" };
    const compacted = (): Ledger => {
      const ledger = new Ledger();
      ledger.notice("The workspace is /project.");
      for (const round of [1, 2, 3]) {
        ledger.user([text(`Words ${round}.`)]);
        const [made] = ledger.model(origin2, [call("read_file", { path: `"hist_tool_${round}00"` })]);
        ledger.complete(made!.id, "read_file", done(`Result ${round}.`));
      }
      ledger.compact("What was said.", 7);
      ledger.user([text("And now?")]);
      return ledger;
    };
    const saved = async (fixture: SessionFixture): Promise<string> => {
      const session = await fixture.sessions.create({ root });
      await session.append(compacted().entries.map((entry) => ({ kind: "entry", entry })));
      await session.append([{ kind: "request", turn: 1, ...origin2, notes: [], digest: "abc" }]);
      await session.close();
      return session.id;
    };

    it("keeps only the text models still see, and continues call ids from the highest", async () => {
      const fixture = createSessionFixture();
      const id = await saved(fixture);
      const session = await fixture.sessions.open(id);
      const blank = { type: "notice", text: "" };
      const { entries } = compacted();
      expect(session.entries).toEqual([entries[0], ...Array.from({ length: 6 }, () => blank), ...entries.slice(7)]);
      expect(session.highestOmittedCall).toBe(2);
      const ledger = Ledger.from(session.entries, { dropped: 0, ordinal: session.highestOmittedCall });
      expect(ledger.model(origin2, [call("read_file", {})])).toMatchObject([{ id: "hist_tool_4" }]);
      await session.close();
      expect((await fixture.sessions.read(id)).entries).toEqual(entries);
    });

    it("repairs a damaged log with all of its records", async () => {
      const fixture = createSessionFixture();
      const id = await saved(fixture);
      const { path, text: log } = findSessionFile(fixture.disk, id);
      fixture.disk.seed(path, { kind: "file", text: log.replace("\n", "\nrubbish in the middle\n") });
      const session = await fixture.sessions.open(id);
      expect(session.damage.map(({ kind }) => kind)).toEqual(["damaged"]);
      await session.close();
      expect((await fixture.sessions.read(id)).entries).toEqual(compacted().entries);
      expect(findSessionFile(fixture.disk, id).text).toContain('"digest":"abc"');
    });

    it("keeps all text if the compaction separates a call from its result", async () => {
      const fixture = createSessionFixture();
      const ledger = compacted();
      ledger.compact("Cut in the wrong place.", 6);
      const session = await fixture.sessions.create({ root });
      await session.append(ledger.entries.map((entry) => ({ kind: "entry", entry })));
      await session.close();
      const again = await fixture.sessions.open(session.id);
      expect(again.entries).toHaveLength(ledger.entries.length);
      await again.close();
    });
  });
});
