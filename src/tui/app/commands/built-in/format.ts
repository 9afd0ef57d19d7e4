/** Formats a token count: 950, 12k, 1.2M. */
export const formatTokenCount = (count: number): string => {
  if (count < 1000) return String(Math.round(count));
  return count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${Number((count / 1_000_000).toFixed(1))}M`;
};

/** Formats dollars: four decimals below $1, else two. */
export const formatDollars = (cost: number): string => `$${cost.toFixed(cost < 1 ? 4 : 2)}`;

/** Formats a count with a singular or plural noun. */
export const pluralize = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** Escapes text for a cell of a Markdown table. */
export const escapeCell = (text: string): string => text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").trim();
