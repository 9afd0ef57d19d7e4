import type { Agent } from "../../src/agent/agent.ts";
import { createAgent } from "../../src/agent/create-agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { AgentEvent } from "../../src/agent/events.ts";
import { Journal } from "../../src/agent/session/journal.ts";
import { parseModel } from "../../src/agent/models/parse.ts";
import type { ModelPool } from "../../src/agent/models/router.ts";
import type { ApprovalMode } from "../../src/policy/gate/approval-mode.ts";
import { findProvider } from "../../src/providers/find.ts";
import type { Session } from "../../src/session/session.ts";
import { openSessionStore } from "../../src/session/store/store.ts";
import type { ModelFunction } from "../../src/sim/family.ts";
import type { FaultPlan } from "../../src/sim/faults/fault.ts";
import type { Script } from "../../src/sim/model/script.ts";
import { createSimulator, type Simulator } from "../../src/sim/simulator.ts";
import type { RetryPolicy } from "../../src/transport/retry/policy.ts";
import { createRequestSigner } from "../../src/transport/credentials/request-signer.ts";
import { openTransport } from "../../src/transport/transport.ts";
import type { AnyTool } from "../../src/tools/tool.ts";
import { simulatedDisk, type DiskChange, type DiskFault, type SimulatedDisk } from "../../src/world/simulated/disk.ts";
import { simulatedWorld, type SimulatedWorld } from "../../src/world/simulated/world.ts";
import { createDoTool, failTool, longTool, pictureTool, createTestScheduler } from "./agent-tools.ts";
import { everyKey } from "./exchange.ts";
import { environmentFor } from "./serve-simulators.ts";

/** Simulators of some providers, a disk and an agent, all in simulated time. */
export type AgentStage = {
  readonly world: SimulatedWorld;
  readonly agent: Agent;
  readonly journal: Journal;
  readonly session: Session;
  readonly simulators: { readonly [id: string]: Simulator };
  /** The inputs of the tool `do`, in order. */
  readonly done: readonly string[];
};

/** Options of a stage. */
export type AgentStageOptions = {
  /** The providers of the pool, in order. */
  readonly providers?: readonly string[];
  readonly strategy?: ModelPool["strategy"];
  readonly script?: Script | ModelFunction;
  /** By provider. */
  readonly faults?: { readonly [id: string]: FaultPlan };
  readonly seed?: number;
  readonly patience?: Partial<RetryPolicy>;
  readonly mode?: ApprovalMode;
  readonly tools?: readonly AnyTool[];
  /** Called before each write to the disk, and may make it fail. */
  readonly before?: (change: DiskChange) => DiskFault | undefined;
  readonly agent?: Partial<AgentOptions>;
};

/** Opens a stage with a new session on an empty disk. */
export const openAgentStage = async (options: AgentStageOptions = {}): Promise<AgentStage> => {
  const { providers = ["anthropic"], strategy = "failover", before, patience, mode = "yolo" } = options;
  const { world, simulators } = simulatedProviders({
    ...options,
    providers,
    ...(before && { disk: simulatedDisk({ before }) }),
  });
  const done: string[] = [];
  const { scheduler, declarations } = createTestScheduler(
    world,
    [pictureTool, failTool, longTool, createDoTool(world.clock, (what) => done.push(what)), ...(options.tools ?? [])],
    mode,
  );
  const head = { system: "Be brief.", tools: declarations };
  world.disk.seed("/home/someone", { kind: "folder" });
  const session = await openSessionStore(world, { home }).create({ root: "/project", ...head });
  const journal = new Journal(session, session);
  const agent = createAgent({
    clock: world.clock,
    transport: openTransport({ world, signer: createRequestSigner(world), ...(patience && { retryPolicy: patience }) }),
    journal,
    prefix: head,
    pool: { models: providers.map(parseModel), strategy, cooldown: 60_000 },
    openScheduler: async () => scheduler,
    ...options.agent,
  });
  return { world, agent, journal, session, simulators, done };
};

/** The folder of sessions on a stage. */
export const home = "/home/someone/.parley";

/** A simulated world in which some providers answer, each under its own path. */
export const simulatedProviders = ({
  providers,
  script,
  faults = {},
  seed = 1,
  disk,
  me,
}: Pick<AgentStageOptions, "script" | "faults" | "seed"> & {
  readonly providers: readonly string[];
  readonly disk?: SimulatedDisk;
  readonly me?: string;
}): { readonly world: SimulatedWorld; readonly simulators: { readonly [id: string]: Simulator } } => {
  const simulators: Record<string, Simulator> = {};
  const world = simulatedWorld({
    env: { ...everyKey, ...environmentFor(Object.fromEntries(providers.map((id) => [id, simulatedUrl(id)]))) },
    start: Date.UTC(2026, 5, 1),
    seed,
    ...(disk && { disk }),
    ...(me && { identity: me }),
    answer: (request, signal) => {
      const [, id = ""] = new URL(request.url).pathname.split("/");
      const simulator = simulators[id];
      if (simulator === undefined) throw new Error(`No provider is simulated at ${request.url}.`);
      return simulator.handle(request, signal, `/${id}`);
    },
  });
  for (const [index, id] of providers.entries())
    simulators[id] = createSimulator({
      provider: id,
      now: world.clock.now,
      sleep: world.clock.sleep,
      seed: seed + index,
      ...(script && { script }),
      ...(faults[id] && { faults: faults[id] }),
    });
  return { world, simulators };
};

const simulatedUrl = (id: string): string =>
  `https://simulated.example/${id}${new URL(findProvider(id).endpoint.url.replaceAll(/\{[a-z-]+\}/g, "somewhere")).pathname.replace(/\/$/, "")}`;

/** Runs a turn to its end, in simulated time. `react` receives every event. */
export const playTurn = (
  { world, agent }: Pick<AgentStage, "world" | "agent">,
  words: string,
  react: (event: AgentEvent) => void = () => undefined,
  signal?: AbortSignal,
): Promise<readonly AgentEvent[]> =>
  world.run(
    (async () => {
      const events: AgentEvent[] = [];
      for await (const event of agent.send(words, signal)) {
        events.push(event);
        react(event);
      }
      return events;
    })(),
  );
