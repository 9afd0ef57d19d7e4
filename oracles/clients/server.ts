import type { LogEntry } from "../../src/sim/request-log.ts";
import { serve } from "../../src/sim/serve.ts";
import { createSimulator, type SimulatorOptions } from "../../src/sim/simulator.ts";

/** A simulated provider on a local port. */
export type SceneServer = {
  /** The origin, without the provider's own paths. */
  readonly origin: string;
  /** The origin with the provider's base path, such as `/v1`. */
  readonly base: string;
  readonly log: readonly LogEntry[];
};

/** Runs `use` with a served provider, and closes it afterwards. */
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
