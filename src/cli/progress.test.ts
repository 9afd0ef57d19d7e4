import { describe, expect, it } from "vitest";
import { withProgress, type ProgressOutput, type ReportProgress } from "./progress.ts";

/** An output whose timer fires when the test says so. */
const stage = (isTerminal: boolean, columns = 80) => {
  const written: string[] = [];
  const timers: { readonly delay: number; readonly draw: () => void; isStopped: boolean }[] = [];
  const output: ProgressOutput = {
    isTerminal,
    columns: () => columns,
    write: (text) => void written.push(text),
    every: (delay, _, draw) => {
      const timer = { delay, draw, isStopped: false };
      timers.push(timer);
      return () => void (timer.isStopped = true);
    },
  };
  return { output, written, timers };
};

describe("progress", () => {
  it("is shown after two seconds, with a bar once the length is known, and is erased at the end", async () => {
    const { output, written, timers } = stage(true);
    const result = await withProgress(
      "Searching",
      async (report: ReportProgress) => {
        timers[0]?.draw();
        report(5, 20);
        timers[0]?.draw();
        report(6, 20, "one\u001b[31m");
        timers[0]?.draw();
        return "found";
      },
      output,
    );
    expect([result, timers.map(({ delay, isStopped }) => [delay, isStopped])]).toEqual(["found", [[2000, true]]]);
    expect(written).toEqual([
      "\r\u001b[2K⠋ Searching",
      "\r\u001b[2KSearching [######------------------] 5 of 20",
      "\r\u001b[2KSearching [#######-----------------] 6 of 20: one�[31m",
      "\r\u001b[2K",
    ]);
  });

  it.each([
    [
      40,
      ["⠋ Checking providers", "Checking providers [###-------] 5 of 16", "Checking providers [####------] 6 of 16"],
    ],
    [30, ["⠋ Checking providers", "Checking providers 5 of 16", "Checking providers 6 of 16"]],
    [
      56,
      [
        "⠋ Checking providers",
        "Checking providers [########----------------] 5 of 16",
        "Checking providers [#########---------------] 6 of 16",
      ],
    ],
    [
      66,
      [
        "⠋ Checking providers",
        "Checking providers [########----------------] 5 of 16",
        "Checking providers [#########---------------] 6 of 16: anthropic…",
      ],
    ],
    [12, ["⠋ Checking…", "Checking p…", "Checking p…"]],
  ])("is one line on a terminal of %i columns, so that it can be erased", async (columns, lines) => {
    const { output, written, timers } = stage(true, columns);
    await withProgress(
      "Checking providers",
      async (report: ReportProgress) => {
        timers[0]?.draw();
        report(5, 16);
        timers[0]?.draw();
        report(6, 16, "anthropic 漢字漢字漢字");
        timers[0]?.draw();
      },
      output,
    );
    expect(written.map((text) => text.replace("\r\u001b[2K", ""))).toEqual([...lines, ""]);
  });

  it("writes nothing for quick work, for work that fails early, and without a terminal", async () => {
    const quick = stage(true);
    await withProgress("Work", async () => 1, quick.output);
    await expect(withProgress("Work", async () => Promise.reject(new Error("no")), quick.output)).rejects.toThrow("no");
    expect([quick.written, quick.timers.every(({ isStopped }) => isStopped)]).toEqual([[], true]);
    const piped = stage(false);
    await withProgress("Work", async (report) => report(1, 2), piped.output);
    expect([piped.written, piped.timers]).toEqual([[], []]);
  });
});
