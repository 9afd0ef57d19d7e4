import type { Disk, Folder } from "../../../../world/disk.ts";

/** A command file. `name` is the command's name: folders and file joined by colons. */
export type CommandFile = { readonly name: string; readonly label: string; readonly text: string };

/** The files to look for: below a folder, with an extension. */
export type CommandFileSearch = { readonly from: string; readonly path: readonly string[]; readonly extension: string };

const limits = { files: 200, bytes: 100_000, depth: 4 };

/** Reads the command files below a folder, sorted by name. Links are not followed; a missing folder has none. */
export const readCommandFiles = async (
  disk: Disk,
  { from, path, extension }: CommandFileSearch,
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
      if (kind === "file" && name.endsWith(extension)) found.push(await read(folder, [...above, name]));
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
      const name = names.join(":").slice(0, -extension.length);
      return { name, label: [...path, ...names].join("/"), text: new TextDecoder().decode(bytes) };
    } finally {
      await file.close();
    }
  };
  const root = await disk.openFolder(canonical);
  try {
    await enter(root, path);
  } catch {
    // A missing or unreadable folder: the files found so far are used.
  } finally {
    await root.close();
  }
  return found;
};
