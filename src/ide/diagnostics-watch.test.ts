import { describe, expect, it } from "vitest";
import { simulatedWorld } from "../world/simulated/world.ts";
import { describeProblems, DiagnosticsWatch, newProblems } from "./diagnostics-watch.ts";
import type { Diagnostic, FileDiagnostics } from "./ide.ts";

const problem = (message: string, line = 1): Diagnostic => ({ severity: "error", message, line });

describe("new problems", () => {
  it.each<[string, readonly Diagnostic[], readonly Diagnostic[], readonly Diagnostic[]]>([
    ["none", [problem("x")], [problem("x")], []],
    ["a moved one is not new", [problem("x", 3)], [problem("x", 9)], []],
    ["a second of the same kind is", [problem("x")], [problem("x"), problem("x", 2)], [problem("x", 2)]],
    ["a solved one is not", [problem("x"), problem("y")], [problem("y")], []],
    ["another severity is", [{ ...problem("x"), severity: "warning" }], [problem("x")], [problem("x")]],
  ])("are counted: %s", (_, before, now, expected) => {
    expect(newProblems(before, now)).toEqual(expected);
  });

  it("are listed with line, kind and origin, at most 20", () => {
    expect(describeProblems("a.ts", [{ ...problem("No x.", 3), source: "ts", code: "2304" }])).toBe(
      "The user's editor reports new problems after the edit of a.ts:\n- line 3, error: No x. (ts 2304)",
    );
    const many = Array.from({ length: 23 }, (_, at) => problem(`p${at}`));
    expect(describeProblems("a.ts", many).split("\n").slice(-2)).toEqual(["- line 1, error: p19", "(and 3 more)"]);
  });
});

describe("the watch after an edit", () => {
  const play = async (answers: readonly (readonly Diagnostic[] | undefined)[]) => {
    const world = simulatedWorld();
    const reports: (readonly [number, readonly string[]])[] = [];
    let asked = 0;
    const watch = new DiagnosticsWatch({
      ide: {
        diagnostics: async (): Promise<readonly FileDiagnostics[] | undefined> => {
          const answer = answers[Math.min(asked++, answers.length - 1)];
          return answer && [{ path: "/p/a.ts", diagnostics: answer }];
        },
      },
      clock: world.clock,
      report: (_, problems) => reports.push([world.clock.elapsed(), problems.map(({ message }) => message)]),
    });
    watch.takeBaseline();
    watch.watch("/p/a.ts");
    await world.run(world.clock.sleep(10_000));
    return { reports, asked };
  };

  it("reports new problems as soon as they are there, and then stops asking", async () => {
    const old = problem("old");
    expect(await play([[old], [old], [old, problem("new")]])).toEqual({ reports: [[1500, ["new"]]], asked: 3 });
  });

  it("does not take old problems for new ones while a server starts over", async () => {
    const old = problem("old");
    expect(await play([[old], [], [old], [old]])).toEqual({ reports: [], asked: 4 });
  });

  it("reports nothing where the editor could not tell what was there before", async () => {
    expect((await play([undefined, [problem("x")]])).reports).toEqual([]);
  });
});
