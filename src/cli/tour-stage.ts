import { dirname, delimiter } from "node:path";
import type { Provider } from "../providers/define.ts";
import { findProvider } from "../providers/find.ts";
import { simulated } from "../sim/all.ts";
import type { LogEntry } from "../sim/log.ts";
import type { Heard } from "../sim/model.ts";
import { serve } from "../sim/serve.ts";
import { createSimulator } from "../sim/simulator.ts";
import { replyOf, saidBy } from "../sim/script.ts";
import { realWorld } from "../world/real.ts";
import type { Environment, World } from "../world/world.ts";
import { script } from "./tour-script.ts";

/** Every provider's API on one port of this machine, and a world that knows no other. */
export type Stage = {
  readonly providers: readonly Provider[];
  readonly world: World;
  /** What a provider's simulator was sent so far. */
  readonly log: (provider: string) => readonly LogEntry[];
  /** The same requests as the model behind it heard them: those that were refused never reached it. */
  readonly heard: (provider: string) => readonly Heard[];
  readonly close: () => Promise<void>;
};

/** Starts all simulators. Nothing in their world is the person's: no key, no address, no home. */
export const openStage = async (home: string): Promise<Stage> => {
  const ids = simulated();
  const heard = new Map<string, Heard[]>(ids.map((id) => [id, []]));
  const simulators = Object.fromEntries(ids.map((id) => [id, simulatorOf(id, heard.get(id) ?? [])]));
  const { url, close } = await serve(
    Object.fromEntries(Object.entries(simulators).map(([id, simulator]) => [`/${id}`, simulator])),
  );
  const providers = ids.map((id) => findProvider(id));
  const env = Object.assign({}, surroundings(), ...providers.map((provider) => variablesFor(provider, url)));
  const world = realWorld(env);
  return {
    providers,
    world: { ...world, host: { ...world.host, home } },
    log: (id) => simulators[id]?.log ?? [],
    heard: (id) => heard.get(id) ?? [],
    close,
  };
};

const simulatorOf = (provider: string, hearing: Heard[]) =>
  createSimulator({
    provider,
    keys: [key],
    awsSecret: { id: key, secret: key },
    script: (heard) => {
      hearing.push(heard);
      return saidBy(replyOf(script, heard) ?? {});
    },
  });

/** What programs need to run at all. */
const surroundings = (): Environment => {
  const { env } = realWorld();
  const needed = ["LANG", "TMPDIR", "TEMP", "TMP", "SystemRoot", "ComSpec", "PATHEXT"];
  const path = [dirname(process.execPath), env["PATH"] ?? "/usr/bin:/bin"].join(delimiter);
  return { ...Object.fromEntries(needed.map((name) => [name, env[name]])), PATH: path };
};

/** A key that opens these doors and no others. */
const key = "tour-key";

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
      return Object.fromEntries(auth.env.slice(0, 1).map((name) => [name, key]));
    case "aws":
      return { AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: key, AWS_REGION: "us-east-1" };
    case "google":
    case "code-assist":
      return { GOOGLE_OAUTH_ACCESS_TOKEN: key, GOOGLE_CLOUD_PROJECT: "tour" };
    case "none":
      return {};
  }
};
