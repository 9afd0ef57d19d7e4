import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ModelFunction } from "../../src/sim/family.ts";
import { ensureBuilt } from "../built.ts";
import { openProgramStage, type OutputLine, type ProgramStage } from "../support/agent-program.ts";

const script: ModelFunction = ({ turns }) => {
  const prompts = turns.flatMap((turn) => (turn.by === "user" ? [turn.text] : []));
  const results = turns.flatMap((turn) => (turn.by === "tools" ? turn.results : []));
  const last = prompts.at(-1) ?? "";
  if (last.includes("Touch") && turns.at(-1)?.by !== "tools")
    return { parts: [{ type: "call", tool: "run_shell_command", input: { command: "touch made.txt" } }] };
  if (last.includes("Outside") && turns.at(-1)?.by !== "tools") {
    const path = last.split(" ").at(-1) ?? "";
    return { parts: [{ type: "call", tool: "read_file", input: { absolute_path: path } }] };
  }
  if (last.includes("Delegate") && turns.at(-1)?.by !== "tools")
    return { parts: [{ type: "call", tool: "task", input: { description: "Count", prompt: "Count to three." } }] };
  return { parts: [{ type: "say", text: `${prompts.length} prompts, ${results.at(-1)?.isError ?? "none"}` }] };
};

let stage: ProgramStage;
beforeAll(async () => {
  ensureBuilt();
  stage = await openProgramStage(["anthropic"], { script });
});
beforeEach(() => {
  stage.log.splice(0);
  stage.modelRequests.splice(0);
});
afterAll(() => stage.close());

const run = (...args: readonly string[]) => stage.run(["-m", "anthropic", ...args]);
const result = (out: string): OutputLine => JSON.parse(out) as OutputLine;
const made = (): boolean => existsSync(join(stage.project, "made.txt"));

/** The session files under Parley's home, with those of subagents. */
const sessionFiles = (): readonly string[] =>
  readdirSync(join(stage.home), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .toSorted();

describe("-y", () => {
  it("runs tools without asking, also together with -p", async () => {
    const { code } = await run("-p", "Touch it.", "--deny", "run_shell_command(touch)", "-y");
    expect([code, made()]).toEqual([0, false]);
    expect((await run("-yp", "Touch it.")).code).toBe(0);
    expect(made()).toBe(true);
  });
});

describe("--append-system-prompt", () => {
  it("adds to the end of the system prompt, and --system-prompt replaces it", async () => {
    await run("-p", "Hello.", "--append-system-prompt", "Answer in verse.");
    await run("-p", "Hello.", "--system-prompt", "You are a poet.", "--append-system-prompt", "Answer in verse.");
    const [added = "", replaced] = stage.modelRequests.map(({ system }) => system);
    expect([added.length > 500, added.endsWith("\n\nAnswer in verse."), replaced]).toEqual([
      true,
      true,
      "You are a poet.\n\nAnswer in verse.",
    ]);
  });
});

describe("--effort", () => {
  it("sets the reasoning effort of every request", async () => {
    await run("-p", "Hello.", "--effort", "high");
    expect(stage.log[0]?.entry.body).toMatchObject({ output_config: { effort: "high" } });
  });
});

describe("--max-spend", () => {
  it("stops a task that cost more", async () => {
    const { code, out } = await run("-p", "Touch it.", "-y", "--max-spend", "0.000001", "-o", "json");
    expect([code, stage.log.length]).toEqual([53, 1]);
    expect(result(out)["error"]).toMatchObject({
      type: "max-spend",
      message: expect.stringContaining("limit of $0.000001 reached (--max-spend"),
    });
  });
});

describe("--add-dir", () => {
  it("adds a folder to the workspace", async () => {
    const other = join(stage.home, "..", "other");
    mkdirSync(other, { recursive: true });
    writeFileSync(join(other, "note.txt"), "a note");
    expect((await run("-p", `Outside ${join(other, "note.txt")}`)).out).toBe("1 prompts, true\n");
    expect((await run("-p", `Outside ${join(other, "note.txt")}`, "--add-dir", other)).out).toBe("1 prompts, false\n");
    const source = "Added folders come from --add-dir and the setting context.includeDirectories.";
    const file = join(other, "note.txt");
    expect((await run("-p", "Hi", "--add-dir", file)).err).toBe(`parley: "${file}" is not a folder. ${source}\n`);
    expect((await run("-p", "Hi", "--add-dir", "/no")).err).toBe(
      `parley: The folder "/no" does not exist. ${source}\n`,
    );
  });
});

describe("--no-save", () => {
  it("leaves no session behind, not even of a subagent, and says nothing about it", async () => {
    const before = sessionFiles();
    const { code, out, err } = await run("-p", "Delegate it.", "-y", "--no-save");
    expect([code, out, err]).toEqual([0, "1 prompts, false\n", ""]);
    expect(stage.modelRequests).toHaveLength(3);
    expect([sessionFiles(), before.length > 0]).toEqual([before, true]);
  });

  it("continues a session without changing it", async () => {
    const id = String(result((await run("-p", "One.", "-o", "json")).out)["session_id"]);
    expect((await run("-p", "Two.", "-r", id, "--no-save")).out).toBe("2 prompts, none\n");
    expect((await run("-p", "Two.", "-r", id)).out).toBe("2 prompts, none\n");
  });
});

describe("--fork", () => {
  it("continues in a copy, whose requests begin with the same bytes, and keeps the session", async () => {
    const id = String(result((await run("-p", "One.", "-o", "json")).out)["session_id"]);
    const forked = result((await run("-p", "Two.", "-r", id, "--fork", "-o", "json")).out);
    expect([forked["response"], forked["session_id"] === id]).toEqual(["2 prompts, none", false]);
    await run("-p", "Two.", "-r", id);
    const [, copy, original] = stage.log.map(({ entry }) =>
      JSON.stringify(entry.body).replaceAll(/"user_id":"[^"]*"/g, ""),
    );
    expect(copy).toBe(original);
    const last = result((await run("-p", "Three.", "-r", String(forked["session_id"]), "-o", "json")).out);
    expect(last["response"]).toBe("3 prompts, none");
  });
});
