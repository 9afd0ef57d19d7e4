/** Formats a time of day as HH:MM:SS, in the reader's time zone. */
export const formatClock = (time: number): string => {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
};

/** Formats milliseconds: 240 ms, 3.2 s, 4 min 10 s. */
export const formatDuration = (milliseconds: number): string => {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
};

/** Formats a number of bytes: 512 B, 3.4 kB, 2.0 MB. */
export const formatBytes = (bytes: number): string => {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
};

/** Formats tokens: 812, 12.4k, 1.2M. */
export const formatTokens = (count: number): string => {
  if (count < 1000) return `${count}`;
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
};

/** Formats US dollars, with more digits for small amounts. */
export const formatCost = (dollars: number | undefined): string =>
  dollars === undefined ? "price unknown" : `$${dollars === 0 ? "0" : dollars.toFixed(dollars < 0.1 ? 4 : 2)}`;
