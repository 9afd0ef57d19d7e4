import { truncate, span } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";

/** What is under way. */
export type SpinnerState = {
  readonly label: string;
  /** Milliseconds since it began. */
  readonly elapsed: number;
  /** What can be done about it: "Esc to cancel". */
  readonly hint?: string;
  /** From 0 to 1, where it is known. */
  readonly share?: number;
};

const spinnerFrames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;

/** How long each mark stands. */
const frameDuration = 120;

/** One line that moves while something is under way. */
export const viewSpinner = ({ label, elapsed, hint, share }: SpinnerState, width: number): StyledLine => {
  const mark = spinnerFrames[Math.floor(elapsed / frameDuration) % spinnerFrames.length] ?? "";
  const done = share === undefined ? "" : ` ${Math.round(Math.max(0, Math.min(1, share)) * 100)}%`;
  const after = [formatDuration(elapsed), hint].filter((each) => each !== undefined).join(" · ");
  return truncate(
    [span(`${mark} `, { tone: "accent" }), span(`${label}${done}`), span(` (${after})`, { tone: "muted" })],
    width,
  );
};

/** A time as people say it: 7s, 2m 5s, 1h 3m. */
export const formatDuration = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
  return `${Math.floor(seconds / 3600)}h ${Math.floor(seconds / 60) % 60}m`;
};
