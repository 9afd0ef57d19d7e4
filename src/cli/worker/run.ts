import { costOfRecord, createAgentOpener } from "../../fleet/agent-opener.ts";
import { startWorker, type WorkerReport } from "../../fleet/worker.ts";
import { findSandbox } from "../../policy/shell/sandbox/find.ts";
import { openBlobFolder } from "../../postgres/blobs.ts";
import { connectDatabase } from "../../postgres/connect.ts";
import { checkStoreVersion } from "../../postgres/migrate.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import { realWorld } from "../../world/real/world.ts";
import type { World } from "../../world/world.ts";
import type { Arguments, CommandHandler } from "../command.ts";
import { waitForSignal } from "../requests/simulate.ts";
import { withUserErrors } from "../sessions/context.ts";
import { readDatabaseUrl } from "../store/database.ts";
import { sanitizeLine } from "../text-table.ts";
import { usageError, UserError } from "../user-error.ts";

/** `parley worker`: runs sessions of a database until it is stopped. */
export const worker: CommandHandler = (args) =>
  withUserErrors(async () => {
    const world = realWorld();
    const [most, lease, parkAfter, grace] = [
      readCount(args, "most", 16),
      readCount(args, "lease", 15),
      readCount(args, "park-after", 30),
      readCount(args, "grace", 60),
    ];
    const url = await readDatabaseUrl(args, world);
    await requireSandbox(args, world);
    const stopped = waitForSignal();
    const database = await connectDatabase(url, Math.min(64, most + 4));
    const blobs = args.value("blobs");
    const mode = args.value("approval-mode");
    try {
      await checkStoreVersion(database);
      const running = startWorker({
        store: {
          database,
          world,
          costOf: costOfRecord,
          ...(blobs === undefined ? {} : { place: openBlobFolder(world.disk, blobs) }),
        },
        openAgent: createAgentOpener({
          world,
          home: (await findHomeFolders(world)).config,
          ...(mode === undefined ? {} : { flags: { "approval-mode": mode } }),
          ...(args.has("no-sandbox") ? {} : { sandbox: "required" as const }),
        }),
        most,
        leaseMs: lease * 1000,
        parkAfter: parkAfter * 1000,
        ...(args.has("quiet") ? {} : { onReport: printReport }),
      });
      process.stdout.write("Ready. Press Ctrl-C to stop.\n");
      await stopped;
      await running.drain(grace * 1000);
      await running.ended;
    } finally {
      await database.close();
    }
    return 0;
  });

/** Commands of models outlive a killed worker unless a sandbox ends them, and then two owners' commands run at once. */
const requireSandbox = async (args: Arguments, world: World): Promise<void> => {
  if (args.has("no-sandbox")) return;
  const sandbox = await findSandbox(world.processes, world.host, world.env["PATH"] ?? "");
  if ("missing" in sandbox)
    throw new UserError(
      `A worker needs a sandbox for commands of models. ${sandbox.missing} Or start it with --no-sandbox, if nothing else on this machine can be harmed.`,
      { code: 1 },
    );
};

const readCount = (args: Arguments, name: string, otherwise: number): number => {
  const value = args.value(name);
  if (value === undefined) return otherwise;
  if (!/^\d{1,6}$/.test(value) || Number(value) < 1)
    throw usageError(`--${name} must be a whole number from 1, not "${value}".`);
  return Number(value);
};

const printReport = (report: WorkerReport): void => {
  process.stderr.write(`${sanitizeLine(describeReport(report))}\n`);
};

const describeReport = (report: WorkerReport): string => {
  switch (report.type) {
    case "taken":
      return `${report.tenant} ${report.id}: taken (fence ${report.fence})`;
    case "lost":
      return `${report.tenant} ${report.id}: lost to another worker`;
    case "released":
      return `${report.tenant} ${report.id}: ${report.state}`;
    case "freed":
      return `${report.tenant} ${report.id}: freed from a dead worker, ${report.state}`;
    case "failed":
      return `${report.id === undefined ? "" : `${report.tenant} ${report.id}: `}failed: ${report.message}`;
    case "fenced":
      return "cut off from the database, or found dead by others: all sessions stop here";
  }
};
