import type { McpServerConfig } from "./config/read-servers.ts";

export type FailedStart = {
  /** Whether it had been ready before. */
  readonly wasReady: boolean;
  readonly reach: McpServerConfig["endpoint"];
  readonly kind: unknown;
  readonly random: () => number;
};

/** How often in a row a server is tried again. */
const maxFailures = 5;

/**
 * How long to wait before a server is tried again, or undefined to give it up. A program that never came up will not by
 * being started again; an address may be there in a moment.
 */
export const restartDelay = (
  failures: number,
  { wasReady: wasThere, reach, kind, random }: FailedStart,
): number | undefined => {
  const isHopeless = kind === "refused" || kind === "timeout" || reach.type === "stdio";
  if (failures > maxFailures || (!wasThere && isHopeless)) return undefined;
  return Math.round(250 * 2 ** failures * (0.75 + random() / 2));
};
