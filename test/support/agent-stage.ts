import { createAgent, type Agent, type AgentOptions } from "../../src/agent/agent.ts";
import type { AgentEvent } from "../../src/agent/events.ts";
import { Journal } from "../../src/agent/journal.ts";
import { parseModel } from "../../src/agent/model-ref.ts";
import type { Pool } from "../../src/agent/route.ts";
import type { ApprovalMode } from "../../src/policy/mode.ts";
import { findProvider } from "../../src/providers/find.ts";
import type { Session } from "../../src/session/session.ts";
import { openSessions } from "../../src/session/store.ts";
import type { Speak } from "../../src/sim/family.ts";
import type { FaultPlan } from "../../src/sim/faults.ts";
import type { Script } from "../../src/sim/script.ts";
import { createSimulator, type Simulator } from "../../src/sim/simulator.ts";
import type { Patience } from "../../src/transport/budget.ts";
import { openGate } from "../../src/transport/credentials-gate.ts";
import { openTransport } from "../../src/transport/transport.ts";
import type { AnyTool } from "../../src/tools/tool.ts";
import {
  simulatedDisk,
  type DiskChange,
  type DiskTrouble,
  type SimulatedDisk,
} from "../../src/world/simulated-disk.ts";
import { simulatedWorld, type SimulatedWorld } from "../../src/world/simulated.ts";
import { does, fails, long, picture, simpleTools } from "./agent-tools.ts";
import { everyKey } from "./exchange.ts";
import { environmentFor } from "./served.ts";

/** Some providers' simulators, a disk and an agent, all in simulated time. */
export type AgentStage = {
  readonly world: SimulatedWorld;
  readonly agent: Agent;
  readonly journal: Journal;
  readonly session: Session;
  readonly simulators: { readonly [id: string]: Simulator };
  /** What the tool `do` was made to do, in order. */
  readonly done: readonly string[];
};

/** What differs between stages. */
export type AgentStageOptions = {
  /** The pool, by provider; the first one is asked first. */
  readonly providers?: readonly string[];
  readonly strategy?: Pool["strategy"];
  readonly script?: Script | Speak;
  /** By provider. */
  readonly faults?: { readonly [id: string]: FaultPlan };
  readonly seed?: number;
  readonly patience?: Partial<Patience>;
  readonly mode?: ApprovalMode;
  readonly tools?: readonly AnyTool[];
  /** Sees every change to the disk, and may let it fail. */
  readonly before?: (change: DiskChange) => DiskTrouble | undefined;
  readonly agent?: Partial<AgentOptions>;
};

/** Opens a stage with a new session on an empty disk. */
export const openStage = async (options: AgentStageOptions = {}): Promise<AgentStage> => {
  const { providers = ["anthropic"], strategy = "failover", before, patience, mode = "yolo" } = options;
  const { world, simulators } = simulatedProviders({
    ...options,
    providers,
    ...(before && { disk: simulatedDisk({ before }) }),
  });
  const done: string[] = [];
  const { scheduler, declarations } = simpleTools(
    world,
    [picture, fails, long, does(world.clock, (what) => done.push(what)), ...(options.tools ?? [])],
    mode,
  );
  const head = { system: "Be brief.", tools: declarations };
  world.disk.plant("/home/someone", { kind: "folder" });
  const session = await openSessions(world, { home }).create({ root: "/project", ...head });
  const journal = new Journal(session, session);
  const agent = createAgent({
    clock: world.clock,
    transport: openTransport({ world, gate: openGate(world), ...(patience && { patience }) }),
    journal,
    head,
    pool: { models: providers.map(parseModel), strategy, cooldown: 60_000 },
    tools: async () => scheduler,
    ...options.agent,
  });
  return { world, agent, journal, session, simulators, done };
};

/** Where sessions are kept on a stage. */
export const home = "/home/someone/.parley";

/** A world in which some providers answer, each below a path of its own. */
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
    env: { ...everyKey, ...environmentFor(Object.fromEntries(providers.map((id) => [id, baseOf(id)]))) },
    start: Date.UTC(2026, 5, 1),
    seed,
    ...(disk && { disk }),
    ...(me && { me }),
    answer: (request, signal) => {
      const [, id = ""] = new URL(request.url).pathname.split("/");
      const simulator = simulators[id];
      if (simulator === undefined) throw new Error(`Nobody is simulated at ${request.url}.`);
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

const baseOf = (id: string): string =>
  `https://simulated.example/${id}${new URL(findProvider(id).endpoint.url.replaceAll(/\{[a-z-]+\}/g, "somewhere")).pathname.replace(/\/$/, "")}`;

/** Plays a turn to its end, in simulated time. `react` hears every event as it comes. */
export const play = (
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
