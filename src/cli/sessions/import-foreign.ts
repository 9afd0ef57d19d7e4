import {
  agentLabels,
  foreignAgents,
  isForeignAgent,
  parseForeignReference,
  type ForeignAgent,
} from "../../foreign/agents.ts";
import type { Omission } from "../../foreign/builder.ts";
import { ForeignSessionError } from "../../foreign/error.ts";
import { findForeignSession, shortReferences } from "../../foreign/find.ts";
import { listForeignSessions, type ForeignSession } from "../../foreign/list.ts";
import { importStateOf, saveForeignSession, type ImportState, type SavedImport } from "../../foreign/save.ts";
import { listImportedSources } from "../../session/store/sources.ts";
import type { Arguments } from "../command.ts";
import { formatTime, printJson } from "../format.ts";
import { withProgress } from "../progress.ts";
import { alignColumns, columnWidths, maxWidth, sanitizeLine, truncate } from "../text-table.ts";
import { UserError, usageError } from "../user-error.ts";
import type { SessionsContext } from "./context.ts";

/** Whether the arguments of `parley sessions import` are about sessions of other agents instead of a file. */
export const isForeignImport = (args: Arguments): boolean => {
  const [, first] = args.positionals;
  const from = args.value("from");
  if (first !== undefined) return parseForeignReference(first) !== undefined;
  return from === undefined || isForeignAgent(from);
};

/** `parley sessions import` without a file: lists sessions of other agents, or imports some. */
export const importForeign = async (context: SessionsContext, args: Arguments): Promise<number> => {
  try {
    const from = args.value("from");
    const references = args.positionals.slice(1);
    if (references.length > 0) {
      if (args.has("all") || from !== undefined)
        throw usageError("--all and --from import every session; do not name one as well.");
      return await importAll(context, args, await findAll(context, references));
    }
    if (from === undefined) return await listAll(context, args);
    return await importAll(context, args, (await listSessions(context, args, agentOf(from))).sessions);
  } catch (error) {
    if (error instanceof ForeignSessionError) throw new UserError(sanitizeLine(error.message), { code: 1 });
    throw error;
  }
};

const agentOf = (word: string): ForeignAgent => {
  if (isForeignAgent(word)) return word;
  throw usageError(`Unknown agent "${word}". Available: ${foreignAgents.join(", ")}.`);
};

const listSessions = (
  { world, root }: SessionsContext,
  args: Arguments,
  agent?: ForeignAgent,
): ReturnType<typeof listForeignSessions> =>
  withProgress("Looking for sessions of other agents", () =>
    listForeignSessions(world, {
      home: world.host.home,
      folder: args.has("all") ? undefined : root,
      agents: agent === undefined ? undefined : [agent],
    }),
  );

const listAll = async (context: SessionsContext, args: Arguments): Promise<number> => {
  const { sessions, problems } = await listSessions(context, args);
  const imported = await listImportedSources(context.world, context.home.data);
  const rows = sessions.map((session) => ({ session, state: importStateOf(session, imported) }));
  if (args.has("json"))
    return printJson({ sessions: rows.map(({ session, state }) => ({ ...toJson(session), import: state })), problems });
  for (const problem of problems) process.stderr.write(`parley: ${sanitizeLine(problem)}\n`);
  if (rows.length === 0)
    process.stderr.write(
      `parley: No sessions of other agents${args.has("all") ? "" : " in this folder; use --all for all folders"}.\n`,
    );
  else process.stdout.write(formatRows(rows, args.has("all")));
  return 0;
};

const toJson = ({ location, ...session }: ForeignSession): object => ({
  ...session,
  path: [location.base, ...location.path].join("/"),
});

type ForeignRow = { readonly session: ForeignSession; readonly state: ImportState };

const formatRows = (rows: readonly ForeignRow[], withFolder: boolean): string => {
  const references = shortReferences(rows.map(({ session }) => session));
  const cells = rows.map(({ session, state }) => [
    references.get(session) ?? "",
    formatTime(session.modified),
    describeState(state),
    ...(withFolder ? [truncate(sanitizeLine(session.folder ?? ""), 40)] : []),
    sanitizeLine(session.title),
  ]);
  const table = [["session", "last used", "imported", ...(withFolder ? ["folder"] : []), "title"], ...cells];
  const used = columnWidths(table.map((row) => row.slice(0, -1))).reduce((sum, width) => sum + width + 2, 2);
  const lines = alignColumns(
    table.map((row) => [...row.slice(0, -1), truncate(row.at(-1) ?? "", Math.max(20, maxWidth - used))]),
  );
  return lines.map((line) => `${line}\n`).join("");
};

const describeState = (state: ImportState): string => {
  switch (state.type) {
    case "new":
      return "";
    case "imported":
      return state.id;
    case "changed":
      return `${state.id} (changed since)`;
  }
};

