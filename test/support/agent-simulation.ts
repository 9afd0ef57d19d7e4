import { createHash } from "node:crypto";
import type { Agent } from "../../src/agent/agent.ts";
import { createAgent } from "../../src/agent/create-agent.ts";
import { singleModelPool } from "../../src/agent/models/choose.ts";
import type { AgentEvent } from "../../src/agent/events.ts";
import { Journal } from "../../src/agent/session/journal.ts";
import { parseModel } from "../../src/agent/models/parse.ts";
import { completeInterruptedCalls } from "../../src/session/interrupted-calls.ts";
import type { Session } from "../../src/session/session.ts";
import { SessionError } from "../../src/session/error.ts";
import { openSessionStore } from "../../src/session/store/store.ts";
import { createRequestSigner } from "../../src/transport/credentials/request-signer.ts";
import { openTransport } from "../../src/transport/transport.ts";
import { NetError } from "../../src/world/net.ts";
import { simulatedDisk, type DiskFault, type SimulatedDisk } from "../../src/world/simulated/disk.ts";
import type { World } from "../../src/world/world.ts";
import { simulatedProviders, home } from "./agent-stage.ts";
import { randomFaults, userPrompts, SimulatedModel } from "./agent-faults.ts";
import { SimulationChecks } from "./agent-checks.ts";
import { createDoTool, failTool, longTool, pictureTool, createTestScheduler } from "./agent-tools.ts";
import { Random } from "./random.ts";

/** The result of a simulation. `hash` covers all events; `broken` names the broken promise. */
export type SimulationResult = {
  readonly seed: number;
  readonly hash: string;
  readonly broken?: string;
  readonly turns: number;
  readonly requests: number;
  readonly crashes: number;
  readonly ends: { readonly [type: string]: number };
};

/**
 * Runs the whole agent in a simulated world: a session on a disk that crashes, providers that fail, models that answer at
 * random, and a person who sends prompts, queues messages, cancels, approves, refuses, switches models, compacts and resumes.
 */
export const simulate = async (seed: number, tell?: (line: string) => void): Promise<SimulationResult> => {
  const simulation = new Simulation(seed, tell);
  const broken = await simulation.run();
  return { ...simulation.facts(), ...(broken === undefined ? {} : { broken: `seed ${seed}: ${broken}` }) };
};

const vendors = [
  "anthropic",
  "openai",
  "google",
  "openai-chat",
  "bedrock",
  "deepseek",
  "kimi",
  "mistral",
  "xai",
  "openrouter",
];

/** Longer than any operation, in simulated milliseconds. */
const forever = 10_000_000_000;

/** One process, from its start to its end or its crash. */
type AgentProcess = {
  readonly agent: Agent;
  readonly journal: Journal;
  readonly session: Session;
  readonly drive: CrashableDisk;
};

/** A disk that can lose power. `left` is the disk after that; the process that used it is dead then. */
type CrashableDisk = {
  readonly disk: SimulatedDisk;
  isDead: boolean;
  left: CrashableDisk | undefined;
  died?: () => void;
};

class Simulation {
  readonly #seed: number;
  readonly #tell: (line: string) => void;
  readonly #random: Random;
  readonly #providers: readonly string[];
  readonly #stage: ReturnType<typeof simulatedProviders>;
  readonly #model: SimulatedModel;
  readonly #faults: { readonly [id: string]: ReturnType<typeof randomFaults> };
  readonly #checks: SimulationChecks;
  readonly #hash = createHash("sha256");
  readonly #ends: Record<string, number> = {};
  #turns = 0;
  #crashes = 0;
  /** The number of disk writes until the power fails. */
  #fuse: number;
  /** The number of disk writes until one fails because the disk is full. */
  #full: number;
  #words = 0;

