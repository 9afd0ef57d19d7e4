import { join } from "node:path";
import type { ProjectFilter, SessionMatch } from "../../session/store/store.ts";
import type { SessionSummary } from "../../session/store/summary.ts";
import { findSessionFiles } from "../../session/store/list.ts";
import type { Arguments } from "../parse-arguments.ts";
import { usageError } from "../user-error.ts";
import type { SessionsContext } from "./context.ts";
import { countOption, printJson, formatTime } from "../format.ts";
import type { SessionAction } from "./run.ts";
import { alignColumns, sanitizeLine, truncate, maxWidth, columnWidths } from "../text-table.ts";

/** `parley sessions list`. */
export const list: SessionAction = async (store, given) => {
  const [, extra] = given.positionals;
  if (extra !== undefined) throw usageError(`sessions list does not know what to do with "${extra}".`);
  const limit = countOption(given, "limit");
  if (given.has("quiet")) return printSessionIds(store, given, limit ?? Number.POSITIVE_INFINITY);
  const found = await store.sessions.list({ ...scopeOf(store, given), limit: limit ?? 50 });
  if (given.has("json")) return printJson({ sessions: found });
  if (found.length === 0) process.stderr.write(`parley: ${emptyMessage(given)}\n`);
  else process.stdout.write(given.has("all") ? formatByFolder(found, store) : joinLines(formatSessions(found)));
  return 0;
};

/** `parley sessions search`. */
export const search: SessionAction = async (store, given) => {
  const words = given.positionals.slice(1).join(" ").trim();
  if (words === "") throw usageError("Say what to look for: parley sessions search WORDS.");
  const limit = countOption(given, "limit") ?? 20;
  const matches = await store.sessions.search(words, { ...scopeOf(store, given), limit });
  if (given.has("json")) printJson({ matches });
  else if (matches.length > 0) process.stdout.write(matches.map(formatMatch).join("\n"));
  if (matches.length > 0) return 0;
  process.stderr.write(
    `parley: "${sanitizeLine(words)}" stands in no session${given.has("all") ? "" : " of this folder; --all looks in every folder"}.\n`,
  );
  return 1;
};

const scopeOf = ({ root }: SessionsContext, given: Arguments): ProjectFilter => (given.has("all") ? {} : { root });

/** Ids need no look into any file: shells ask for them while somebody types. */
const printSessionIds = async (
  { world: { disk }, home, root }: SessionsContext,
  given: Arguments,
  most: number,
): Promise<number> => {
  const scope = { disk, base: join(home, "sessions"), ...(given.has("all") ? {} : { root }) };
  const ids = (await findSessionFiles(scope)).slice(0, most).map(({ id }) => id);
  process.stdout.write(joinLines(ids));
  return 0;
};

const joinLines = (each: readonly string[]): string => each.map((line) => `${line}\n`).join("");

const emptyMessage = (given: Arguments): string =>
  given.has("all")
    ? 'there are no sessions yet. Begin one: parley -p "TEXT".'
    : "there are no sessions of this folder yet; --all shows those of other folders.";

const formatByFolder = (found: readonly SessionSummary[], { world: { host } }: SessionsContext): string => {
  const roots = [...new Set(found.map(({ root }) => root))];
  return roots
    .map((root) => {
      const home = root.startsWith(`${host.home}/`) ? `~${root.slice(host.home.length)}` : root;
      const head = root === "" ? "(folder unknown)" : sanitizeLine(home);
      return `${head}\n${joinLines(formatSessions(found.filter((each) => each.root === root)).map((line) => `  ${line}`))}`;
    })
    .join("\n");
};

const formatSessions = (found: readonly SessionSummary[]): readonly string[] => {
  const rows = [["id", "last used", "model", "turns", "title"], ...found.map(cellsOf)];
  const taken = columnWidths(rows.map((row) => row.slice(0, -1))).reduce((sum, width) => sum + width + 2, 2);
  const room = Math.max(20, maxWidth - taken);
  return alignColumns(
    rows.map((row) => [...row.slice(0, -1), truncate(row.at(-1) ?? "", room)]),
    { right: [3] },
  );
};

const cellsOf = ({ id, modified, models, turns, title }: SessionSummary): readonly string[] => {
  const last = truncate(sanitizeLine(models.at(-1)?.replace(/\/$/, "") ?? ""), maxModelWidth);
  return [
    id,
    formatTime(modified),
    models.length > 1 ? `${last} +${models.length - 1}` : last,
    turns === undefined ? "" : String(turns),
    sanitizeLine(title),
  ];
};

const maxModelWidth = 32;

const formatMatch = ({ summary: { id, modified, title }, excerpts }: SessionMatch): string =>
  joinLines([
    truncate(`${id}  ${formatTime(modified)}  ${sanitizeLine(title)}`, maxWidth),
    ...excerpts.map(({ who, text }) => `    ${who}: ${sanitizeLine(text)}`),
  ]);
