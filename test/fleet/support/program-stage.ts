import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgentOpener } from "../../../src/fleet/agent-opener.ts";
import { openPostgresService } from "../../../src/fleet/postgres-service.ts";
import type { ServiceSession, SessionCommand, SessionService } from "../../../src/fleet/service.ts";
import { hashToken } from "../../../src/http/request-guard.ts";
import { openTrustStore } from "../../../src/policy/trust/folders.ts";
import { findProvider } from "../../../src/providers/find.ts";
import type { ModelReply, SimModelRequest } from "../../../src/sim/model/types.ts";
import { serve } from "../../../src/sim/serve.ts";
import { createSimulator, type Simulator, type SimulatorOptions } from "../../../src/sim/simulator.ts";
import { realWorld } from "../../../src/world/real/world.ts";
import { bin, ensureBuilt } from "../../built.ts";
import { everyKey } from "../../support/exchange.ts";
import type { TestDatabase } from "../../support/postgres.ts";
import { hasBubblewrap } from "../../support/sandbox-fixture.ts";
import { environmentFor } from "../../support/serve-simulators.ts";
import { openDatabaseProxy, type AppendFate, type AppendMoment } from "./database-proxy.ts";

/** A moment in the work of a worker: an append, or an exchange with the model. */
export type WorkMoment = AppendMoment | "request-received" | "response-streamed";

/** Options of a stage. */
export type ProgramStageOptions = {
  /** The number of places for workers. Each has its own way to the model and to the database. */
  readonly slots: number;
  /** The model, for all slots. */
  readonly model: (request: SimModelRequest, slot: number) => ModelReply;
  readonly onMoment?: (slot: number, moment: WorkMoment) => AppendFate;
  /** Awaited before each response of the model. */
  readonly beforeAnswer?: () => Promise<void>;
  /** Awaited before each chunk of a response of the model. */
  readonly beforeChunk?: (slot: number) => Promise<void>;
  /** The faults of a slot's requests. */
  readonly faultsOf?: (slot: number) => SimulatorOptions["faults"];
  readonly settings?: object;
  /** Milliseconds between two looks of a follower. */
  readonly pollMs?: number;
};

/** The built program as a worker or a front door, in a process of its own. */
export type WorkerProcess = {
  readonly child: ChildProcess;
  /** Everything it printed. */
  readonly printed: () => string;
  /** The sessions it has, by its own report. */
  readonly sessions: ReadonlySet<string>;
  readonly waitFor: (words: string) => Promise<void>;
  /** Ends it and resolves once it has ended. */
  readonly end: (signal?: NodeJS.Signals) => Promise<void>;
};

/** A fleet of real worker programs, with a model and a front door in this process. */
export type WorkerStage = {
  readonly base: string;
  readonly folder: string;
  readonly service: SessionService;
  readonly simulators: readonly Simulator[];
  readonly startWorker: (slot: number, args?: readonly string[]) => WorkerProcess;
  /** Starts `parley serve` on the database, and resolves with its address. Each tenant's token is its name. */
  readonly startServer: (tenants: readonly string[], args?: readonly string[]) => Promise<string>;
  readonly create: () => Promise<string>;
  readonly post: (id: string, command: SessionCommand, key?: string) => Promise<unknown>;
  readonly waitFor: (id: string, test: (session: ServiceSession) => boolean) => Promise<ServiceSession>;
  readonly close: () => Promise<void>;
};

export const tenant = "acme";

const provider = "anthropic";

