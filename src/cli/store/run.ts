import { join } from "node:path";
import { readRateLimits, setRateLimit } from "../../postgres/buckets.ts";
import { checkStoreVersion, migrateStore } from "../../postgres/migrate.ts";
import { openPostgresSessions } from "../../postgres/store.ts";
import { readTenant, setTenantLimits } from "../../postgres/tenants.ts";
import { checkStore, exportSession, importSession, listOldSessions } from "../../postgres/transfer.ts";
import { SessionError } from "../../session/error.ts";
import { ensureFolder, withFolder } from "../../session/store/folders.ts";
import { findSessionFiles } from "../../session/store/list.ts";
import { sessionFileName } from "../../session/store/locate.ts";
import { projectFolderName } from "../../session/store/project-folder.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import type { Disk, Folder } from "../../world/disk.ts";
import type { Arguments, CommandHandler } from "../command.ts";
import { printJson } from "../format.ts";
import { withUserErrors } from "../sessions/context.ts";
import { sanitizeLine } from "../text-table.ts";
import { usageError } from "../user-error.ts";
import { withDatabase, type StoreContext } from "./database.ts";

type StoreAction = (context: StoreContext, args: Arguments) => Promise<number>;

/** `parley store`: sets up and checks sessions in PostgreSQL, and moves them to and from files. */
export const store: CommandHandler = async (args) => {
  const [name, , extra] = args.positionals;
  const action = name !== undefined && Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined)
    throw usageError(
      name === undefined
        ? `Missing action. Available: ${Object.keys(actions).join(", ")}.`
        : `Unknown action "${name}" for store. Available: ${Object.keys(actions).join(", ")}.`,
    );
  if (extra !== undefined) throw usageError(`Unexpected argument "${extra}" for store ${name}.`);
  return withUserErrors(() =>
    withDatabase(args, async (context) => {
      if (name !== "migrate") await checkStoreVersion(context.database);
      return action(context, args);
    }),
  );
};

const migrate: StoreAction = async ({ database }, args) => {
  const { from, to } = await migrateStore(database);
  if (args.has("json")) return printJson({ from, to });
  return print(from === to ? `The tables are up to date (version ${to}).` : `The tables are now at version ${to}.`);
};

const check: StoreAction = async (context, args) => {
  const findings: { readonly tenant: string; readonly id: string; readonly problem: string }[] = [];
  let checked = 0;
  const tenant = args.value("tenant");
  for await (const found of checkStore({ ...context, tenant })) {
    if ("checked" in found) checked = found.checked;
    else findings.push(found);
  }
  const code = findings.length === 0 ? 0 : 1;
  if (args.has("json")) {
    printJson({ checked, findings });
    return code;
  }
  for (const { tenant: of, id, problem } of findings) print(`${of} ${id}: ${problem}`);
  print(
    `${count(checked, "session")} checked, ${findings.length === 0 ? "all in order" : count(findings.length, "problem")}.`,
  );
  return code;
};

const importFiles: StoreAction = async (context, args) => {
  const { world } = context;
  const [, wanted] = args.positionals;
  const scope = { disk: world.disk, base: join((await findHomeFolders(world)).data, "sessions") };
  const files = (await findSessionFiles(scope)).filter(({ id }) => wanted === undefined || id.startsWith(wanted));
  if (wanted !== undefined && files.length === 0) throw new SessionError({ kind: "not-found", id: wanted });
  const results = { imported: [] as string[], exists: [] as string[], failed: [] as string[] };
  for (const { path, id } of files)
    await withFolder(await world.disk.openFolder(path), async (folder) => {
      const log = await readWhole(folder, sessionFileName(id));
      try {
        const { result } = await importSession(context, {
          name: id,
          log: log ?? new Uint8Array(),
          readBlob: (hash) => readBlobFile(folder, hash),
        });
        results[result].push(id);
      } catch (error) {
        if (!(error instanceof SessionError)) throw error;
        results.failed.push(id);
        process.stderr.write(`parley: ${sanitizeLine(error.message)}\n`);
      }
    });
  const code = results.failed.length === 0 ? 0 : 1;
  if (args.has("json")) {
    printJson(results);
    return code;
  }
  print(
    `${count(results.imported.length, "session")} imported, ${results.exists.length} already there, ${results.failed.length} failed.`,
  );
  return code;
};

const exportFiles: StoreAction = async (context, args) => {
  const [, wanted] = args.positionals;
  const output = args.value("output");
  const sessions = openPostgresSessions(context);
  if (output === undefined) {
    if (wanted === undefined) throw usageError("Missing --output FOLDER, or the id of one session to print.");
    process.stdout.write((await exportSession(context, (await sessions.read(wanted)).id)).log);
    return 0;
  }
  const ids =
    wanted === undefined
      ? (await sessions.list({ limit: 1_000_000 })).map(({ id, root }) => ({ id, root }))
      : [await sessions.read(wanted).then(({ id, head }) => ({ id, root: head.root }))];
  for (const session of ids) await writeExport(context, output, session);
  if (args.has("json")) return printJson({ exported: ids.map(({ id }) => id) });
  return print(`${count(ids.length, "session")} exported to ${output}.`);
};

