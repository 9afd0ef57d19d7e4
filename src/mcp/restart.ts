import type { ServerConfig } from "./config.ts";

export type Failed = {
  /** Whether it had been ready before. */
  readonly wasThere: boolean;
  readonly reach: ServerConfig["reach"];
  readonly kind: unknown;
  readonly random: () => number;
};

/** How often in a row a server is tried again. */
const mostFailures = 5;

/**
 * How long to wait before a server is tried again, or undefined to give it up. A program that never came up will not by
 * being started again; an address may be there in a moment.
 */
export const pauseBefore = (failures: number, { wasThere, reach, kind, random }: Failed): number | undefined => {
  const isHopeless = kind === "refused" || kind === "timeout" || reach.type === "stdio";
  if (failures > mostFailures || (!wasThere && isHopeless)) return undefined;
  return Math.round(250 * 2 ** failures * (0.75 + random() / 2));
};
