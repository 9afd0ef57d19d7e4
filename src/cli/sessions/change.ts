import { openTrustStore } from "../../policy/trust/folders.ts";
import type { Retention } from "../../session/store/remove.ts";
import { summarizeSession, type SessionSummary } from "../../session/store/summary.ts";
import { loadSettings } from "../../settings/load/load.ts";
import { confirm, canPrompt } from "../confirm.ts";
import type { Arguments } from "../parse-arguments.ts";
import { UserError, usageError } from "../user-error.ts";
import { locateSession, type SessionsContext } from "./context.ts";
import { pluralize, countOption, sessionIdFrom, printJson, formatTime } from "../format.ts";
import type { SessionAction } from "./run.ts";
import { sanitizeLine } from "../text-table.ts";

/** `parley sessions rename`. */
export const renameSession: SessionAction = async ({ sessions }, { positionals: [, id, ...title] }) => {
  const wanted = sanitizeLine(title.join(" ")).trim();
  if (id === undefined || wanted === "")
    throw usageError("Say which and what to call it: parley sessions rename ID TITLE.");
  await sessions.rename(id, wanted);
  return 0;
};

/** `parley sessions delete`: asks first at a terminal, where a mistake is a slip of the hand. */
export const deleteSession: SessionAction = async (store, given) => {
  const { id } = await locateSession(store, sessionIdFrom(given));
  const what = `session ${id}${await quotedTitle(store, id)}`;
  if (given.has("dry-run")) {
    process.stdout.write(`Would remove ${what}.\n`);
    return 0;
  }
  if (!given.has("yes") && canPrompt() && !(await confirm(`Remove ${what}?`)))
    throw new UserError("Nothing was removed.", { code: 1 });
  await store.sessions.remove(id);
  process.stdout.write(`Removed ${what}.\n`);
  return 0;
};

/** `parley sessions prune`: by what the command line says, or else by the settings. */
export const pruneSessions: SessionAction = async (store, given) => {
  const [, extra] = given.positionals;
  if (extra !== undefined) throw usageError(`sessions prune does not know what to do with "${extra}".`);
  const keep = await resolveRetention(store, given);
  const summaries = await store.sessions.list({
    ...(given.has("all") ? {} : { root: store.root }),
    limit: Number.POSITIVE_INFINITY,
  });
  const roots = [...new Set(summaries.map(({ root }) => root))];
  const removed: SessionSummary[] = [];
  for (const root of roots) {
    const mine = summaries.filter((each) => each.root === root);
    const ids = given.has("dry-run")
      ? selectExpired(mine, keep, store.world.clock.now())
      : await store.sessions.prune({ root, ...keep });
    removed.push(...mine.filter(({ id }) => ids.includes(id)));
  }
  if (given.has("json")) return printJson({ dryRun: given.has("dry-run"), removed });
  const verb = given.has("dry-run") ? "Would remove" : "Removed";
  for (const { id, modified, title } of removed)
    process.stdout.write(`${verb} ${id}  ${formatTime(modified)}  ${sanitizeLine(title)}\n`);
  process.stderr.write(`parley: ${pluralize(summaries.length - removed.length, "session")} kept.\n`);
  return 0;
};

const quotedTitle = async ({ sessions }: SessionsContext, id: string): Promise<string> => {
  // A session nobody can read can still be removed.
  const title = await sessions.read(id).then(
    (session) => summarizeSession(session).title,
    () => "",
  );
  return title === "" ? "" : ` "${sanitizeLine(title)}"`;
};

const dayMs = 86_400_000;

const resolveRetention = async ({ world, home, root }: SessionsContext, given: Arguments): Promise<Retention> => {
  const asked = retentionOf(countOption(given, "keep-days"), countOption(given, "keep-count"));
  if (asked !== undefined) return asked;
  const scope = await openTrustStore(world.disk, home).projectScope(root);
  const { settings } = await loadSettings(world, { home, root, scope });
  const settled = retentionOf(settings["sessions.keepDays"], settings["sessions.keepCount"]);
  if (settled !== undefined) return settled;
  throw usageError("Nothing says how much to keep. Give --keep-days N or --keep-count N, or set sessions.keepDays.");
};

const retentionOf = (days: number | undefined, count: number | undefined): Retention | undefined =>
  days === undefined && count === undefined
    ? undefined
    : { ...(days === undefined ? {} : { maxAge: days * dayMs }), ...(count === undefined ? {} : { maxCount: count }) };

/** The same choice the store makes, without making it. */
const selectExpired = (
  summaries: readonly SessionSummary[],
  { maxAge = Number.POSITIVE_INFINITY, maxCount = Number.POSITIVE_INFINITY }: Retention,
  now: number,
): readonly string[] =>
  summaries.filter(({ modified }, index) => index >= maxCount || modified < now - maxAge).map(({ id }) => id);