  constructor(seed: number, tell: (line: string) => void = () => undefined) {
    this.#seed = seed;
    this.#tell = tell;
    const random = new Random(seed);
    this.#random = random;
    this.#providers = Array.from({ length: 1 + random.below(3) }, () => random.pick(vendors)).filter(
      (id, index, all) => all.indexOf(id) === index,
    );
    this.#model = new SimulatedModel(random);
    this.#faults = Object.fromEntries(this.#providers.map((id) => [id, randomFaults(random)]));
    this.#stage = simulatedProviders({
      providers: this.#providers,
      script: this.#model.speak,
      faults: this.#faults,
      seed,
    });
    this.#checks = new SimulationChecks(this.#stage.simulators);
    this.#fuse = random.chance(0.5) ? 1 + random.below(40) : Infinity;
    this.#full = random.chance(0.1) ? 1 + random.below(20) : Infinity;
  }

  async run(): Promise<string | undefined> {
    try {
      const { world } = this.#stage;
      const never = world.clock.sleep(forever).then(() => Promise.reject(new Error("nothing happens any more")));
      await world.run(Promise.race([this.#runProcesses(), never]));
      return undefined;
    } catch (error) {
      return error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
  }

  facts(): Omit<SimulationResult, "broken"> {
    const requests = Object.values(this.#stage.simulators).reduce((sum, { log }) => sum + log.length, 0);
    return {
      seed: this.#seed,
      hash: this.#hash.digest("hex"),
      turns: this.#turns,
      requests,
      crashes: this.#crashes,
      ends: this.#ends,
    };
  }

  async #runProcesses(): Promise<void> {
    const { clock } = this.#stage.world;
    const drive: CrashableDisk = this.#driveWith(simulatedDisk({ now: clock.now, before: () => this.#changed(drive) }));
    drive.disk.seed("/home/someone", { kind: "folder" });
    let process = await this.#open(drive, undefined);
    for (let turns = 2 + this.#random.below(3); turns > 0; turns--) {
      await this.#turn(process);
      if (!process.drive.isDead) await this.#between(process);
      if (process.drive.isDead || this.#random.chance(0.2)) process = await this.#restart(process);
    }
    await this.#finish(process);
  }

  /** The next process with the same session. */
  async #restart(process: AgentProcess): Promise<AgentProcess> {
    const { left } = process.drive;
    this.#checks.isOpen = false;
    if (left === undefined) await process.session.close();
    return this.#open(left ?? process.drive, process);
  }

  #driveWith(disk: SimulatedDisk): CrashableDisk {
    return { disk, isDead: false, left: undefined };
  }

  /** Called before each write to the disk. */
  #changed(drive: CrashableDisk): DiskFault | undefined {
    if (drive.isDead) return { code: "EIO" };
    if (!this.#checks.isOpen) return undefined;
    if (--this.#fuse === 0) {
      this.#crashes += 1;
      this.#tell("crash\n");
      this.#fuse = this.#random.chance(0.3) ? 1 + this.#random.below(30) : Infinity;
      const left: CrashableDisk = this.#driveWith(
        drive.disk.crash(
          () => this.#random.next(),
          () => this.#changed(left),
        ),
      );
      drive.isDead = true;
      drive.left = left;
      drive.died?.();
      return { code: "EIO" };
    }
    if (--this.#full === 0) return { code: "ENOSPC", written: this.#random.below(50) };
    return undefined;
  }

  async #open(drive: CrashableDisk, before: AgentProcess | undefined): Promise<AgentProcess> {
    const world = this.#worldOf(drive);
    const { scheduler, declarations } = createTestScheduler(
      world,
      [
        pictureTool,
        failTool,
        longTool,
        createDoTool(world.clock, (what) => drive.isDead || this.#checks.onToolRun(what)),
      ],
      "default",
    );
    const head = { system: "Be brief.", tools: declarations };
    const sessions = openSessionStore(world, { home });
    this.#checks.isOpen = false;
    const session = await (before === undefined
      ? sessions.create({ root: "/project", ...head })
      : sessions.open(before.session.id));
    const journal = new Journal(session, session);
    if (before !== undefined) await this.#checks.onReopened(session, before.journal);
    completeInterruptedCalls(journal.ledger);
    await journal.commit();
    this.#checks.isOpen = true;
    const agent = createAgent({
      clock: world.clock,
      transport: openTransport({ world, signer: createRequestSigner(world) }),
      journal,
      prefix: head,
      pool: {
        models: this.#providers.map(parseModel),
        strategy: this.#random.chance(0.3) ? "round-robin" : "failover",
        cooldown: 60_000,
      },
      openScheduler: async () => scheduler,
      limits: { turns: 12 },
      ...(this.#random.chance(0.3) ? { modelSettings: () => ({ context: 9000 }) } : {}),
    });
    drive.died = () => void agent.cancel();
    return { agent, journal, session, drive };
  }

  /** The world of a process. Once the process is dead, its requests fail. */
  #worldOf(drive: CrashableDisk): World {
    const { world } = this.#stage;
    const me = `${this.#crashes + 1}-${this.#turns}`;
    return {
      ...world,
      disk: drive.disk,
      processIdentity: { current: async () => me, isAlive: async (who) => who === me, isOwnProcess: () => false },
      net: {
        send: (request, signal) =>
          drive.isDead
            ? Promise.reject(new NetError("connect", "There is no such process."))
            : world.net.send(request, signal),
      },
    };
  }

  async #turn(process: AgentProcess): Promise<void> {
    const { agent, journal, session, drive } = process;
    this.#turns += 1;
    const events: AgentEvent[] = [];
    const turn = this.#checks.watchTurn(journal);
    for await (const event of agent.send(this.#nextPrompt())) {
      if (drive.isDead) continue;
      events.push(event);
      this.#trace(event);
      turn.onEvent(event);
      this.#react(process, event);
    }
    if (drive.isDead) return;
    const end = events.at(-1)?.type ?? "nothing";
    this.#ends[end] = (this.#ends[end] ?? 0) + 1;
    await turn.onEnd(session);
  }

  /** A new, unique prompt. */
  #nextPrompt(): string {
    return `${this.#random.pick(userPrompts)} (word-${(this.#words += 1)}.)`;
  }

  /** The person's reaction to an event. */
  #react({ agent, drive, journal }: AgentProcess, event: AgentEvent): void {
    const random = this.#random;
    const { clock } = this.#stage.world;
    if (event.type === "call-updated" && event.status.state === "awaiting_approval") {
      const { call } = event;
      const kind = random.below(10);
      void clock.sleep(random.below(20_000)).then(() => {
        if (drive.isDead) return;
        if (kind < 6) {
          if (agent.pendingApprovals().some((each) => each.call === call)) this.#checks.onApproved(journal, call);
          agent.decide(call, { type: "once" });
        } else if (kind < 9) agent.decide(call, { type: "refuse", reason: "No." });
        else agent.decide(call, { type: "cancel" });
      });
    }
    if (event.type === "finished" || event.type === "failed" || event.type === "cancelled") return;
    if (random.chance(0.02)) {
      const words = this.#nextPrompt();
      if (agent.queueMessage(words)) this.#checks.onQueued(words);
    }
    if (random.chance(0.005)) void agent.cancel();
    if (random.chance(0.02)) void agent.switchModel(singleModelPool(parseModel(random.pick(this.#providers))));
  }

  /** The person's actions between turns. */
  async #between({ agent, drive }: AgentProcess): Promise<void> {
    const random = this.#random;
    if (random.chance(0.3)) void agent.switchModel(singleModelPool(parseModel(random.pick(this.#providers))));
    if (random.chance(0.2)) await this.#stage.world.clock.sleep(random.below(100_000));
    if (random.chance(0.2))
      await agent.compact().catch((error: unknown) => {
        if (!drive.isDead && !(error instanceof SessionError)) throw error;
      });
  }

  /** Without further faults, whatever happened before, every provider accepts the conversation. */
  async #finish(last: AgentProcess): Promise<void> {
    this.#fuse = this.#full = Infinity;
    for (const plan of Object.values(this.#faults)) plan.length = 0;
    this.#model.onlyTalks = true;
    let process = last;
    if (process.drive.isDead || this.#ends["failed"] !== undefined) process = await this.#restart(process);
    const { agent, journal, session } = process;
    for (const provider of this.#providers) {
      void agent.switchModel(singleModelPool(parseModel(provider)));
      const turn = this.#checks.watchTurn(journal);
      for await (const event of agent.send(this.#nextPrompt())) {
        this.#trace(event);
        turn.onEvent(event);
      }
      await turn.onEnd(session);
      turn.assertFinished();
    }
    this.#checks.assertNothingLost(journal);
    await session.close();
  }

  #trace(event: AgentEvent): void {
    const line = `${this.#stage.world.clock.elapsed()} ${JSON.stringify(event)}\n`;
    this.#hash.update(line);
    this.#tell(line);
  }
}
