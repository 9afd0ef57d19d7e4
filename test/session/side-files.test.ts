import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";

let stage: ProgramStage;
beforeAll(async () => {
  ensureBuilt();
  stage = await openProgramStage(["anthropic"], {
    script: ({ turns }) =>
      turns.some(({ by }) => by === "model")
        ? { parts: [{ type: "say", text: "Done." }] }
        : { parts: [{ type: "call", tool: "run_shell_command", input: { command: "seq 100000" } }] },
  });
});
afterAll(() => stage.close());

it("long tool outputs are in a folder per session, and are removed when the session is deleted or pruned", async () => {
  const home = join(stage.home, "own");
  const scratch = join(home, "scratch");
  const parley = async (...words: readonly string[]): Promise<void> => {
    const { code, err } = await stage.run(words, { env: { PARLEY_HOME: home } });
    expect({ code, err: code === 0 ? "" : err }).toEqual({ code: 0, err: "" });
  };
  const work = async (): Promise<string> => {
    const before = existsSync(scratch) ? readdirSync(scratch) : [];
    await parley("-p", "Count.", "-m", "anthropic", "--approval-mode", "yolo");
    const [id = "", ...others] = readdirSync(scratch).filter((name) => !before.includes(name));
    expect(others).toEqual([]);
    expect(readdirSync(join(scratch, id))).toHaveLength(1);
    return id;
  };
  const [one, two, three] = [await work(), await work(), await work()];
  await parley("sessions", "delete", one);
  expect(readdirSync(scratch).toSorted()).toEqual([two, three].toSorted());
  await parley("sessions", "prune", "--keep-count", "1");
  expect(readdirSync(scratch)).toEqual([three]);
});
