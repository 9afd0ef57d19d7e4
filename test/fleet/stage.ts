import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgentOpener } from "../../src/fleet/agent-opener.ts";
import { openPostgresService } from "../../src/fleet/postgres-service.ts";
import type { ServiceSession, SessionCommand, SessionService } from "../../src/fleet/service.ts";
import type { OpenSessionAgent } from "../../src/fleet/session-driver.ts";
import { startWorker, type FleetWorker, type WorkerOptions, type WorkerReport } from "../../src/fleet/worker.ts";
import type { DemoScript } from "../../src/offline/script/script.ts";
import { openTrustStore } from "../../src/policy/trust/folders.ts";
import { realWorld } from "../../src/world/real/world.ts";
import type { TestDatabase } from "../support/postgres.ts";

/** The model of the tests: it counts on request, and writes a file when asked to. */
const script: DemoScript = {
  rules: [
    {
      prompt: "/^Write (\\d+)/",
      replies: [
        { call: { tool: "run_shell_command", input: { command: "echo ran >> ran.txt" } } },
        { say: "Written." },
      ],
    },
    {
      prompt: "Wait",
      replies: [
        { call: { tool: "run_shell_command", input: { command: "echo began >> ran.txt; sleep 600" } } },
        { say: "Waited." },
      ],
    },
  ],
  otherwise: { say: "Yes." },
};

/** A fleet with a database, a front door and any number of workers in this process. */
export type FleetStage = {
  readonly folder: string;
  readonly home: string;
  readonly service: SessionService;
  readonly openAgent: OpenSessionAgent;
  readonly startWorker: (
    options?: Partial<Pick<WorkerOptions, "parkAfter" | "leaseMs" | "openAgent" | "store">>,
  ) => FleetWorker;
  readonly reports: WorkerReport[];
  readonly post: (id: string, command: SessionCommand, key?: string) => Promise<unknown>;
  readonly waitFor: (id: string, test: (session: ServiceSession) => boolean) => Promise<ServiceSession>;
  /** How often the command of the model ran. */
  readonly countRuns: () => Promise<number>;
  readonly close: () => Promise<void>;
};

export const tenant = "acme";

export const openFleetStage = async (database: TestDatabase, settings: object = {}): Promise<FleetStage> => {
  const base = await realpath(await mkdtemp(join(tmpdir(), "parley-fleet-")));
  const [home, folder] = [join(base, "home"), join(base, "project")];
  await mkdir(home);
  await mkdir(folder);
  await writeFile(join(base, "script.json"), JSON.stringify(script));
  await writeFile(
    join(home, "settings.json"),
    JSON.stringify({ model: "offline/script", offline: { script: join(base, "script.json") }, ...settings }),
  );
  const world = realWorld({ PATH: process.env["PATH"] ?? "", HOME: base, PARLEY_HOME: home });
  await openTrustStore(world.disk, home).trustFolder(folder);
  const openAgent = createAgentOpener({ world, home });
  const store = { database: database.pool, world };
  const service = await openPostgresService({
    store,
    openAgent,
    folders: [folder],
    canonicalPath: world.disk.canonicalPath,
    pollMs: 20,
  });
  const workers: FleetWorker[] = [];
  const reports: WorkerReport[] = [];
  return {
    folder,
    home,
    service,
    reports,
    openAgent,
    startWorker: (options) => {
      const worker = startWorker({
        store,
        openAgent,
        pollMs: 20,
        onReport: (report) => reports.push(report),
        ...options,
      });
      workers.push(worker);
      return worker;
    },
    post: (id, command, key) => service.post(tenant, id, { command, ...(key === undefined ? {} : { key }) }),
    waitFor: async (id, test) => {
      for (let attempt = 0; attempt < 2000; attempt++) {
        const session = await service.read(tenant, id);
        if (test(session)) return session;
        await world.clock.sleep(20);
      }
      throw new Error(
        `Session ${id} did not get there: ${JSON.stringify(await service.read(tenant, id))} ${JSON.stringify(reports)}`,
      );
    },
    countRuns: async () => (await readFile(join(folder, "ran.txt"), "utf8").catch(() => "")).split("\n").length - 1,
    close: async () => {
      await Promise.all(workers.map((worker) => worker.drain(0)));
      await service.close();
      await rm(base, { recursive: true, force: true });
    },
  };
};
