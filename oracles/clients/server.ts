import type { LogEntry } from "../../src/sim/request-log.ts";
import { serve } from "../../src/sim/serve.ts";
import { createSimulator, type SimulatorOptions } from "../../src/sim/simulator.ts";

/** A simulated provider at a real address of this machine. */
export type SceneServer = {
  /** The origin, without the provider's own paths. */
  readonly origin: string;
  /** With what stands before the family's own paths, such as `/v1`. */
  readonly base: string;
  readonly log: readonly LogEntry[];
};

/** Serves a provider while `use` runs. */
export const withServer = async <Result>(
  options: SimulatorOptions,
  use: (server: SceneServer) => Promise<Result>,
): Promise<Result> => {
  const simulator = createSimulator(options);
  const { url, close } = await serve(simulator);
  try {
    return await use({ origin: url, base: url + simulator.provider.base, log: simulator.log });
  } finally {
    await close();
  }
};
