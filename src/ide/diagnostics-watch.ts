import type { Clock } from "../world/world.ts";
import type { Diagnostic, FileDiagnostics, Ide } from "./ide.ts";

/** Options of a watch. `report` gets the problems of a file that were not there before its edit. */
export type DiagnosticsWatchOptions = {
  readonly ide: Pick<Ide, "diagnostics">;
  readonly clock: Pick<Clock, "after">;
  readonly report: (path: string, problems: readonly Diagnostic[]) => void;
};

/** Milliseconds after an edit when the editor is asked: language servers need a moment, some of them seconds. */
const delays = [400, 1500, 4000];

/** Finds out which problems edits cause. Nothing waits for it. */
export class DiagnosticsWatch {
  readonly #options: DiagnosticsWatchOptions;
  readonly #timers = new Map<string, () => void>();
  #before: Promise<Map<string, readonly Diagnostic[]> | undefined> = Promise.resolve(undefined);

  constructor(options: DiagnosticsWatchOptions) {
    this.#options = options;
  }

  /** Takes stock of the problems that are there now. */
  takeBaseline(): void {
    this.#before = this.#options.ide.diagnostics().then((files) => files && byPath(files));
  }

  /** Asks about a file that was edited, until it has new problems or long enough after the edit. */
  watch(path: string): void {
    this.#timers.get(path)?.();
    const cancels = delays.map((delay) => this.#options.clock.after(delay, () => void this.#check(path)));
    this.#timers.set(path, () => cancels.forEach((cancel) => cancel()));
  }

  close(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  async #check(path: string): Promise<void> {
    const before = await this.#before;
    if (before === undefined) return;
    for (const file of (await this.#options.ide.diagnostics(path)) ?? []) {
      const problems = newProblems(before.get(file.path) ?? [], file.diagnostics);
      // A server that starts over reports nothing for a moment, which must not make old problems new.
      if (problems.length === 0) continue;
      before.set(file.path, file.diagnostics);
      this.#timers.get(path)?.();
      this.#options.report(path, problems);
    }
  }
}

const byPath = (files: readonly FileDiagnostics[]): Map<string, readonly Diagnostic[]> =>
  new Map(files.map(({ path, diagnostics }) => [path, diagnostics]));

/**
 * The problems that are new. An edit moves lines, so the line does not count.
 *
 * @internal Exported for its tests.
 */
export const newProblems = (before: readonly Diagnostic[], now: readonly Diagnostic[]): readonly Diagnostic[] => {
  const left = new Map<string, number>();
  for (const problem of before) left.set(keyOf(problem), (left.get(keyOf(problem)) ?? 0) + 1);
  return now.filter((problem) => {
    const count = left.get(keyOf(problem)) ?? 0;
    left.set(keyOf(problem), count - 1);
    return count <= 0;
  });
};

const keyOf = ({ severity, message, source, code }: Diagnostic): string =>
  JSON.stringify([severity, message, source, code]);

/** The most problems told at once. */
const maxProblems = 20;

/** Describes new problems for the model. */
export const describeProblems = (path: string, problems: readonly Diagnostic[]): string => {
  const left = problems.length - maxProblems;
  return [
    `The user's editor reports new problems after the edit of ${path}:`,
    ...problems.slice(0, maxProblems).map(({ severity, message, line, source, code }) => {
      const origin = [source, code].filter((each) => each !== undefined).join(" ");
      return `- line ${line}, ${severity}: ${message}${origin === "" ? "" : ` (${origin})`}`;
    }),
    ...(left > 0 ? [`(and ${left} more)`] : []),
  ].join("\n");
};
