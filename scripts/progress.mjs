/*
 * Progress of the set-up, which runs before anything is built; the program's own is src/cli/progress.ts. Silent without a
 * terminal.
 */
import { isatty } from "node:tty";

/** Milliseconds of work after which it is shown, and between two drawings. */
const [showAfter, drawEvery] = [2000, 200];
const barWidth = 24;
const spinnerFrames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";

/** Runs work and shows on stderr that it goes on: a bar if `count` returns how much is done, else a spinner. */
export const withProgress = async (text, count, work) => {
  if (!isatty(2)) return work();
  const start = Date.now();
  let frame = 0;
  const timer = setInterval(() => {
    if (Date.now() - start < showAfter) return;
    process.stderr.write(`\r\u001b[2K${viewProgress(text, count?.(), frame)}`);
    frame += 1;
  }, drawEvery);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (frame > 0) process.stderr.write("\r\u001b[2K");
  }
};

const viewProgress = (text, progress, frame) => {
  if (progress === undefined || progress.total === 0) return `${spinnerFrames[frame % spinnerFrames.length]} ${text}`;
  const { done, total } = progress;
  const filled = Math.round((barWidth * done) / total);
  return `${text} [${"#".repeat(filled)}${"-".repeat(barWidth - filled)}] ${done} of ${total}`;
};
