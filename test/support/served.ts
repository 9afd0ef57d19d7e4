import type { Provider } from "../../src/providers/define.ts";
import { findProvider } from "../../src/providers/find.ts";
import { simulated } from "../../src/sim/all.ts";
import { serve } from "../../src/sim/serve.ts";
import { createSimulator, type Simulator, type SimulatorOptions } from "../../src/sim/simulator.ts";
import { openGate } from "../../src/transport/credentials-gate.ts";
import { openTransport, type Transport, type TransportOptions } from "../../src/transport/transport.ts";
import { realWorld } from "../../src/world/real.ts";
import { everyKey } from "./exchange.ts";

/** Every provider's simulator on one port of this machine, and a transport that really sends there. */
export type Served = {
  readonly url: string;
  /** By provider. */
  readonly simulators: { readonly [id: string]: Simulator };
  /** Addresses, by provider. */
  readonly bases: { readonly [id: string]: string };
  readonly transport: Transport;
  readonly close: () => Promise<void>;
};

/** Starts all simulators, each below its own path. They take our keys and signatures, and no others. */
export const serveAll = async (options: Omit<SimulatorOptions, "provider"> = {}): Promise<Served> => {
  const simulators = Object.fromEntries(
    simulated().map((id) => [id, createSimulator({ provider: id, ...doormen, ...options })]),
  );
  const { url, close } = await serve(
    Object.fromEntries(Object.entries(simulators).map(([id, simulator]) => [`/${id}`, simulator])),
  );
  const bases = Object.fromEntries(
    Object.keys(simulators).map((id) => [id, `${url}/${id}${pathOf(findProvider(id))}`]),
  );
  return { url, simulators, bases, transport: realTransport(bases), close };
};

const doormen = {
  keys: Object.values(everyKey),
  awsSecret: { id: everyKey["AWS_ACCESS_KEY_ID"] ?? "", secret: everyKey["AWS_SECRET_ACCESS_KEY"] ?? "" },
};

/** A transport in the real world that finds these providers at these addresses. */
export const realTransport = (
  bases: { readonly [id: string]: string },
  options: Pick<TransportOptions, "patience" | "explain"> = {},
): Transport => {
  const world = realWorld({ ...everyKey, ...environmentFor(bases) });
  return openTransport({ world, gate: openGate(world), ...options });
};

/** The variables that move providers to these addresses. */
export const environmentFor = (bases: { readonly [id: string]: string }): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(bases).map(([id, base]) => [baseVariable(id), base]));

/** What stands before a provider's paths at its own address. */
const pathOf = ({ endpoint }: Provider): string =>
  new URL(endpoint.url.replaceAll(/\{[a-z-]+\}/g, "somewhere")).pathname.replace(/\/$/, "");

const baseVariable = (id: string): string => `PARLEY_${id.toUpperCase().replaceAll("-", "_")}_BASE_URL`;
