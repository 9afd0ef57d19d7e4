import { textOf, type ForeignRecord } from "./json.ts";

/** Lists the ids of the rows below one, by the column that names each row's parent; each once, also in a circle. */
export const listDescendants = (rows: readonly ForeignRecord[], column: string, id: string): readonly string[] => {
  const children = new Map<string, string[]>();
  for (const row of rows) {
    const parent = textOf(row[column]);
    children.set(parent, [...(children.get(parent) ?? []), textOf(row["id"])]);
  }
  const found = new Set<string>();
  const visit = (parent: string): void => {
    for (const child of children.get(parent) ?? []) {
      if (child === id || found.has(child)) continue;
      found.add(child);
      visit(child);
    }
  };
  visit(id);
  return [...found];
};
