import { describe, expect, it } from "vitest";
import { simulatedWorld } from "../../../world/simulated/world.ts";
import { CallAnnouncer } from "./call-announcer.ts";

const call = "hist_tool_1";

const stage = () => {
  const world = simulatedWorld();
  const spoken: string[] = [];
  const announcer = new CallAnnouncer(world.clock, (text) => spoken.push(text));
  return { announcer, spoken, pass: (seconds: number) => world.run(world.clock.sleep(seconds * 1000)) };
};

describe("a running command, for a screen reader", () => {
  it("is reported with its start and the last new lines, each once", async () => {
    const { announcer, spoken, pass } = stage();
    announcer.start(call, "run_shell_command", "npm test");
    announcer.setOutput(call, "one\ntwo\nthree\nfour\nfive\nsi");
    await pass(3);
    announcer.setOutput(call, "one\ntwo\nthree\nfour\nfive\nsix\n");
    await pass(3);
    expect(spoken).toEqual([
      "Running run_shell_command: npm test",
      "npm test, after 2s:\n  2 lines, then\n  three\n  four\n  five",
      "npm test, after 5s:\n  six",
    ]);
  });

  it("is reported at growing intervals while it is silent, and never after its end", async () => {
    const { announcer, spoken, pass } = stage();
    announcer.start(call, "run_shell_command", "sleep 300");
    await pass(150);
    announcer.end(call);
    await pass(600);
    expect(spoken).toEqual([
      "Running run_shell_command: sleep 300",
      "sleep 300: still running after 20s.",
      "sleep 300: still running after 1m 0s.",
      "sleep 300: still running after 2m 0s.",
    ]);
  });

  it("says only new lines, also when the beginning of the output was dropped", async () => {
    const { announcer, spoken, pass } = stage();
    announcer.start(call, "run_shell_command", "seq");
    announcer.setOutput(call, "1\n2\n3\n");
    await pass(3);
    announcer.setOutput(call, "2\n3\n4\n");
    await pass(3);
    expect(spoken.slice(1)).toEqual(["seq, after 2s:\n  1\n  2\n  3", "seq, after 5s:\n  4"]);
  });

  it("cannot flood the reader", async () => {
    const { announcer, spoken, pass } = stage();
    announcer.start(call, "run_shell_command", "yes");
    for (let second = 0; second < 60; second++) {
      announcer.setOutput(call, `${"y".repeat(5000)}\n`.repeat(second + 1));
      await pass(1);
    }
    expect([spoken.length, Math.max(...spoken.map((each) => each.split("\n").length))]).toEqual([7, 5]);
    expect(Math.max(...spoken.map((each) => each.length))).toBeLessThan(700);
  });
});
