import { join } from "node:path";
import type { ProjectFilter, SessionMatch } from "../../session/store/store.ts";
import type { SessionSummary } from "../../session/store/summary.ts";
import { findSessionFiles } from "../../session/store/list.ts";
import type { Arguments } from "../command.ts";
import { usageError } from "../user-error.ts";
import { countOption, printJson, formatTime } from "../format.ts";
import type { SessionsContext, SessionAction } from "./context.ts";
import { alignColumns, sanitizeLine, truncate, maxWidth, columnWidths } from "../text-table.ts";

/** `parley sessions list`: lists sessions, last used first. */
export const list: SessionAction = async (store, args) => {
  const [, extra] = args.positionals;
  if (extra !== undefined) throw usageError(`Unexpected argument "${extra}" for sessions list.`);
  const limit = countOption(args, "limit");
  if (args.has("quiet")) return printSessionIds(store, args, limit ?? Number.POSITIVE_INFINITY);
  const found = await store.sessions.list({ ...scopeOf(store, args), limit: limit ?? 50 });
  if (args.has("json")) return printJson({ sessions: found });
  if (found.length === 0) process.stderr.write(`parley: ${emptyMessage(args)}\n`);
  else process.stdout.write(args.has("all") ? formatByFolder(found, store) : joinLines(formatSessions(found)));
  return 0;
};

/** `parley sessions search`: prints matches with context. Exits with 1 if there is none. */
export const search: SessionAction = async (store, args) => {
  const words = args.positionals.slice(1).join(" ").trim();
  if (words === "") throw usageError("Missing argument WORDS: parley sessions search WORDS.");
  const limit = countOption(args, "limit") ?? 20;
  const matches = await store.sessions.search(words, { ...scopeOf(store, args), limit });
  if (args.has("json")) printJson({ matches });
  else if (matches.length > 0) process.stdout.write(matches.map(formatMatch).join("\n"));
  if (matches.length > 0) return 0;
  process.stderr.write(
    `parley: No match for "${sanitizeLine(words)}"${args.has("all") ? "" : " in this folder; use --all for all folders"}.\n`,
  );
  return 1;
};

const scopeOf = ({ root }: SessionsContext, args: Arguments): ProjectFilter => (args.has("all") ? {} : { root });

/** Prints session ids without opening any file: shells run this during completion. */
const printSessionIds = async (
  { world: { disk }, home, root }: SessionsContext,
  args: Arguments,
  most: number,
): Promise<number> => {
  const scope = { disk, base: join(home, "sessions"), ...(args.has("all") ? {} : { root }) };
  const ids = (await findSessionFiles(scope)).slice(0, most).map(({ id }) => id);
  process.stdout.write(joinLines(ids));
  return 0;
};

const joinLines = (each: readonly string[]): string => each.map((line) => `${line}\n`).join("");

const emptyMessage = (args: Arguments): string =>
  args.has("all")
    ? 'No sessions. Start one with parley -p "TEXT".'
    : "No sessions in this folder; use --all for all folders.";

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
