import { truncate, span } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";

/** The state of a spinner. */
export type SpinnerState = {
  readonly label: string;
  /** Elapsed milliseconds. */
  readonly elapsed: number;
  /** A key hint: "Esc to cancel". */
  readonly hint?: string;
  /** Progress from 0 to 1, if known. */
  readonly share?: number | undefined;
};

const spinnerFrames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;

const barWidth = 16;

/** Milliseconds per spinner frame. */
const frameDuration = 120;

/** Shows a spinner with label, elapsed time and hint. */
export const viewSpinner = ({ label, elapsed, hint, share }: SpinnerState, width: number): StyledLine => {
  const mark = spinnerFrames[Math.floor(elapsed / frameDuration) % spinnerFrames.length] ?? "";
  const done = share === undefined ? "" : ` ${viewBar(Math.max(0, Math.min(1, share)))}`;
  const after = [formatDuration(elapsed), hint].filter((each) => each !== undefined).join(" · ");
  return truncate(
    [span(`${mark} `, { tone: "accent" }), span(`${label}${done}`), span(` (${after})`, { tone: "muted" })],
    width,
  );
};

/** A bar of fixed width with the percentage. */
const viewBar = (share: number): string => {
  const filled = Math.round(share * barWidth);
  return `[${"#".repeat(filled)}${"-".repeat(barWidth - filled)}] ${Math.round(share * 100)}%`;
};

/** Formats a duration: 7s, 2m 5s, 1h 3m. */
export const formatDuration = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
  return `${Math.floor(seconds / 3600)}h ${Math.floor(seconds / 60) % 60}m`;
};
