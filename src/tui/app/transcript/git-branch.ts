import { dirname, isAbsolute, join } from "node:path";
import type { World } from "../../../world/world.ts";

/** Reads the branch that is checked out in a folder's repository, or the start of the commit; undefined without one. */
export const readGitBranch = async ({ files }: Pick<World, "files">, folder: string): Promise<string | undefined> => {
  try {
    for (let at = folder; ; at = dirname(at)) {
      const head = await readHead(files, join(at, ".git"));
      if (head !== undefined) return /^ref: refs\/heads\/(.+)$/m.exec(head)?.[1]?.trim() ?? head.trim().slice(0, 8);
      if (dirname(at) === at) return undefined;
    }
  } catch {
    // The branch is only shown: a repository that cannot be read has none.
    return undefined;
  }
};

/** In a linked worktree, `.git` is a file that names the folder. */
const readHead = async (files: World["files"], git: string): Promise<string | undefined> => {
  const head = await files.read(join(git, "HEAD")).catch(() => undefined);
  if (head !== undefined) return head;
  const link = /^gitdir: (.+)$/m.exec((await files.read(git).catch(() => undefined)) ?? "")?.[1]?.trim();
  if (link === undefined) return undefined;
  return files.read(join(isAbsolute(link) ? link : join(dirname(git), link), "HEAD"));
};
