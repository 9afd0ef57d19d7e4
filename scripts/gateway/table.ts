import type { RunChecks } from "./checks.ts";

/** The results of one client, by target. */
export type ClientRow = { readonly client: string; readonly cells: Readonly<Record<string, RunChecks>> };

/** Writes the table of clients and targets. A cell says how many requests were sent, or its faults. */
export const writeClientTable = (rows: readonly ClientRow[], targets: readonly string[]): string =>
  [
    `| client | ${targets.map((target) => `\`${target}\``).join(" | ")} |`,
    `| --- |${targets.map(() => " --- |").join("")}`,
    ...rows.map(({ client, cells }) => `| ${client} | ${targets.map((target) => cellOf(cells[target])).join(" | ")} |`),
  ].join("\n");

const cellOf = (checks: RunChecks | undefined): string => {
  if (checks === undefined) return "not run";
  if (checks.faults.length > 0) return [...new Set(checks.faults)].join(", ");
  return checks.images > 0 ? "✓ image" : "✓";
};
