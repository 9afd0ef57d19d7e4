import { dirname } from "node:path";
import type { Disk } from "../../world/disk.ts";
import { openAnswerStore } from "./answer-store.ts";
import { PolicyError } from "../error.ts";

/** Stores the folders the user trusts. */
export type TrustStore = {
  /** Whether this folder or a parent is trusted, by its canonical path. Nothing inside the folder is read. */
  readonly isTrusted: (folder: string) => Promise<boolean>;
  readonly trustFolder: (folder: string) => Promise<void>;
  /** Lists the trusted folders, sorted. Some may no longer exist. */
  readonly listTrusted: () => Promise<readonly string[]>;
  /** Removes trust from a folder. False if it was not trusted itself; a parent may still be. */
  readonly untrustFolder: (folder: string) => Promise<boolean>;
  /** How a project may affect policy. "inert": none of its files is loaded. "tighten": its settings may restrict more. */
  readonly projectScope: (folder: string) => Promise<ProjectScope>;
};

export type ProjectScope = "inert" | "tighten";

/** Opens `trust/` in Parley's own folder. */
export const openTrustStore = (disk: Disk, home: string): TrustStore => {
  const answers = openAnswerStore(disk, home, "trust");
  const isTrusted = async (folder: string): Promise<boolean> => {
    const canonical = await disk.canonicalPath(folder);
    return canonical !== undefined && answers.has(...listFolderAndParents(canonical).map((trusted) => ({ trusted })));
  };
  return {
    isTrusted,
    projectScope: async (folder) => ((await isTrusted(folder)) ? "tighten" : "inert"),
    trustFolder: async (folder) => {
      const trusted = await disk.canonicalPath(folder);
      if (trusted === undefined) throw new PolicyError("file_not_found", `The folder ${folder} does not exist.`);
      await answers.save({ trusted });
    },
    listTrusted: async () =>
      (await answers.list()).flatMap(({ trusted }) => (trusted === undefined ? [] : [trusted])).toSorted(),
    // A deleted folder has no canonical path, so the given path is used.
    untrustFolder: async (folder) => answers.remove({ trusted: (await disk.canonicalPath(folder)) ?? folder }),
  };
};

const listFolderAndParents = (path: string): readonly string[] =>
  dirname(path) === path ? [path] : [path, ...listFolderAndParents(dirname(path))];
