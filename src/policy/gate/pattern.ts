/** Whether a text matches a pattern in which `*` stands for any text. Linear in memory, and never exponential in time. */
export const matchesGlob = (pattern: string, text: string): boolean => {
  let [at, from, star, resume] = [0, 0, -1, 0];
  while (from < text.length) {
    if (pattern[at] === "*") [star, resume, at] = [at, from, at + 1];
    else if (at < pattern.length && pattern[at] === text[from]) [at, from] = [at + 1, from + 1];
    else if (star >= 0) [at, resume, from] = [star + 1, resume + 1, resume + 1];
    else return false;
  }
  return /^\**$/.test(pattern.slice(at));
};

/**
 * Whether a path matches a pattern of file rules, or lies below a folder that does. `**` stands for any number of
 * names, `*` for any text within one.
 */
export const matchesPathPattern = (pattern: string, path: string): boolean => {
  const names = splitPath(path);
  /** The numbers of pattern parts that the names read so far can match. */
  let reached: ReadonlySet<number> = new Set([0]);
  const parts = splitPath(pattern);
  for (const name of names) {
    const next = new Set<number>();
    for (const at of skipDoubleStars(reached, parts)) {
      const part = parts[at];
      if (part === undefined) return true;
      if (part === "**") next.add(at);
      else if (matchesGlob(part, name)) next.add(at + 1);
    }
    reached = next;
  }
  return skipDoubleStars(reached, parts).has(parts.length) && (parts.at(-1) !== "**" || names.length >= parts.length);
};

/** A `**` may stand for no name at all. */
const skipDoubleStars = (reached: ReadonlySet<number>, parts: readonly string[]): ReadonlySet<number> => {
  const all = new Set(reached);
  for (const at of all) if (parts[at] === "**") all.add(at + 1);
  return all;
};

const splitPath = (path: string): readonly string[] => path.split("/").filter((name) => name !== "" && name !== ".");
