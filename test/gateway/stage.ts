import type { Gateway } from "../../src/gateway/gateway.ts";
import { openGateway } from "../../src/gateway/gateway.ts";
import type { GatewayOptions } from "../../src/gateway/options.ts";
import type { GatewayConfig } from "../../src/gateway/routes/config.ts";
import { serveGateway, type RunningGateway, type ServeGatewayOptions } from "../../src/gateway/serve.ts";
import { hashToken } from "../../src/http/request-guard.ts";
import { lint } from "../../src/rules/lint.ts";
import type { SimulatorOptions } from "../../src/sim/simulator.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { everyKey } from "../support/exchange.ts";
import { environmentFor, serveSimulators, type ServedSimulators } from "../support/serve-simulators.ts";

/** The token that the gateway of a stage accepts. */
export const token = "a-token-of-this-stage";

/** A gateway on loopback in front of all simulators. */
export type GatewayStage = {
  readonly sims: ServedSimulators;
  readonly gateway: Gateway;
  readonly running: RunningGateway;
  readonly post: (path: string, body: unknown, headers?: Readonly<Record<string, string>>) => Promise<Response>;
  readonly close: () => Promise<void>;
};

export type GatewayStageOptions = {
  readonly config?: GatewayConfig;
  readonly env?: Readonly<Record<string, string>>;
  readonly sim?: Omit<SimulatorOptions, "provider">;
  readonly serve?: ServeGatewayOptions;
  readonly gateway?: Partial<GatewayOptions>;
};

export const openGatewayStage = async (options: GatewayStageOptions = {}): Promise<GatewayStage> => {
  const sims = await serveSimulators(options.sim);
  const world = realWorld({ ...everyKey, ...environmentFor(sims.bases), ...options.env });
  const config: GatewayConfig = { clients: { tester: { tokenHash: hashToken(token) } }, ...options.config };
  const gateway = openGateway({ world, config: () => config, lint, ...options.gateway });
  const running = await serveGateway(gateway, options.serve);
  return {
    sims,
    gateway,
    running,
    post: (path, body, headers = {}) =>
      fetch(running.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}`, ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    close: async () => {
      await running.close();
      await sims.close();
    },
  };
};
