/** Tokens as people say them: 950, 12k, 1.2M. */
export const formatTokenCount = (count: number): string => {
  if (count < 1000) return String(Math.round(count));
  return count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${Number((count / 1_000_000).toFixed(1))}M`;
};

/** Money, as exact as it is worth. */
export const formatDollars = (cost: number): string => `$${cost.toFixed(cost < 1 ? 4 : 2)}`;

/** One of several words for a number of things. */
export const pluralize = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** A text in a table of Markdown: on one line, with nothing that ends a cell. */
export const escapeCell = (text: string): string => text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").trim();
