import { resolve } from "node:path";
import type { Workplaces } from "../../fleet/workplace.ts";
import { loadAgentEnvironment } from "../../agent/environment.ts";
import { costOfRecord, createAgentOpener } from "../../fleet/agent-opener.ts";
import { createSharedAdmission } from "../../fleet/shared-admission.ts";
import { openLiveDoor, type LiveDoor } from "../../fleet/live-door.ts";
import { startWorker, type WorkerReport } from "../../fleet/worker.ts";
import { findSandbox } from "../../policy/shell/sandbox/find.ts";
import { openBlobFolder } from "../../postgres/blobs.ts";
import { connectDatabase } from "../../postgres/connect.ts";
import { checkStoreVersion } from "../../postgres/migrate.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import { realWorld } from "../../world/real/world.ts";
import type { ProcessTelemetry } from "../../telemetry/telemetry.ts";
import type { World } from "../../world/world.ts";
import type { Arguments, CommandHandler } from "../command.ts";
import { waitForSignal } from "../requests/simulate.ts";
import { withUserErrors } from "../sessions/context.ts";
import { openObservedAgent, openServerTelemetry } from "../serve/telemetry.ts";
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
    const workplaces = await readWorkplaces(args, world);
    const address = readAddress(args.value("listen"));
    const stopped = waitForSignal();
    const database = await connectDatabase(url, Math.min(64, most + 4));
    const blobs = args.value("blobs");
    const mode = args.value("approval-mode");
    const home = (await findHomeFolders(world)).config;
    const { settings } = (await loadAgentEnvironment({ folder: ".", home, world })).loaded;
    let telemetry: ProcessTelemetry | undefined;
    let live: LiveDoor | undefined;
    try {
      await checkStoreVersion(database);
      live = await openLiveDoor(address).catch((error: unknown) => {
        throw new UserError(`Cannot listen: ${error instanceof Error ? error.message : String(error)}.`, { code: 1 });
      });
      telemetry = await openServerTelemetry(world, { home, folder: "." });
      const running = startWorker({
        store: {
          database,
          world,
          costOf: (record) => costOfRecord(record, settings.models),
          ...(blobs === undefined ? {} : { place: openBlobFolder(world.disk, blobs) }),
        },
        openAgent: createAgentOpener({
          world,
          home,
          ...(mode === undefined ? {} : { flags: { "approval-mode": mode } }),
          admissionOf: (tenant) => createSharedAdmission({ database, random: world.random }, tenant),
          ...(telemetry === undefined ? {} : { openAgent: openObservedAgent(telemetry) }),
          ...(args.has("no-sandbox") ? {} : { sandbox: "required" as const }),
        }),
        ...(workplaces === undefined ? {} : { workplaces }),
        live,
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
      await live?.close();
      await telemetry?.close();
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

/** The folders of sessions; undefined if tools run in the project's own. */
const readWorkplaces = async (args: Arguments, world: World): Promise<Workplaces | undefined> => {
  const [kind, folder] = [args.value("workplace") ?? "shared", args.value("workplaces")];
  if (kind === "shared") {
    if (folder !== undefined) throw usageError("--workplaces needs --workplace folder, worktree or clone.");
    return undefined;
  }
  if (kind !== "folder" && kind !== "worktree" && kind !== "clone")
    throw usageError(`Unknown workplace "${kind}". Available: shared, folder, worktree, clone.`);
  const base = folder === undefined ? undefined : await world.disk.canonicalPath(resolve(folder));
  if (base === undefined)
    throw usageError(
      folder === undefined
        ? "Missing --workplaces FOLDER: it holds the folders of sessions."
        : `${folder} does not exist. Create the folder that holds the folders of sessions.`,
    );
  const { openSessionFolders } = await import("../../fleet/session-folders.ts");
  return openSessionFolders({ world, base, kind });
};

/** The address others reach this worker by. Every address of the machine at once is none that they could connect to. */
const readAddress = (text: string | undefined): { readonly host?: string; readonly port?: number } => {
  if (text === undefined) return {};
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) throw usageError(`--listen must be HOST:PORT, not "${text}".`);
  if (/^[0:.]+$/.test(host))
    throw usageError(`--listen ${text}: name the address by which front doors reach this machine.`);
  return { host, port: Number(port) };
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
    case "swept":
      return report.kept === undefined
        ? `${report.tenant} ${report.id}: removed ${report.folder}, as the session does not exist any more`
        : `${report.tenant} ${report.id}: kept ${report.folder}: the session does not exist any more, but ${report.kept}`;
    case "failed":
      return `${report.id === undefined ? "" : `${report.tenant} ${report.id}: `}failed: ${report.message}`;
    case "fenced":
      return "cut off from the database, or found dead by others: all sessions stop here";
  }
};
