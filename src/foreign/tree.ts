/** A record of a file whose records name their parent. */
export type TreeNode = { readonly id: string; readonly parent: string | undefined };

/** Lists the last records of the branches beside the active one, newest first. `pathTo` returns the records of a branch. */
export const listOtherLeaves = (
  messages: readonly string[],
  active: ReadonlySet<string>,
  pathTo: (leaf: string) => ReadonlySet<string>,
): readonly string[] => {
  const covered = new Set(active);
  const leaves: string[] = [];
  // The last record that no branch contains yet is the end of one.
  for (const id of messages.toReversed()) {
    if (covered.has(id)) continue;
    leaves.push(id);
    covered.add(id);
    for (const each of pathTo(id)) covered.add(each);
    if (leaves.length === maxBranches) break;
  }
  return leaves;
};

/** A file with more branches is damaged, or made to waste time. */
const maxBranches = 100;

/** The path to the last leaf of a tree of records, and what is not on it. */
export type ActivePath = {
  readonly ids: ReadonlySet<string>;
  /** How many other branches there are, by their leaves. */
  readonly branches: number;
  /** How many parents were not found; the record before was taken instead. */
  readonly brokenLinks: number;
};

/**
 * Follows the parents from a leaf, the last record unless named, to the root. A parent that is missing or would close a
 * circle is replaced by the record before in the file.
 */
export const findActivePath = (nodes: readonly TreeNode[], leaf?: string): ActivePath => {
  const at = new Map<string, number>();
  nodes.forEach(({ id }, index) => at.set(id, index));
  const parents = new Set(nodes.map(({ parent }) => parent));
  const ids = new Set<string>();
  let brokenLinks = 0;
  let index = (leaf === undefined ? undefined : at.get(leaf)) ?? nodes.length - 1;
  while (index >= 0) {
    const { id, parent } = nodes[index]!;
    ids.add(id);
    if (parent === undefined) break;
    const next = at.get(parent);
    if (next === undefined || ids.has(parent)) {
      brokenLinks += 1;
      do index -= 1;
      while (index >= 0 && ids.has(nodes[index]!.id));
    } else index = next;
  }
  const branches = nodes.filter(({ id }) => !parents.has(id) && !ids.has(id)).length;
  return { ids, branches, brokenLinks };
};
