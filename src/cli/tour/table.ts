import { truncate } from "../text-table.ts";
import type { TourVisit } from "./visit.ts";

/** Rows of the tour's table, each as soon as it is known. At most 80 letters wide. */
export type TourTable = { readonly heading: string; readonly row: (visit: TourVisit) => string };

/** A table for these providers. */
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

/** How much of the second prompt the provider had in its cache, from 0 to 1. */
export const cachedShare = ({ prompt }: TourVisit): number => (prompt.tokens === 0 ? 0 : prompt.cached / prompt.tokens);

/** What the columns mean. */
export const tableLegend: readonly string[] = [
  "accepted  requests its simulator took; it refuses whatever the real API refuses",
  "image     inside its result, after the results, or only named to the model",
  "cached    share of the second prompt that was in the provider's cache already",
  "repairs   damage mended / moved, filled in or left out / respelt for this API",
];

/** Whether everything went as it should: nothing refused, the turn finished, the image there or named. */
export const isSuccessful = ({ refusals, accepted, end, image }: TourVisit): boolean =>
  refusals.length === 0 && accepted > 0 && end === "finished" && image !== "lost" && image !== "unseen";
