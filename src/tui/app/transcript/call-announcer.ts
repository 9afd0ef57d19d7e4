import type { CallId } from "../../../conversation/parts.ts";
import type { Clock } from "../../../world/world.ts";
import { formatDuration } from "../../views/spinner.ts";

/** Seconds after the start at which a running call is reported; then every minute. */
const reportTimes = [2, 5, 10, 20, 30, 60];

/** Seconds without output after which a report says that the call still runs. */
const silence = 20;

/** Lines of output in one report. */
const maxLines = 3;

/** Characters of a line in a report. */
const maxCharacters = 200;

type AnnouncedCall = {
  readonly name: string;
  readonly startedAt: number;
  output: string;
  /** The output up to the last line that was reported or skipped. */
  reported: string;
  spokenAt: number;
  reports: number;
  stop: () => void;
};

/** Reports running calls as lines, for screen readers: their start, new output at growing intervals, and long silence. */
export class CallAnnouncer {
  readonly #clock: Pick<Clock, "elapsed" | "after">;
  readonly #print: (text: string) => void;
  readonly #calls = new Map<CallId, AnnouncedCall>();

  constructor(clock: Pick<Clock, "elapsed" | "after">, print: (text: string) => void) {
    this.#clock = clock;
    this.#print = print;
  }

  start(id: CallId, tool: string, title: string): void {
    if (this.#calls.has(id)) return;
    const now = this.#clock.elapsed();
    const name = title === "" ? tool : title;
    const call = { name, startedAt: now, output: "", reported: "", spokenAt: now, reports: 0, stop: () => undefined };
    this.#calls.set(id, call);
    this.#print(`Running ${tool}${title === "" ? "" : `: ${title}`}`);
    this.#schedule(call);
  }

  /** Sets the output so far, or the end of it. */
  setOutput(id: CallId, output: string): void {
    const call = this.#calls.get(id);
    if (call !== undefined) call.output = output;
  }

  end(id: CallId): void {
    this.#calls.get(id)?.stop();
    this.#calls.delete(id);
  }

  #schedule(call: AnnouncedCall): void {
    const now = this.#clock.elapsed();
    const next = reportTimes[call.reports] ?? 60 * (call.reports - reportTimes.length + 2);
    call.reports += 1;
    call.stop = this.#clock.after(Math.max(0, call.startedAt + next * 1000 - now), () => {
      this.#report(call);
      this.#schedule(call);
    });
  }

  #report(call: AnnouncedCall): void {
    const now = this.#clock.elapsed();
    const lines = takeNewLines(call);
    const duration = formatDuration(now - call.startedAt);
    if (lines.length > 0)
      this.#print([`${call.name}, after ${duration}:`, ...lines.map((each) => `  ${each}`)].join("\n"));
    else if (now - call.spokenAt >= silence * 1000) this.#print(`${call.name}: still running after ${duration}.`);
    else return;
    call.spokenAt = now;
  }
}

/** Returns the last of the lines completed since the last report, and how many were skipped. */
const takeNewLines = (call: AnnouncedCall): readonly string[] => {
  const { output } = call;
  const end = output.lastIndexOf("\n") + 1;
  const lines = output
    .slice(reportedEnd(call), end)
    .split("\n")
    .filter((each) => each.trim() !== "");
  call.reported = output.slice(0, end);
  const skipped = lines.length - maxLines;
  return [
    ...(skipped > 0 ? [`${skipped} ${skipped === 1 ? "line" : "lines"}, then`] : []),
    ...lines.slice(-maxLines).map((each) => each.slice(0, maxCharacters)),
  ];
};

/** Where the reported output ends. Of long output only the end is known, so the last reported line is looked up in it. */
const reportedEnd = ({ output, reported }: AnnouncedCall): number => {
  if (output.startsWith(reported)) return reported.length;
  const last = reported.slice(reported.lastIndexOf("\n", reported.length - 2) + 1);
  const at = output.lastIndexOf(last);
  return at === -1 ? 0 : at + last.length;
};