/** Opens a stage on a database. Workers have the sandbox where there is one. */
export const openWorkerStage = async (
  database: TestDatabase,
  {
    slots,
    model,
    onMoment = () => undefined,
    beforeAnswer = async () => undefined,
    beforeChunk = async () => undefined,
    faultsOf,
    settings,
    pollMs = 20,
  }: ProgramStageOptions,
): Promise<WorkerStage> => {
  ensureBuilt();
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-workers-")));
  const [home, folder] = [join(base, "home"), join(base, "project")];
  for (const each of [home, folder]) mkdirSync(each);
  writeFileSync(
    join(home, "settings.json"),
    JSON.stringify({ model: provider, permissions: { mode: "yolo" }, ...settings }),
  );
  const simulators = Array.from({ length: slots }, (_, slot) =>
    createSimulator({
      provider,
      script: (request) => {
        void onMoment(slot, "request-received");
        return model(request, slot);
      },
      faults: faultsOf?.(slot) ?? [],
    }),
  );
  const serving = await serve(
    Object.fromEntries(
      simulators.map((simulator, slot) => [
        `/${slot}`,
        {
          ...simulator,
          handle: async (...given) => {
            await beforeAnswer();
            return watchStream(simulator.handle(...given), slot, { onMoment, beforeChunk });
          },
        },
      ]),
    ),
  );
  const proxies = await Promise.all(
    simulators.map((_, slot) => openDatabaseProxy(database.url, (moment) => onMoment(slot, moment))),
  );
  const path = new URL(findProvider(provider).endpoint.url).pathname;
  const environment = (slot: number) => ({
    PATH: process.env["PATH"] ?? "",
    HOME: base,
    PARLEY_HOME: home,
    ...everyKey,
    ...environmentFor({ [provider]: `${serving.url}/${slot}${path}` }),
  });
  const world = realWorld(environment(0));
  await openTrustStore(world.disk, home).trustFolder(folder);
  const service = await openPostgresService({
    store: { database: database.pool, world },
    openAgent: createAgentOpener({ world, home }),
    folders: [folder],
    canonicalPath: world.disk.canonicalPath,
    pollMs,
  });
  const workers: WorkerProcess[] = [];
  return {
    base,
    folder,
    service,
    simulators,
    startWorker: (slot, args = []) => {
      const worker = startProgram(
        ["worker", "--store", proxies[slot]!.url, ...(hasBubblewrap ? [] : ["--no-sandbox"]), ...args],
        environment(slot),
      );
      workers.push(worker);
      return worker;
    },
    startServer: async (tenants, args = []) => {
      const file = join(base, "tokens.json");
      writeFileSync(
        file,
        JSON.stringify({ tokens: tenants.map((name) => ({ sha256: hashToken(name), tenant: name })) }),
      );
      const server = startProgram(
        ["serve", "--store", database.url, "--port", "0", "--folder", folder, "--tokens", file, ...args],
        environment(0),
      );
      workers.push(server);
      await server.waitFor("Listening.");
      return /http:\S+/.exec(server.printed())?.[0] ?? "";
    },
    create: async () => (await service.create(tenant, {})).id,
    post: (id, command, key) => service.post(tenant, id, { command, ...(key === undefined ? {} : { key }) }),
    waitFor: async (id, test) => {
      for (;;) {
        const session = await service.read(tenant, id);
        if (test(session)) return session;
        await world.clock.sleep(20);
      }
    },
    close: async () => {
      await Promise.all(workers.map((worker) => worker.end()));
      await service.close();
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await serving.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
};

/** Notes each chunk of a response before it is sent. */
const watchStream = async (
  answer: ReturnType<Simulator["handle"]>,
  slot: number,
  { onMoment, beforeChunk }: Required<Pick<ProgramStageOptions, "onMoment" | "beforeChunk">>,
): ReturnType<Simulator["handle"]> => {
  const { body, ...response } = await answer;
  const watched = async function* () {
    for await (const chunk of body) {
      await beforeChunk(slot);
      yield chunk;
      void onMoment(slot, "response-streamed");
    }
  };
  return { ...response, body: watched() };
};

/** Starts the built program and reads its reports. */
const startProgram = (args: readonly string[], env: Readonly<Record<string, string>>): WorkerProcess => {
  const child = spawn(process.execPath, [bin, ...args], { env, cwd: "/", stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const sessions = new Set<string>();
  const waiting: (() => void)[] = [];
  let printed = "";
  let rest = "";
  const read = (chunk: Buffer): void => {
    printed += chunk.toString();
    for (const wake of waiting.splice(0)) wake();
  };
  child.stdout.on("data", read);
  child.stderr.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [, id = "", news = ""] = /^\S+ (\w+): (\w+)/.exec(line) ?? [];
      if (news === "taken") sessions.add(id);
      else sessions.delete(id);
    }
    read(chunk);
  });
  return {
    child,
    printed: () => printed,
    sessions,
    waitFor: async (words) => {
      while (!printed.includes(words)) {
        if (child.exitCode !== null) throw new Error(`The program ended with ${child.exitCode}: ${printed}`);
        await Promise.race([new Promise<void>((resolve) => waiting.push(resolve)), ended]);
      }
    },
    end: async (signal = "SIGKILL") => {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await ended;
    },
  };
};
