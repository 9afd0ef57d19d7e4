import { truncate } from "../text-table.ts";
import type { TourVisit } from "./visit.ts";

/** The table of the tour, at most 80 characters wide, with fixed columns so that rows can be printed one by one. */
export type TourTable = { readonly heading: string; readonly row: (visit: TourVisit) => string };

/** Creates a table for these providers. */
export const createTourTable = (providers: readonly string[]): TourTable => {
  const widths = [Math.max(...providers.map((id) => id.length)), 8, 30, 6, 6, 7];
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => truncate(cell, widths[column] ?? 0).padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return {
    heading: line(["provider", "accepted", "id of the first call", "image", "cached", "repairs"]),
    row: (visit) => line(cellsOf(visit)),
  };
};

const cellsOf = (visit: TourVisit): readonly string[] => {
  const { provider, accepted, refusals, ids, image, notes } = visit;
  return [
    provider,
    `${accepted} of ${accepted + refusals.length}`,
    ids[0] ?? "",
    image,
    `${Math.round(100 * cachedShare(visit))}%`,
    `${notes.state}/${notes.rendering}/${notes.projection}`,
  ];
};

/** Returns the share of the second request that came from the prompt cache, from 0 to 1. */
export const cachedShare = ({ prompt }: TourVisit): number => (prompt.tokens === 0 ? 0 : prompt.cached / prompt.tokens);

/** Explanation of the columns. */
export const tableLegend: readonly string[] = [
  "accepted  requests its simulator accepted; it rejects what the real API rejects",
  "image     inside the tool result, after the results, or only described as text",
  "cached    share of the second request that came from the prompt cache",
  "repairs   state repaired / moved, added or omitted / adapted to this API",
];

/** Whether a visit succeeded: no request rejected, the turn finished, the image sent or described. */
export const isSuccessful = ({ refusals, accepted, end, image }: TourVisit): boolean =>
  refusals.length === 0 && accepted > 0 && end === "finished" && image !== "lost" && image !== "unseen";
