/** Tokens as people say them: 950, 12k, 1.2M. */
export const tokenCount = (count: number): string => {
  if (count < 1000) return String(Math.round(count));
  return count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${Number((count / 1_000_000).toFixed(1))}M`;
};

/** Money, as exact as it is worth. */
export const dollars = (cost: number): string => `$${cost.toFixed(cost < 1 ? 4 : 2)}`;

/** One of several words for a number of things. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** A text in a table of Markdown: on one line, with nothing that ends a cell. */
export const cell = (text: string): string => text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").trim();
