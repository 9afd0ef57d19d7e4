import { openTrustStore } from "../../policy/trust/folders.ts";
import type { Retention } from "../../session/store/remove.ts";
import { summarizeSession, type SessionSummary } from "../../session/store/summary.ts";
import { loadSettings } from "../../settings/load/load.ts";
import { confirm, canPrompt } from "../confirm.ts";
import type { Arguments } from "../command.ts";
import { UserError, usageError } from "../user-error.ts";
import { pluralize, countOption, sessionIdFrom, printJson, formatTime } from "../format.ts";
import { locateSession, type SessionsContext, type SessionAction } from "./context.ts";
import { sanitizeLine } from "../text-table.ts";

/** `parley sessions rename`: changes the title of a session. */
export const renameSession: SessionAction = async ({ sessions }, { positionals: [, id, ...title] }) => {
  const newTitle = sanitizeLine(title.join(" ")).trim();
  if (id === undefined || newTitle === "") throw usageError("Missing argument: parley sessions rename ID TITLE.");
  await sessions.rename(id, newTitle);
  return 0;
};

/** `parley sessions delete`: deletes a session. Asks first if there is a terminal. */
export const deleteSession: SessionAction = async (context, args) => {
  const { id } = await locateSession(context, sessionIdFrom(args));
  const label = `session ${id}${await quotedTitle(context, id)}`;
  if (args.has("dry-run")) {
    process.stdout.write(`Would delete ${label}.\n`);
    return 0;
  }
  if (!args.has("yes") && canPrompt() && !(await confirm(`Delete ${label}?`)))
    throw new UserError("Not deleted.", { code: 1 });
  await context.sessions.remove(id);
  process.stdout.write(`Deleted ${label}.\n`);
  return 0;
};

/** `parley sessions prune`: deletes sessions by the limits of the options, or else of the settings. */
export const pruneSessions: SessionAction = async (context, args) => {
  const [, extra] = args.positionals;
  if (extra !== undefined) throw usageError(`Unexpected argument "${extra}" for sessions prune.`);
  const keep = await resolveRetention(context, args);
  const summaries = await context.sessions.list({
    ...(args.has("all") ? {} : { root: context.root }),
    limit: Number.POSITIVE_INFINITY,
  });
  const roots = [...new Set(summaries.map(({ root }) => root))];
  const removed: SessionSummary[] = [];
  for (const root of roots) {
    const ofFolder = summaries.filter((summary) => summary.root === root);
    const ids = args.has("dry-run")
      ? selectExpired(ofFolder, keep, context.world.clock.now())
      : await context.sessions.prune({ root, ...keep });
    removed.push(...ofFolder.filter(({ id }) => ids.includes(id)));
  }
  if (args.has("json")) return printJson({ dryRun: args.has("dry-run"), removed });
  const verb = args.has("dry-run") ? "Would delete" : "Deleted";
  for (const { id, modified, title } of removed)
    process.stdout.write(`${verb} ${id}  ${formatTime(modified)}  ${sanitizeLine(title)}\n`);
  process.stderr.write(`parley: ${pluralize(summaries.length - removed.length, "session")} kept.\n`);
  return 0;
};

const quotedTitle = async ({ sessions }: SessionsContext, id: string): Promise<string> => {
  // An unreadable session can still be deleted.
  const title = await sessions.read(id).then(
    (session) => summarizeSession(session).title,
    () => "",
  );
  return title === "" ? "" : ` "${sanitizeLine(title)}"`;
};

const dayMs = 86_400_000;

const resolveRetention = async ({ world, home, root }: SessionsContext, args: Arguments): Promise<Retention> => {
  const fromOptions = retentionOf(countOption(args, "keep-days"), countOption(args, "keep-count"));
  if (fromOptions !== undefined) return fromOptions;
  const scope = await openTrustStore(world.disk, home.config).projectScope(root);
  const { settings } = await loadSettings(world, { home: home.config, root, scope });
  const fromSettings = retentionOf(settings["sessions.keepDays"], settings["sessions.keepCount"]);
  if (fromSettings !== undefined) return fromSettings;
  throw usageError("No limit given. Use --keep-days N or --keep-count N, or set sessions.keepDays.");
};

const retentionOf = (days: number | undefined, count: number | undefined): Retention | undefined =>
  days === undefined && count === undefined
    ? undefined
    : { ...(days === undefined ? {} : { maxAge: days * dayMs }), ...(count === undefined ? {} : { maxCount: count }) };

/** Selects the sessions that pruning would delete, for --dry-run. Must agree with the session store. */
const selectExpired = (
  summaries: readonly SessionSummary[],
  { maxAge = Number.POSITIVE_INFINITY, maxCount = Number.POSITIVE_INFINITY }: Retention,
  now: number,
): readonly string[] =>
  summaries.filter(({ modified }, index) => index >= maxCount || modified < now - maxAge).map(({ id }) => id);
