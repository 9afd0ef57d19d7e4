import type { Disk, Folder } from "../../../../world/disk.ts";

/** A file that was found. `name` is what it is called by: folders and file, with colons between. */
export type CommandFile = { readonly name: string; readonly label: string; readonly text: string };

/** What is looked for: files below a folder, by how their names end. */
export type CommandFileSearch = { readonly from: string; readonly path: readonly string[]; readonly extension: string };

const limits = { files: 200, bytes: 100_000, depth: 4 };

/** The texts below a folder, by name. No link is followed on the way; a folder that is not there holds none. */
export const readCommandFiles = async (
  disk: Disk,
  { from, path, extension: ends }: CommandFileSearch,
): Promise<readonly CommandFile[]> => {
  const canonical = await disk.canonicalPath(from).catch(() => undefined);
  if (canonical === undefined) return [];
  const found: CommandFile[] = [];
  const enter = async (folder: Folder, rest: readonly string[]): Promise<void> => {
    const [next, ...after] = rest;
    if (next === undefined) return gather(folder, []);
    const inner = await folder.openFolder(next);
    try {
      await enter(inner, after);
    } finally {
      await inner.close();
    }
  };
  const gather = async (folder: Folder, above: readonly string[]): Promise<void> => {
    const names: { readonly name: string; readonly kind: string }[] = [];
    for await (const each of folder.list()) if (names.length < limits.files) names.push(each);
    for (const { name, kind } of names.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      if (found.length >= limits.files) return;
      if (kind === "file" && name.endsWith(ends)) found.push(await read(folder, [...above, name]));
      if (kind !== "folder" || above.length >= limits.depth) continue;
      const inner = await folder.openFolder(name);
      await gather(inner, [...above, name]).finally(inner.close);
    }
  };
  const read = async (folder: Folder, names: readonly string[]): Promise<CommandFile> => {
    const file = await folder.openFile(names.at(-1) ?? "");
    try {
      const { size } = await file.stat();
      const bytes = await file.read(0, Math.min(size, limits.bytes));
      const name = names.join(":").slice(0, -ends.length);
      return { name, label: [...path, ...names].join("/"), text: new TextDecoder().decode(bytes) };
    } finally {
      await file.close();
    }
  };
  const root = await disk.openFolder(canonical);
  try {
    await enter(root, path);
  } catch {
    // No such folder, or something in it that is not ours to read: what was found until then counts.
  } finally {
    await root.close();
  }
  return found;
};