const findAll = async (
  { world, root }: SessionsContext,
  references: readonly string[],
): Promise<readonly ForeignSession[]> => {
  const found: ForeignSession[] = [];
  for (const text of references) {
    const reference = parseForeignReference(text);
    if (reference === undefined)
      throw usageError(`Not a session of another agent: "${text}". Write it as AGENT:ID, such as claude:1f2e3d4c.`);
    found.push(await findForeignSession(world, reference, { home: world.host.home, folder: root }));
  }
  return found;
};

type ImportResult =
  | (SavedImport & { readonly agent: string; readonly source: string })
  | { readonly agent: string; readonly source: string; readonly state: "failed"; readonly reason: string };

const importAll = async (
  context: SessionsContext,
  args: Arguments,
  sessions: readonly ForeignSession[],
): Promise<number> => {
  if (sessions.length === 0)
    throw new ForeignSessionError(
      `No sessions to import${args.has("all") ? "" : " in this folder; use --all for all folders"}.`,
    );
  const results: ImportResult[] = [];
  // A session comes before its forks, which are linked to it.
  const oldestFirst = sessions.toSorted((one, other) => one.created - other.created);
  for (const [index, session] of oldestFirst.entries()) {
    const result = await importOne(
      context,
      args,
      session,
      sessions.length === 1 ? "" : ` (${index + 1} of ${sessions.length})`,
    );
    results.push(result);
    if (!args.has("json")) printResult(session, result);
  }
  if (args.has("json")) printJson({ dryRun: args.has("dry-run"), sessions: results });
  else if (results.length > 1) process.stderr.write(`parley: ${summarizeResults(results)}\n`);
  return results.some(({ state }) => state === "failed") ? 1 : 0;
};

/** How many sessions there were of each result, such as `12 imported, 3 already imported, 1 failed`. */
const summarizeResults = (results: readonly ImportResult[]): string =>
  Object.entries(resultNames)
    .map(([state, name]) => [results.filter((result) => result.state === state).length, name] as const)
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count} ${name}`)
    .join(", ")
    .concat(".");

const resultNames: { readonly [state in ImportResult["state"]]: string } = {
  imported: "imported",
  "would-import": "would be imported",
  unchanged: "already imported",
  changed: "imported before and changed since (--again)",
  failed: "failed",
};

const importOne = async (
  context: SessionsContext,
  args: Arguments,
  session: ForeignSession,
  count: string,
): Promise<ImportResult> => {
  const { agent, id: source } = session;
  try {
    const saved = await withProgress(`Importing ${agent}:${sanitizeLine(source)}${count}`, (onProgress) =>
      saveForeignSession({ ...context, home: context.home.data }, session, {
        again: args.has("again"),
        dryRun: args.has("dry-run"),
        title: args.value("title"),
        onProgress,
      }),
    );
    return { agent, source, ...saved };
  } catch (error) {
    if (!(error instanceof ForeignSessionError)) throw error;
    return { agent, source, state: "failed", reason: error.message };
  }
};

const printResult = (session: ForeignSession, result: ImportResult): void => {
  const name = sanitizeLine(`${session.agent}:${session.id}${session.title === "" ? "" : ` "${session.title}"`}`);
  if (result.state === "failed") return void process.stderr.write(`parley: ${name}: ${sanitizeLine(result.reason)}\n`);
  const { id = "", entries, leftOut, root, missingFolder, others } = result;
  const note = (text: string): void => void process.stderr.write(`parley: ${text}\n`);
  switch (result.state) {
    case "unchanged":
      process.stdout.write(`${id}\n`);
      return note(`${name} was already imported, and has not changed since.`);
    case "changed":
      process.stdout.write(`${id}\n`);
      return note(`${name} was imported before and has changed since. Import it as a new session with --again.`);
    case "would-import":
      process.stdout.write(`Would import ${name}: ${countEntries(entries)}.\n`);
      break;
    case "imported":
      process.stdout.write(`${id}\n`);
      note(`Imported from ${agentLabels[session.agent]}: ${countEntries(entries)}. Resume with parley --resume ${id}`);
  }
  if (missingFolder !== undefined)
    note(`Its folder ${sanitizeLine(missingFolder)} does not exist; it belongs to ${sanitizeLine(root)} now.`);
  for (const { kind, name: part, id: own, entries: count } of others)
    note(
      `${own === undefined ? "Would import" : `Session ${own} is`} its ${kind} ${sanitizeLine(part)}: ${countEntries(count)}.`,
    );
  if (leftOut.length > 0) note(`Left out: ${formatOmissions(leftOut)}.`);
};

const countEntries = (count: number): string => (count === 1 ? "1 entry" : `${count} entries`);

const formatOmissions = (leftOut: readonly Omission[]): string =>
  sanitizeLine(leftOut.map(({ what, count }) => `${count} ${what}`).join(", "));
