import { dirname, delimiter } from "node:path";
import type { Provider } from "../../providers/define.ts";
import { findProvider } from "../../providers/find.ts";
import { listSimulatedProviders } from "../../sim/registry.ts";
import type { LogEntry } from "../../sim/request-log.ts";
import type { SimModelRequest } from "../../sim/model/types.ts";
import { serve } from "../../sim/serve.ts";
import { createSimulator } from "../../sim/simulator.ts";
import { selectReply, toModelReply } from "../../sim/model/script.ts";
import { realWorld } from "../../world/real/world.ts";
import type { Environment, World } from "../../world/world.ts";
import { tourScript } from "./script.ts";

/** Simulators of all providers on one local port, and a world in which only they are configured. */
export type TourSimulators = {
  readonly providers: readonly Provider[];
  readonly world: World;
  /** The requests a provider's simulator received so far. */
  readonly log: (provider: string) => readonly LogEntry[];
  /** The accepted requests as its model got them; rejected requests never reach it. */
  readonly parsedRequests: (provider: string) => readonly SimModelRequest[];
  readonly close: () => Promise<void>;
};

/** Starts all simulators. Their world has none of the user's keys, endpoints or files. */
export const startTourSimulators = async (home: string): Promise<TourSimulators> => {
  const ids = listSimulatedProviders();
  const requests = new Map<string, SimModelRequest[]>(ids.map((id) => [id, []]));
  const simulators = Object.fromEntries(ids.map((id) => [id, createTourSimulator(id, requests.get(id) ?? [])]));
  const { url, close } = await serve(
    Object.fromEntries(Object.entries(simulators).map(([id, simulator]) => [`/${id}`, simulator])),
  );
  const providers = ids.map((id) => findProvider(id));
  const env = Object.assign({}, minimalEnvironment(), ...providers.map((provider) => variablesFor(provider, url)));
  const world = realWorld(env);
  return {
    providers,
    world: { ...world, host: { ...world.host, home } },
    log: (id) => simulators[id]?.log ?? [],
    parsedRequests: (id) => requests.get(id) ?? [],
    close,
  };
};

const createTourSimulator = (provider: string, requests: SimModelRequest[]) =>
  createSimulator({
    provider,
    keys: [tourKey],
    awsSecret: { id: tourKey, secret: tourKey },
    script: (request) => {
      requests.push(request);
      return toModelReply(selectReply(tourScript, request) ?? {});
    },
  });

/** The environment variables that programs need to run at all. */
const minimalEnvironment = (): Environment => {
  const { env } = realWorld();
  const needed = ["LANG", "TMPDIR", "TEMP", "TMP", "SystemRoot", "ComSpec", "PATHEXT"];
  const path = [dirname(process.execPath), env["PATH"] ?? "/usr/bin:/bin"].join(delimiter);
  return { ...Object.fromEntries(needed.map((name) => [name, env[name]])), PATH: path };
};

/** An API key that only these simulators accept. */
const tourKey = "tour-key";

const variablesFor = ({ id, endpoint, auth }: Provider, url: string): Environment => {
  const path = endpoint.url.replace(/^https?:\/\/[^/]+/, "");
  return { [`PARLEY_${id.toUpperCase().replaceAll("-", "_")}_BASE_URL`]: `${url}/${id}${path}`, ...keysFor(auth) };
};

const keysFor = (auth: Provider["auth"]): Environment => {
  switch (auth.type) {
    case "bearer":
    case "x-api-key":
    case "x-goog-api-key":
    case "api-key":
      return Object.fromEntries(auth.env.slice(0, 1).map((name) => [name, tourKey]));
    case "aws":
      return { AWS_ACCESS_KEY_ID: tourKey, AWS_SECRET_ACCESS_KEY: tourKey, AWS_REGION: "us-east-1" };
    case "google":
    case "code-assist":
      return { GOOGLE_OAUTH_ACCESS_TOKEN: tourKey, GOOGLE_CLOUD_PROJECT: "tour" };
    case "none":
      return {};
  }
};
