import { createHash } from "node:crypto";
import { join } from "node:path";
import { loadAgentEnvironment, type AgentEnvironment } from "../agent/environment.ts";
import { openAgent } from "../agent/open-agent.ts";
import type { OpenAgentOptions } from "../agent/options.ts";
import { computeCost, findModelFacts } from "../providers/models.ts";
import type { NewRecord } from "../session/log/record.ts";
import type { Settings } from "../settings/schema/values.ts";
import type { CommandLineFlags } from "../settings/load/flags-and-environment.ts";
import type { RequestAdmission } from "../transport/transport.ts";
import type { World } from "../world/world.ts";
import type { OpenSessionAgent } from "./session-driver.ts";
import type { Workplace } from "./workplace.ts";
import type { SessionStore } from "../session/store/store.ts";
import type { AgentSession } from "../agent/open-agent.ts";
import type { AgentEvent } from "../agent/events.ts";

/** Options of an agent opener. */
export type AgentOpenerOptions = {
  readonly world: World;
  /** Parley's own folder on this machine: settings, keys, memory. Each tenant has a folder of its own below it. */
  readonly home: string;
  readonly flags?: CommandLineFlags;
  readonly sandbox?: OpenAgentOptions["sandbox"];
  /** Limits requests of a tenant to models, e.g. those of all workers together. */
  readonly admissionOf?: (tenant: string) => RequestAdmission;
  /** More options of every agent, e.g. tools. */
  readonly agent?: Partial<OpenAgentOptions>;
  /** Opens an agent, e.g. with telemetry. Default: `openAgent`. */
  readonly openAgent?: (options: OpenAgentOptions, traceOf?: () => string | undefined) => Promise<AgentSession>;
};

/** A session to open or create. */
export type OpenRequest = {
  readonly tenant: string;
  readonly folder: string;
  readonly sessions: SessionStore;
  readonly id?: string;
  readonly model?: string;
  /** Where its tools run. Default: in `folder`. */
  readonly workplace?: Workplace;
  readonly notices?: readonly string[];
  readonly onEvent?: (event: AgentEvent) => void;
  /** The span of the request that posted the command being carried out, as a `traceparent`. */
  readonly traceOf?: () => string | undefined;
};

/** Creates the function that opens agents for sessions of any tenant. Settings of a folder are loaded once. */
export const createAgentOpener = ({
  world,
  home,
  flags,
  sandbox,
  admissionOf,
  agent,
  openAgent: open = openAgent,
}: AgentOpenerOptions): ((request: OpenRequest) => Promise<AgentSession>) & OpenSessionAgent => {
  const environments = new Map<string, Promise<AgentEnvironment>>();
  const environmentOf = (folder: string): Promise<AgentEnvironment> => {
    const known = environments.get(folder);
    if (known !== undefined) return known;
    const loading = loadAgentEnvironment({ folder, home, world, ...(flags === undefined ? {} : { flags }) });
    environments.set(folder, loading);
    loading.catch(() => environments.delete(folder));
    return loading;
  };
  return async ({ tenant, folder, sessions, id, model, workplace, notices, onEvent, traceOf }: OpenRequest) => {
    // Settings and trust are those of the project, wherever its tools run.
    const environment = await environmentOf(folder);
    const options = {
      ...environment,
      ...agent,
      home: tenantHome(home, tenant),
      folder: workplace?.folder ?? folder,
      world: { ...environment.world, ...workplace?.world },
      hiddenFolders: [home, ...(workplace?.hidden ?? [])],
      ...(workplace?.scratch === undefined ? {} : { scratch: workplace.scratch }),
      ...(notices === undefined ? {} : { notices }),
      sessions,
      interactive: true,
      ...(sandbox === undefined ? {} : { sandbox }),
      ...(admissionOf === undefined ? {} : { admission: admissionOf(tenant) }),
      ...(id === undefined ? {} : { resume: { id } }),
      ...(model === undefined ? {} : { model }),
      ...(onEvent === undefined ? {} : { onEvent }),
    };
    return open(options, traceOf);
  };
};

/** The folder of a tenant's own files, such as memory and permissions. */
const tenantHome = (home: string, tenant: string): string =>
  join(home, "fleet", createHash("sha256").update(tenant).digest("hex").slice(0, 40));

/** The cost of a record: that of a request with usage, by the price in the settings, else by the published one. */
export const costOfRecord = (record: NewRecord, models: Settings["models"] = {}): number => {
  if (record.kind !== "request" || record.usage === undefined) return 0;
  const { usage } = record;
  const count = (name: string): number => (typeof usage[name] === "number" ? usage[name] : 0);
  const own = models[`${record.provider}/${record.model}`]?.price;
  return (
    computeCost(own === undefined ? findModelFacts(record.provider, record.model) : { price: own }, {
      input: count("input"),
      cachedRead: count("cachedRead"),
      cachedWrite: count("cachedWrite"),
      output: count("output"),
      reasoning: count("reasoning"),
    }) ?? 0
  );
};
