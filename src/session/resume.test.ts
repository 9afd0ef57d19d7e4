import { describe, expect, it } from "vitest";
import { call, done, Ledger, text } from "../conversation/index.ts";
import { completeInterrupted, resumeSession } from "./index.ts";
import { newBench, root } from "./session.cases.ts";

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

describe("taking up a session again", () => {
  it("says of calls nobody saw end that nobody knows, to the model and to the person", () => {
    const ledger = interrupted();
    const [, shell] = ledger.entries[1]?.type === "model" ? ledger.entries[1].parts : [];
    const completion = { type: "completion", call: "hist_tool_2", tool: "run_shell_command", outcome: unknown };

    expect(completeInterrupted(ledger)).toEqual({
      calls: [shell],
      entries: [completion],
      told: [
        `run_shell_command was running when the session ended, so its outcome is unknown; it may have had effects ({"command":"rm ${"x".repeat(104)}…). A program it started may still be running.`,
      ],
    });
    expect(ledger.entries.at(-1)).toEqual(completion);
    expect(completeInterrupted(ledger)).toEqual({ calls: [], entries: [], told: [] });
  });

  it("leaves calls nobody could read to whoever sends the next request", () => {
    const ledger = interrupted();
    completeInterrupted(ledger);

    expect(ledger.pending().map(({ tool }) => tool)).toEqual(["write_file"]);
  });

  it("has it in the log before it gives the conversation back", async () => {
    const bench = newBench();
    const session = await bench.sessions.create({
      root,
      records: interrupted().entries.map((entry) => ({ kind: "entry", entry })),
    });
    const { ledger } = await resumeSession(
      await bench.sessions.read(session.id).then((read) => ({ ...session, ...read })),
    );
    const after = newBench({ me: "2-0", disk: bench.disk.crash(() => 0.9) });

    expect((await after.sessions.read(session.id)).entries).toEqual(ledger.entries);
    expect(ledger.entries).toHaveLength(4);
    const changes = bench.changes.length;
    await resumeSession({ ...session, entries: ledger.entries });
    expect(bench.changes.length).toBe(changes);
  });
});
