import { join } from "node:path";
import type { Program } from "../../../world/processes.ts";
import type { World } from "../../../world/world.ts";
import { guardWorkspace } from "./guard.ts";
import { findHiddenPaths } from "./hidden-paths.ts";
import { explainSandboxFailure, explainQuarantine } from "./explain.ts";
import type { Sandbox } from "./find.ts";
import type { Protection } from "../../workspace/protected-paths.ts";
import type { ConfinedProgram } from "../run.ts";

type ConfinerOptions = {
  readonly world: Pick<World, "disk" | "files" | "host" | "processes">;
  /** As the person gave them. */
  readonly roots: readonly string[];
  /** The agent's own folder. */
  readonly home: string;
  readonly scratch: string;
  readonly network: boolean;
  readonly protection: (path: string) => Protection;
};

/** Confines the commands of a session: what may be written, read and reached is found anew for each. */
export const createConfiner = (
  sandbox: Sandbox,
  options: ConfinerOptions,
): ((program: Program) => Promise<ConfinedProgram>) => {
  const { world, roots, home, scratch, network, protection } = options;
  const { disk, files, host, processes } = world;
  const find = async (name: string, searchPath: string): Promise<string | undefined> => {
    const file = await processes.find(name, searchPath);
    return file === undefined ? undefined : disk.canonicalPath(file);
  };
  const emptyFile = join(home, "sandbox", "empty");
  let isEmptyFileMade = false;
  return async (program) => {
    if (!isEmptyFileMade) await files.writePrivate(emptyFile, "");
    isEmptyFileMade = true;
    const there = await Promise.all([...roots, scratch].map((path) => disk.canonicalPath(path)));
    const open = there.slice(0, -1).filter((path) => path !== undefined);
    const writable = there.filter((path) => path !== undefined);
    const own = (await disk.canonicalPath(home)) ?? home;
    const [places, guard] = await Promise.all([
      findHiddenPaths({ disk, files, host, home, writable }),
      guardWorkspace({ disk, roots: open, protection, except: [own] }),
    ]);
    const confined = sandbox.confine(program, {
      ...places,
      writable: [...writable, ...guard.repositories.filter((path) => !writable.includes(path))],
      readOnly: guard.readOnly,
      emptyFile: (await disk.canonicalPath(emptyFile)) ?? emptyFile,
      network,
    });
    return {
      program: confined,
      finish: async (end) => {
        const moved = await guard.quarantine();
        return [
          ...explainQuarantine(moved),
          ...(guard.isPartial
            ? ["(The workspace is too large: guarded names deep inside it were not protected.)"]
            : []),
          ...(await explainSandboxFailure({ ...end, program, network, places, readOnly: guard.readOnly, find })),
        ].join("\n");
      },
    };
  };
};
