/** Suggests known names for a mistyped one: at most three, nearest by edit distance first, none that differs too much. */
export const nearestNames = (given: string, known: readonly string[]): readonly string[] => {
  const plain = normalizeName(given);
  if (plain === "") return [];
  // Of a name with one or two characters, at least one must be right.
  const allowed = Math.min(plain.length - 1, Math.max(2, Math.floor(plain.length / 3)));
  return known
    .map((name) => ({ name, distance: nameDistance(plain, normalizeName(name)) }))
    .filter((candidate) => candidate.distance <= allowed)
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, 3)
    .map(({ name }) => name);
};

/** Makes `ReadFile`, `read-file` and `read_file` equal. Only the first 100 characters count. */
const normalizeName = (name: string): string =>
  name
    .slice(0, 100)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");

/** A prefix of a name has distance 0. */
const nameDistance = (given: string, name: string): number => (name.startsWith(given) ? 0 : editDistance(given, name));

/** Levenshtein distance: how many letters must be added, removed or replaced. */
const editDistance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let index = 0; index < one.length; index++) {
    const next = [index + 1];
    for (let at = 0; at < other.length; at++)
      next.push(
        Math.min((row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1, (row[at] ?? 0) + (one[index] === other[at] ? 0 : 1)),
      );
    row = next;
  }
  return row[other.length] ?? 0;
};
