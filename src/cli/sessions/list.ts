import { join } from "node:path";
import type { ProjectFilter, SessionMatch } from "../../session/store/store.ts";
import type { SessionSummary } from "../../session/store/summary.ts";
import { findSessionFiles } from "../../session/store/list.ts";
import { agentLabels } from "../../foreign/agents.ts";
import { shortReferences } from "../../foreign/find.ts";
import type { ForeignSession } from "../../foreign/list.ts";
import { listOfferedSessions } from "../../foreign/offer.ts";
import type { Arguments } from "../command.ts";
import { usageError } from "../user-error.ts";
import { countOption, printJson, formatTime } from "../format.ts";
import type { SessionsContext, SessionAction } from "./context.ts";
import { withProgress } from "../progress.ts";
import { alignColumns, sanitizeLine, truncate, maxWidth, columnWidths } from "../text-table.ts";

/** `parley sessions list`: lists sessions, last used first. */
export const list: SessionAction = async (context, args) => {
  const [, extra] = args.positionals;
  if (extra !== undefined) throw usageError(`Unexpected argument "${extra}" for sessions list.`);
  const limit = countOption(args, "limit");
  if (args.has("quiet")) return printSessionIds(context, args, limit ?? Number.POSITIVE_INFINITY);
  const summaries = await context.sessions.list({ ...scopeOf(context, args), limit: limit ?? 50 });
  const offered = await listOffered(context, args, limit ?? 50);
  if (args.has("json")) return printJson({ sessions: summaries, foreign: offered.map(toJson) });
  if (summaries.length === 0) process.stderr.write(`parley: ${emptyMessage(args)}\n`);
  else
    process.stdout.write(args.has("all") ? formatByFolder(summaries, context) : joinLines(formatSessions(summaries)));
  if (offered.length > 0) {
    process.stdout.write(`${summaries.length === 0 ? "" : "\n"}${joinLines(formatOffered(offered))}`);
    process.stderr.write("parley: Import sessions of other agents with parley sessions import AGENT:ID.\n");
  }
  return 0;
};

const listOffered = (
  { world, home, root }: SessionsContext,
  args: Arguments,
  limit: number,
): Promise<readonly ForeignSession[]> =>
  withProgress("Looking for sessions of other agents", () =>
    listOfferedSessions(world, {
      home: world.host.home,
      parleyHome: home.data,
      folder: args.has("all") ? undefined : root,
      limit,
    }),
  );

const toJson = ({ location, ...session }: ForeignSession): object => ({
  ...session,
  path: [location.base, ...location.path].join("/"),
});

const formatOffered = (offered: readonly ForeignSession[]): readonly string[] => {
  const references = shortReferences(offered);
  return formatTable(
    ["session", "last used", "agent", "title"],
    offered.map((session) => [
      references.get(session) ?? "",
      formatTime(session.modified),
      agentLabels[session.agent],
      sanitizeLine(session.title),
    ]),
  );
};

/** `parley sessions search`: prints matches with context. Exits with 1 if there is none. */
export const search: SessionAction = async (context, args) => {
  const phrase = args.positionals.slice(1).join(" ").trim();
  if (phrase === "") throw usageError("Missing argument WORDS: parley sessions search WORDS.");
  const limit = countOption(args, "limit") ?? 20;
  const matches = await withProgress("Searching sessions", (onProgress) =>
    context.sessions.search(phrase, { ...scopeOf(context, args), limit, onProgress }),
  );
  if (args.has("json")) printJson({ matches });
  else if (matches.length > 0) process.stdout.write(matches.map(formatMatch).join("\n"));
  if (matches.length > 0) return 0;
  process.stderr.write(
    `parley: No match for "${sanitizeLine(phrase)}"${args.has("all") ? "" : " in this folder; use --all for all folders"}.\n`,
  );
  return 1;
};

const scopeOf = ({ root }: SessionsContext, args: Arguments): ProjectFilter => (args.has("all") ? {} : { root });

/** Prints session ids without opening any file: shells run this during completion. */
const printSessionIds = async (
  { world: { disk }, home, root }: SessionsContext,
  args: Arguments,
  limit: number,
): Promise<number> => {
  const scope = { disk, base: join(home.data, "sessions"), ...(args.has("all") ? {} : { root }) };
  const ids = (await findSessionFiles(scope)).slice(0, limit).map(({ id }) => id);
  process.stdout.write(joinLines(ids));
  return 0;
};

const joinLines = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

const emptyMessage = (args: Arguments): string =>
  args.has("all")
    ? 'No sessions. Start one with parley -p "TEXT".'
    : "No sessions in this folder; use --all for all folders.";

const formatByFolder = (summaries: readonly SessionSummary[], { world: { host } }: SessionsContext): string => {
  const roots = [...new Set(summaries.map(({ root }) => root))];
  return roots
    .map((root) => {
      const home = root.startsWith(`${host.home}/`) ? `~${root.slice(host.home.length)}` : root;
      const heading = root === "" ? "(folder unknown)" : sanitizeLine(home);
      return `${heading}\n${joinLines(formatSessions(summaries.filter((summary) => summary.root === root)).map((line) => `  ${line}`))}`;
    })
    .join("\n");
};

const formatSessions = (summaries: readonly SessionSummary[]): readonly string[] => {
  const isAnyImported = summaries.some(({ source }) => source !== undefined);
  return formatTable(
    ["id", "last used", "model", "turns", ...(isAnyImported ? ["from"] : []), "title"],
    summaries.map((summary) => cellsOf(summary, isAnyImported)),
    [3],
  );
};

/** Aligns the columns; the last one takes the rest of the width. */
const formatTable = (
  head: readonly string[],
  cells: readonly (readonly string[])[],
  right: readonly number[] = [],
): readonly string[] => {
  const rows = [head, ...cells];
  const usedWidth = columnWidths(rows.map((row) => row.slice(0, -1))).reduce((sum, width) => sum + width + 2, 2);
  const titleWidth = Math.max(20, maxWidth - usedWidth);
  return alignColumns(
    rows.map((row) => [...row.slice(0, -1), truncate(row.at(-1) ?? "", titleWidth)]),
    { right },
  );
};

const cellsOf = (
  { id, modified, models, turns, title, source }: SessionSummary,
  isAnyImported: boolean,
): readonly string[] => {
  const last = truncate(sanitizeLine(models.at(-1)?.replace(/\/$/, "") ?? ""), maxModelWidth);
  return [
    id,
    formatTime(modified),
    models.length > 1 ? `${last} +${models.length - 1}` : last,
    turns === undefined ? "" : String(turns),
    ...(isAnyImported ? [sanitizeLine(source?.agent ?? "")] : []),
    sanitizeLine(title),
  ];
};

const maxModelWidth = 32;

const formatMatch = ({ summary: { id, modified, title }, excerpts }: SessionMatch): string =>
  joinLines([
    truncate(`${id}  ${formatTime(modified)}  ${sanitizeLine(title)}`, maxWidth),
    ...excerpts.map(({ who, text }) => `    ${who}: ${sanitizeLine(text)}`),
  ]);
