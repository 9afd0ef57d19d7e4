import { expect, it } from "vitest";
import { runShellCommand } from "../../tools/run-shell-command.ts";
import { ProcessStopper } from "./stopper.ts";

const clock = { sleep: async () => undefined, after: () => () => undefined, elapsed: () => 0, now: () => 0 };

const stopper = (
  group: () => readonly number[],
): { readonly stopper: ProcessStopper; readonly signals: readonly string[] } => {
  const signals: string[] = [];
  const running = { signal: (signal: string) => void signals.push(signal), groupMembers: async () => group() };
  return { stopper: new ProcessStopper(clock, running as never), signals };
};

it("returns no process once the group has ended", async () => {
  const left = [[7], [7], []];
  const { stopper: one, signals } = stopper(() => left.shift() ?? []);
  one.stop("cancelled");
  expect([await one.killRemaining(), signals]).toEqual([[], ["SIGTERM", "SIGKILL", "SIGKILL"]]);
});

it("returns the processes that did not end, and the result says that they may still be running", async () => {
  const { stopper: one } = stopper(() => [7]);
  one.stop("cancelled");
  const background = await one.killRemaining();
  expect(background).toEqual([7]);
  const outcome = { folder: "/", output: "", code: undefined, signal: undefined, group: 7, background };
  const run = async () => ({ ...outcome, error: undefined, ended: "cancelled" });
  const result = await runShellCommand.run({ command: "sleep 1" } as never, { shell: { run } } as never);
  expect(result).toMatchObject({
    display: {
      type: "text",
      text: "The command was cancelled and signalled to stop, but may still be running (7).",
    },
  });
});
