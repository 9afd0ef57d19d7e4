import { join } from "node:path";
import type { InProject, Match } from "../session/store.ts";
import type { Summary } from "../session/summary.ts";
import { foundIn } from "../session/list.ts";
import type { Arguments } from "./arguments.ts";
import { misused } from "./failure.ts";
import type { Store } from "./session-store.ts";
import { countOf, printJson, whenOf } from "./session-words.ts";
import type { SessionAction } from "./sessions.ts";
import { aligned, oneLine, shortened, widest, widthsOf } from "./table.ts";

/** `parley sessions list`. */
export const list: SessionAction = async (store, given) => {
  const [, extra] = given.words;
  if (extra !== undefined) throw misused(`sessions list does not know what to do with "${extra}".`);
  const limit = countOf(given, "limit");
  if (given.has("quiet")) return printIds(store, given, limit ?? Number.POSITIVE_INFINITY);
  const found = await store.sessions.list({ ...scopeOf(store, given), limit: limit ?? 50 });
  if (given.has("json")) return printJson({ sessions: found });
  if (found.length === 0) process.stderr.write(`parley: ${noneIn(given)}\n`);
  else process.stdout.write(given.has("all") ? byFolder(found, store) : lines(tableOf(found)));
  return 0;
};

/** `parley sessions search`. */
export const search: SessionAction = async (store, given) => {
  const words = given.words.slice(1).join(" ").trim();
  if (words === "") throw misused("Say what to look for: parley sessions search WORDS.");
  const limit = countOf(given, "limit") ?? 20;
  const matches = await store.sessions.search(words, { ...scopeOf(store, given), limit });
  if (given.has("json")) printJson({ matches });
  else if (matches.length > 0) process.stdout.write(matches.map(matchText).join("\n"));
  if (matches.length > 0) return 0;
  process.stderr.write(
    `parley: "${oneLine(words)}" stands in no session${given.has("all") ? "" : " of this folder; --all looks in every folder"}.\n`,
  );
  return 1;
};

const scopeOf = ({ root }: Store, given: Arguments): InProject => (given.has("all") ? {} : { root });

/** Ids need no look into any file: shells ask for them while somebody types. */
const printIds = async ({ world: { disk }, home, root }: Store, given: Arguments, most: number): Promise<number> => {
  const scope = { disk, base: join(home, "sessions"), ...(given.has("all") ? {} : { root }) };
  const ids = (await foundIn(scope)).slice(0, most).map(({ id }) => id);
  process.stdout.write(lines(ids));
  return 0;
};

const lines = (each: readonly string[]): string => each.map((line) => `${line}\n`).join("");

const noneIn = (given: Arguments): string =>
  given.has("all")
    ? 'there are no sessions yet. Begin one: parley -p "TEXT".'
    : "there are no sessions of this folder yet; --all shows those of other folders.";

const byFolder = (found: readonly Summary[], { world: { host } }: Store): string => {
  const roots = [...new Set(found.map(({ root }) => root))];
  return roots
    .map((root) => {
      const home = root.startsWith(`${host.home}/`) ? `~${root.slice(host.home.length)}` : root;
      const head = root === "" ? "(folder unknown)" : oneLine(home);
      return `${head}\n${lines(tableOf(found.filter((each) => each.root === root)).map((line) => `  ${line}`))}`;
    })
    .join("\n");
};

const tableOf = (found: readonly Summary[]): readonly string[] => {
  const rows = [["id", "last used", "model", "turns", "title"], ...found.map(cellsOf)];
  const taken = widthsOf(rows.map((row) => row.slice(0, -1))).reduce((sum, width) => sum + width + 2, 2);
  const room = Math.max(20, widest - taken);
  return aligned(
    rows.map((row) => [...row.slice(0, -1), shortened(row.at(-1) ?? "", room)]),
    { right: [3] },
  );
};

const cellsOf = ({ id, modified, models, turns, title }: Summary): readonly string[] => {
  const last = shortened(oneLine(models.at(-1)?.replace(/\/$/, "") ?? ""), longestModel);
  return [
    id,
    whenOf(modified),
    models.length > 1 ? `${last} +${models.length - 1}` : last,
    turns === undefined ? "" : String(turns),
    oneLine(title),
  ];
};

const longestModel = 32;

const matchText = ({ summary: { id, modified, title }, excerpts }: Match): string =>
  lines([
    shortened(`${id}  ${whenOf(modified)}  ${oneLine(title)}`, widest),
    ...excerpts.map(({ who, text }) => `    ${who}: ${oneLine(text)}`),
  ]);
