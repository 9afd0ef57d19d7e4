import type { Provider } from "../../src/providers/define.ts";
import { findProvider } from "../../src/providers/find.ts";
import { describeSimulated, listSimulatable } from "../../src/cli/requests/simulated-providers.ts";
import { serve } from "../../src/sim/serve.ts";
import { createSimulator, type Simulator, type SimulatorOptions } from "../../src/sim/simulator.ts";
import { createRequestSigner } from "../../src/transport/credentials/request-signer.ts";
import { openTransport, type Transport, type TransportOptions } from "../../src/transport/transport.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { everyKey } from "./exchange.ts";

/** Every provider's simulator on one loopback port, and a transport that sends there over real connections. */
export type ServedSimulators = {
  readonly url: string;
  /** By provider. */
  readonly simulators: { readonly [id: string]: Simulator };
  /** Base URLs, by provider. */
  readonly bases: { readonly [id: string]: string };
  readonly transport: Transport;
  readonly close: () => Promise<void>;
};

/** Starts all simulators, each below its own path. They accept only our keys and signatures. */
export const serveSimulators = async (options: Omit<SimulatorOptions, "provider"> = {}): Promise<ServedSimulators> => {
  const simulators = Object.fromEntries(
    listSimulatable().map((id) => [
      id,
      createSimulator({ provider: describeSimulated(id), ...allowedKeys, ...options }),
    ]),
  );
  const { url, close } = await serve(
    Object.fromEntries(Object.entries(simulators).map(([id, simulator]) => [`/${id}`, simulator])),
  );
  const bases = Object.fromEntries(
    Object.keys(simulators).map((id) => [id, `${url}/${id}${pathOf(findProvider(id))}`]),
  );
  return { url, simulators, bases, transport: realTransport(bases), close };
};

const allowedKeys = {
  keys: Object.values(everyKey),
  awsSecret: { id: everyKey["AWS_ACCESS_KEY_ID"] ?? "", secret: everyKey["AWS_SECRET_ACCESS_KEY"] ?? "" },
};

/** Creates a transport in the real world with these base URLs. */
export const realTransport = (
  bases: { readonly [id: string]: string },
  options: Pick<TransportOptions, "retryPolicy" | "explain"> = {},
): Transport => {
  const world = realWorld({ ...everyKey, ...environmentFor(bases) });
  return openTransport({ world, signer: createRequestSigner(world), ...options });
};

/** Returns the environment variables for these base URLs. */
export const environmentFor = (bases: { readonly [id: string]: string }): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(bases).map(([id, base]) => [baseVariable(id), base]));

/** The base path of a provider at its own URL. */
const pathOf = ({ endpoint }: Provider): string =>
  new URL(endpoint.url.replaceAll(/\{[a-z-]+\}/g, "somewhere")).pathname.replace(/\/$/, "");

const baseVariable = (id: string): string => `PARLEY_${id.toUpperCase().replaceAll("-", "_")}_BASE_URL`;
