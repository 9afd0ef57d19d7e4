import { isatty } from "node:tty";
import { sanitizeLine } from "./text-table.ts";

/** Milliseconds of work after which it is shown, and between two drawings. */
const [showAfter, drawEvery] = [2000, 120];

const spinnerFrames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";

const barWidth = 24;

/** Reports how much of the work is done, and on what it waits. */
export type ReportProgress = (done: number, total: number, detail?: string) => void;

type Progress = { readonly done: number; readonly total: number; readonly detail?: string | undefined };

/** Where progress is drawn, and the timer that draws it. */
export type ProgressOutput = {
  readonly isTerminal: boolean;
  readonly write: (text: string) => void;
  /** Runs `work` after `delay` milliseconds and then every `interval` until the returned function is called. */
  readonly every: (delay: number, interval: number, work: () => void) => () => void;
};

/**
 * Runs work and shows on stderr that it goes on, once it takes longer than two seconds: a bar if it reports how much is
 * done, else a spinner. Without a terminal, nothing is written.
 */
export const withProgress = async <Result>(
  text: string,
  work: (report: ReportProgress) => Promise<Result>,
  output: ProgressOutput = standardError,
): Promise<Result> => {
  if (!output.isTerminal) return work(() => undefined);
  let progress: Progress | undefined;
  let frame = 0;
  const stop = output.every(showAfter, drawEvery, () => {
    output.write(`\r\u001b[2K${viewProgress(text, progress, frame)}`);
    frame += 1;
  });
  try {
    return await work((done, total, detail) => (progress = { done, total, detail }));
  } finally {
    stop();
    if (frame > 0) output.write("\r\u001b[2K");
  }
};

const viewProgress = (text: string, progress: Progress | undefined, frame: number): string => {
  if (progress === undefined || progress.total === 0)
    return `${spinnerFrames[frame % spinnerFrames.length] ?? ""} ${text}`;
  const { done, total, detail } = progress;
  const filled = Math.min(barWidth, Math.round((barWidth * done) / total));
  return `${text} [${"#".repeat(filled)}${"-".repeat(barWidth - filled)}] ${done} of ${total}${detail === undefined ? "" : `: ${sanitizeLine(detail)}`}`;
};

const standardError: ProgressOutput = {
  isTerminal: isatty(2),
  write: (text) => void process.stderr.write(text),
  every: (delay, interval, work) => {
    let repeating: NodeJS.Timeout | undefined;
    const first = setTimeout(() => {
      work();
      repeating = setInterval(work, interval);
    }, delay);
    return () => {
      clearTimeout(first);
      clearInterval(repeating);
    };
  },
};
