import { openTrust } from "../policy/trust.ts";
import type { Retention } from "../session/remove.ts";
import { summaryOf, type Summary } from "../session/summary.ts";
import { loadSettings } from "../settings/load.ts";
import { agreed, canAsk } from "./agreeing.ts";
import type { Arguments } from "./arguments.ts";
import { Failure, misused } from "./failure.ts";
import { placeOf, type Store } from "./session-store.ts";
import { counted, countOf, idAlone, printJson, whenOf } from "./session-words.ts";
import type { SessionAction } from "./sessions.ts";
import { oneLine } from "./table.ts";

/** `parley sessions rename`. */
export const rename: SessionAction = async ({ sessions }, { words: [, id, ...title] }) => {
  const wanted = oneLine(title.join(" ")).trim();
  if (id === undefined || wanted === "")
    throw misused("Say which and what to call it: parley sessions rename ID TITLE.");
  await sessions.rename(id, wanted);
  return 0;
};

/** `parley sessions delete`: asks first at a terminal, where a mistake is a slip of the hand. */
export const remove: SessionAction = async (store, given) => {
  const { id } = await placeOf(store, idAlone(given));
  const what = `session ${id}${await titleOf(store, id)}`;
  if (given.has("dry-run")) {
    process.stdout.write(`Would remove ${what}.\n`);
    return 0;
  }
  if (!given.has("yes") && canAsk() && !(await agreed(`Remove ${what}?`)))
    throw new Failure("Nothing was removed.", { code: 1 });
  await store.sessions.remove(id);
  process.stdout.write(`Removed ${what}.\n`);
  return 0;
};

/** `parley sessions prune`: by what the command line says, or else by the settings. */
export const prune: SessionAction = async (store, given) => {
  const [, extra] = given.words;
  if (extra !== undefined) throw misused(`sessions prune does not know what to do with "${extra}".`);
  const keep = await retentionFor(store, given);
  const summaries = await store.sessions.list({
    ...(given.has("all") ? {} : { root: store.root }),
    limit: Number.POSITIVE_INFINITY,
  });
  const roots = [...new Set(summaries.map(({ root }) => root))];
  const removed: Summary[] = [];
  for (const root of roots) {
    const mine = summaries.filter((each) => each.root === root);
    const ids = given.has("dry-run")
      ? tooMany(mine, keep, store.world.clock.now())
      : await store.sessions.prune({ root, ...keep });
    removed.push(...mine.filter(({ id }) => ids.includes(id)));
  }
  if (given.has("json")) return printJson({ dryRun: given.has("dry-run"), removed });
  const verb = given.has("dry-run") ? "Would remove" : "Removed";
  for (const { id, modified, title } of removed)
    process.stdout.write(`${verb} ${id}  ${whenOf(modified)}  ${oneLine(title)}\n`);
  process.stderr.write(`parley: ${counted(summaries.length - removed.length, "session")} kept.\n`);
  return 0;
};

const titleOf = async ({ sessions }: Store, id: string): Promise<string> => {
  // A session nobody can read can still be removed.
  const title = await sessions.read(id).then(
    (session) => summaryOf(session).title,
    () => "",
  );
  return title === "" ? "" : ` "${oneLine(title)}"`;
};

const day = 86_400_000;

const retentionFor = async ({ world, home, root }: Store, given: Arguments): Promise<Retention> => {
  const asked = retention(countOf(given, "keep-days"), countOf(given, "keep-count"));
  if (asked !== undefined) return asked;
  const scope = await openTrust(world.disk, home).projectScope(root);
  const { settings } = await loadSettings(world, { home, root, scope });
  const settled = retention(settings["sessions.keepDays"], settings["sessions.keepCount"]);
  if (settled !== undefined) return settled;
  throw misused("Nothing says how much to keep. Give --keep-days N or --keep-count N, or set sessions.keepDays.");
};

const retention = (days: number | undefined, count: number | undefined): Retention | undefined =>
  days === undefined && count === undefined
    ? undefined
    : { ...(days === undefined ? {} : { maxAge: days * day }), ...(count === undefined ? {} : { maxCount: count }) };

/** The same choice the store makes, without making it. */
const tooMany = (
  summaries: readonly Summary[],
  { maxAge = Number.POSITIVE_INFINITY, maxCount = Number.POSITIVE_INFINITY }: Retention,
  now: number,
): readonly string[] =>
  summaries.filter(({ modified }, index) => index >= maxCount || modified < now - maxAge).map(({ id }) => id);