const archive: StoreAction = async (context, args) => {
  const output = args.value("output");
  const days = Number(args.value("older-than"));
  if (output === undefined) throw usageError("Missing --output FOLDER: where the files are written.");
  if (args.value("older-than") === undefined || !(days >= 0))
    throw usageError("Missing --older-than DAYS: a number of days without use.");
  const sessions = openPostgresSessions(context);
  const old = await listOldSessions(context, context.world.clock.now() - days * 86_400_000);
  for (const session of old) {
    await writeExport(context, output, session);
    await sessions.remove(session.id);
  }
  if (args.has("json")) return printJson({ archived: old.map(({ id }) => id) });
  return print(`${count(old.length, "session")} archived in ${output}.`);
};

const tenant: StoreAction = async (context, args) => {
  const id = args.positionals[1] ?? context.tenant;
  const [running, spend] = [args.value("most-running"), args.value("spend")];
  for (const [name, value] of [
    ["most-running", running],
    ["spend", spend],
  ])
    if (value !== undefined && !(Number(value) >= 0)) throw usageError(`--${name} must be a number, not "${value}".`);
  if (running !== undefined || spend !== undefined)
    await setTenantLimits(context.database, id, {
      ...(running === undefined ? {} : { mostRunning: Math.floor(Number(running)) }),
      ...(spend === undefined ? {} : { mostSpend: Number(spend) }),
    });
  const { mostRunning, mostSpend, spent } = await readTenant(context.database, id);
  if (args.has("json")) return printJson({ id, mostRunning, mostSpend: mostSpend ?? null, spent });
  return print(
    `${id}: at most ${count(mostRunning, "session")} at once; spent $${spent.toFixed(4)}${mostSpend === undefined ? ", without a limit" : ` of $${mostSpend.toFixed(2)}`}.`,
  );
};

const limit: StoreAction = async ({ database }, args) => {
  const [, provider] = args.positionals;
  const [perMinute, burst] = [args.value("per-minute"), args.value("burst")];
  for (const [name, value, least] of [
    ["per-minute", perMinute, 0],
    ["burst", burst, 1],
  ] as const)
    if (value !== undefined && !(Number(value) >= least && Number.isFinite(Number(value))))
      throw usageError(`--${name} must be a number from ${least}, not "${value}".`);
  if (burst !== undefined && perMinute === undefined) throw usageError("--burst needs --per-minute.");
  if (perMinute !== undefined) {
    if (provider === undefined) throw usageError("Missing the provider, e.g. parley store limit anthropic.");
    const { findProvider } = await import("../../providers/find.ts");
    const { id } = findProvider(provider);
    const isNone = Number(perMinute) === 0;
    const wanted = { perMinute: Number(perMinute), ...(burst === undefined ? {} : { burst: Number(burst) }) };
    await setRateLimit(database, id, isNone ? undefined : wanted);
  }
  const limits = (await readRateLimits(database)).filter(
    (each) => provider === undefined || each.provider === provider,
  );
  if (args.has("json")) return printJson({ limits });
  if (limits.length === 0) return print(`${provider ?? "All providers"}: no limit.`);
  for (const each of limits)
    print(`${each.provider}: ${round(each.perMinute)} requests a minute for each key, ${round(each.burst)} at once.`);
  return 0;
};

const round = (number: number): string => String(Math.round(number * 100) / 100);

const actions: { readonly [name: string]: StoreAction } = {
  migrate,
  check,
  import: importFiles,
  export: exportFiles,
  archive,
  tenant,
  limit,
};

/** Writes a session where the file store would have it below `output`, and reads it back. */
const writeExport = async (
  context: StoreContext,
  output: string,
  { id, root }: { readonly id: string; readonly root: string },
): Promise<void> => {
  const { log, blobs, missing } = await exportSession(context, id);
  for (const hash of missing) process.stderr.write(`parley: ${id}: blob ${hash} is missing.\n`);
  const { disk } = context.world;
  const folder = await ensureFolder(disk, join(await absolute(disk, output), projectFolderName(root)));
  await withFolder(folder, async (open) => {
    for (const [hash, bytes] of blobs)
      await withFolder(await ensureFolder(disk, join(open.path, "blobs")), (place) =>
        place.writeFile(hash, bytes, 0o600),
      );
    await open.writeFile(sessionFileName(id), log, 0o600);
    const written = await readWhole(open, sessionFileName(id));
    if (written === undefined || !log.equals(written))
      throw new SessionError({
        kind: "disk",
        path: join(open.path, sessionFileName(id)),
        code: "differs after writing",
      });
  });
};

const absolute = async (disk: Disk, path: string): Promise<string> => {
  const whole = path.startsWith("/") ? path : join(process.cwd(), path);
  return (await disk.canonicalPath(whole)) ?? whole;
};

const readBlobFile = async (project: Folder, hash: string): Promise<Uint8Array | undefined> => {
  const folder = await project.openFolder("blobs").catch(() => undefined);
  return folder === undefined ? undefined : withFolder(folder, (open) => readWhole(open, hash));
};

const readWhole = async (folder: Folder, name: string): Promise<Uint8Array | undefined> => {
  const file = await folder.openFile(name).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    return await file.read(0, (await file.stat()).size);
  } finally {
    await file.close();
  }
};

const count = (number: number, thing: string): string => `${number} ${thing}${number === 1 ? "" : "s"}`;

const print = (text: string): number => {
  process.stdout.write(`${sanitizeLine(text)}\n`);
  return 0;
};
