import { join } from "node:path";
import { listHomeFolders, type HomeFolders } from "../../../world/home-folders.ts";
import type { World } from "../../../world/world.ts";
import { guardWorkspace } from "./guard.ts";
import { findHiddenPaths } from "./hidden-paths.ts";
import { explainSandboxFailure, explainQuarantine } from "./explain.ts";
import type { Sandbox } from "./find.ts";
import { isInside } from "../../workspace/paths.ts";
import type { Protection } from "../../workspace/protected-paths.ts";
import type { Confine } from "../run.ts";

type ConfinerOptions = {
  readonly world: Pick<World, "disk" | "files" | "host" | "processes">;
  /** As the user gave them. */
  readonly roots: readonly string[];
  /** Folders outside the workspace that commands may read, even inside hidden ones. */
  readonly readable: readonly string[];
  /** The agent's own folders. */
  readonly home: HomeFolders;
  readonly scratch: string;
  readonly network: boolean;
  /** Folders besides the agent's own that commands do not see. */
  readonly hiddenFolders: readonly string[];
  readonly protection: (path: string) => Protection;
};

/** Creates the function that confines the commands of a session. Writable, readable and hidden paths are determined anew for each. */
export const createConfiner = (sandbox: Sandbox, options: ConfinerOptions): Confine => {
  const { world, roots, readable, home, scratch, network, hiddenFolders, protection } = options;
  const { disk, files, host, processes } = world;
  const find = async (name: string, searchPath: string): Promise<string | undefined> => {
    const file = await processes.find(name, searchPath);
    return file === undefined ? undefined : disk.canonicalPath(file);
  };
  const emptyFile = join(home.state, "sandbox", "empty");
  let isEmptyFileMade = false;
  const listExisting = async (paths: readonly string[]): Promise<readonly string[]> =>
    (await Promise.all(paths.map((path) => disk.canonicalPath(path)))).filter((path) => path !== undefined);
  return async (program, given = {}) => {
    if (!isEmptyFileMade) await files.writePrivate(emptyFile, "");
    isEmptyFileMade = true;
    const existingRoots = await listExisting(roots);
    const writable = [...existingRoots, ...(await listExisting([scratch, ...(given.writable ?? [])]))];
    const ownFolders = await Promise.all(
      listHomeFolders(home).map(async (path) => (await disk.canonicalPath(path)) ?? path),
    );
    const isInAny = (path: string, folders: readonly string[]): boolean => folders.some((each) => isInside(path, each));
    const readOnly = (await listExisting(readable)).filter(
      (path) => !isInAny(path, writable) || isInAny(path, ownFolders),
    );
    const [hiddenPaths, guard] = await Promise.all([
      findHiddenPaths({ disk, files, host, ownFolders: [...ownFolders, ...hiddenFolders], writable }),
      guardWorkspace({ disk, roots: existingRoots, protection, except: ownFolders }),
    ]);
    const confined = sandbox.confine(program, {
      ...hiddenPaths,
      writable: [...writable, ...guard.repositories.filter((path) => !writable.includes(path))],
      readOnly: [...guard.readOnly, ...readOnly],
      emptyFile: (await disk.canonicalPath(emptyFile)) ?? emptyFile,
      network,
    });
    return {
      program: confined,
      finish: async (end) => {
        const quarantined = await guard.quarantine();
        return [
          ...explainQuarantine(quarantined),
          ...(guard.isPartial
            ? ["(Sandbox: the workspace is too large; protected paths deep inside it were writable.)"]
            : []),
          ...(await explainSandboxFailure({
            ...end,
            program,
            network,
            places: hiddenPaths,
            readOnly: guard.readOnly,
            find,
          })),
        ].join("\n");
      },
    };
  };
};
