import type { RunChecks } from "./checks.ts";

/** The results of one client, by target. */
export type ClientRow = { readonly client: string; readonly cells: Readonly<Record<string, RunChecks>> };

/** Writes the table of targets and clients. */
export const writeClientTable = (rows: readonly ClientRow[], targets: readonly string[]): string =>
  [
    `| target | ${rows.map(({ client }) => client).join(" | ")} |`,
    `| --- |${rows.map(() => " --- |").join("")}`,
    ...targets.map((target) => `| \`${target}\` | ${rows.map(({ cells }) => cellOf(cells[target])).join(" | ")} |`),
  ].join("\n");

const cellOf = (checks: RunChecks | undefined): string => {
  if (checks === undefined) return "not run";
  if (checks.faults.length > 0) return [...new Set(checks.faults)].join(", ");
  return ["✓", ...(checks.images > 0 ? ["image"] : []), ...(checks.thinking ? ["thinking"] : [])].join(" ");
};

/** The result of one scene of a client at a target. */
export type SceneResult = {
  readonly faults: readonly string[];
  readonly detail?: string;
  /** Set where the client does not do what the scene is about. */
  readonly isUnused?: boolean;
};

/** Results by client, scene and target. */
export type SceneResults = Record<string, Record<string, Record<string, SceneResult>>>;

/** Writes the table of clients and scenes. A cell says at how many targets the scene held, or its faults. */
export const writeSceneTable = (clients: readonly string[], scenes: readonly string[], results: SceneResults): string =>
  [
    `| client | ${scenes.join(" | ")} |`,
    `| --- |${scenes.map(() => " --- |").join("")}`,
    ...clients.map(
      (client) => `| ${client} | ${scenes.map((scene) => sceneCell(results[client]?.[scene])).join(" | ")} |`,
    ),
  ].join("\n");

const sceneCell = (byTarget: Readonly<Record<string, SceneResult>> | undefined): string => {
  if (byTarget === undefined) return "not run";
  const all = Object.entries(byTarget);
  const bad = all.filter(([, { faults }]) => faults.length > 0);
  const details = [...new Set(all.map(([, { detail }]) => detail ?? "").filter((text) => text !== ""))];
  const held = all.filter(([, { faults, isUnused }]) => faults.length === 0 && isUnused !== true);
  const good = held.length === 0 ? [] : [`✓ ${held.length}`];
  return [...good, ...details, ...bad.map(([target, { faults }]) => `${target}: ${faults.join(", ")}`)].join("; ");
};

/** Puts a table between the markers of a document. Cells that were not run now keep the result the document has. */
export const replaceTable = (document: string, marker: string, table: string): string =>
  document.replace(
    new RegExp(`(<!-- ${marker} -->\\n)([^]*?)(<!-- /${marker} -->)`),
    (_whole, start: string, old: string, end: string) => `${start}\n${keepResults(old, table)}\n\n${end}`,
  );

const keepResults = (old: string, table: string): string => {
  const now = rowsOf(table);
  const [heads = [], , ...before] = rowsOf(old);
  const [columns = []] = now;
  const all = [...now, ...before.filter(([name]) => !now.some(([other]) => other === name))];
  return all
    .map(([name = "", ...cells]) => {
      const known = before.find(([other]) => other === name);
      return [
        name,
        ...cells.map((cell, at) =>
          cell === "not run" ? (known?.[heads.indexOf(columns[at + 1] ?? "")] ?? cell) : cell,
        ),
      ];
    })
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
};

const rowsOf = (table: string): readonly (readonly string[])[] =>
  table
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
