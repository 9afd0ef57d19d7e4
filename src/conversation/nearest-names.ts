/** The known names most like a given one, nearest first, at most three; none that would be a wild guess. */
export const nearestNames = (given: string, known: readonly string[]): readonly string[] => {
  const plain = normalizeName(given);
  if (plain === "") return [];
  const allowed = Math.max(2, Math.floor(plain.length / 3));
  return known
    .map((name) => ({ name, distance: nameDistance(plain, normalizeName(name)) }))
    .filter((candidate) => candidate.distance <= allowed)
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, 3)
    .map(({ name }) => name);
};

/** `ReadFile`, `read-file` and `read_file` are one name to who mistypes it. Longer names are no names. */
const normalizeName = (name: string): string =>
  name
    .slice(0, 100)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");

/** A name that was begun is as good as typed. */
const nameDistance = (given: string, name: string): number => (name.startsWith(given) ? 0 : editDistance(given, name));

/** How many letters must be added, removed or replaced. */
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
