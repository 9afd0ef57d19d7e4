import { isatty } from "node:tty";
import { sanitizeLine } from "./text-table.ts";

/** Milliseconds of work after which it is shown, and between two drawings. */
const [showAfter, drawEvery] = [2000, 120];

const spinnerFrames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";

const [barWidth, minBarWidth, minDetailWidth] = [24, 6, 10];

/** Reports how much of the work is done, and on what it waits. */
export type ReportProgress = (done: number, total: number, detail?: string) => void;

type Progress = { readonly done: number; readonly total: number; readonly detail?: string | undefined };

/** Where progress is drawn, and the timer that draws it. */
export type ProgressOutput = {
  readonly isTerminal: boolean;
  /** The width of the terminal. */
  readonly columns: () => number;
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
    output.write(`\r\u001b[2K${viewProgress(text, progress, frame, output.columns() - 1)}`);
    frame += 1;
  });
  try {
    return await work((done, total, detail) => (progress = { done, total, detail }));
  } finally {
    stop();
    if (frame > 0) output.write("\r\u001b[2K");
  }
};

/** Shows progress in one line: a line that wraps could not be erased. */
const viewProgress = (text: string, progress: Progress | undefined, frame: number, width: number): string => {
  if (progress === undefined || progress.total === 0)
    return fitLine(`${spinnerFrames[frame % spinnerFrames.length] ?? ""} ${text}`, width);
  const { done, total, detail } = progress;
  const count = `${done} of ${total}`;
  const room = Math.min(barWidth, width - text.length - count.length - 4);
  const filled = Math.min(room, Math.round((room * done) / total));
  const bar = room < minBarWidth ? "" : ` [${"#".repeat(filled)}${"-".repeat(room - filled)}]`;
  const line = `${text}${bar} ${count}`;
  const hasDetail = detail !== undefined && width - line.length >= minDetailWidth;
  return fitLine(hasDetail ? `${line}: ${sanitizeLine(detail)}` : line, width);
};

/** Cuts a text to a number of columns. Characters from CJK on count as two, so that a line is never too wide. */
const fitLine = (text: string, width: number): string => {
  const columns = (part: string): number => Array.from(part).reduce((sum, each) => sum + (each >= "\u2e80" ? 2 : 1), 0);
  if (columns(text) <= width) return text;
  let kept = text;
  while (kept !== "" && columns(kept) >= width) kept = Array.from(kept).slice(0, -1).join("");
  return `${kept}…`;
};

const standardError: ProgressOutput = {
  isTerminal: isatty(2),
  columns: () => process.stderr.columns || 80,
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
