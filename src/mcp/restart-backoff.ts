import type { McpServerConfig } from "./config/read-servers.ts";

export type FailedStart = {
  /** Whether it had been ready before. */
  readonly wasReady: boolean;
  readonly reach: McpServerConfig["endpoint"];
  readonly kind: unknown;
  readonly random: () => number;
};

/** Restarts in a row before giving up. */
const maxFailures = 5;

/**
 * The backoff before the next start, or undefined to give up. A program that never became ready will not do so on a
 * restart; a URL may be reachable in a moment.
 */
export const restartDelay = (failures: number, { wasReady, reach, kind, random }: FailedStart): number | undefined => {
  const isHopeless = kind === "refused" || kind === "timeout" || reach.type === "stdio";
  if (failures > maxFailures || (!wasReady && isHopeless)) return undefined;
  return Math.round(250 * 2 ** failures * (0.75 + random() / 2));
};
