/** The known names within a few typing errors of a given one, nearest first. */
export const nearest = (given: string, known: readonly string[]): readonly string[] => {
  const allowed = Math.max(2, Math.floor(given.length / 3));
  return known
    .map((name) => ({ name, distance: name.startsWith(given) ? 0 : distance(given.toLowerCase(), name) }))
    .filter((candidate) => candidate.distance <= allowed)
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, 3)
    .map((candidate) => candidate.name);
};

/** Levenshtein distance. */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[other.length]!;
};
