import { dirname } from "node:path";
import type { Disk } from "../../world/disk.ts";
import { openAnswerStore } from "./answer-store.ts";
import { PolicyError } from "../error.ts";

/** The folders a person trusts, kept among the person's own answers. */
export type TrustStore = {
  /** Whether this folder, or one above it, is trusted: by where it really is, whatever it says of itself. */
  readonly isTrusted: (folder: string) => Promise<boolean>;
  readonly trustFolder: (folder: string) => Promise<void>;
  /** The folders that were trusted themselves, sorted. Some may be gone. */
  readonly listTrusted: () => Promise<readonly string[]>;
  /** Trusts a folder no longer. False where it was not trusted itself; one above it may still be. */
  readonly untrustFolder: (folder: string) => Promise<boolean>;
  /** What a project may do to policy. "inert": none of its files is loaded. "tighten": its settings may add to what is refused. */
  readonly projectScope: (folder: string) => Promise<ProjectScope>;
};

export type ProjectScope = "inert" | "tighten";

/** Reads and writes `trust/` in the folder where Parley keeps its own things. */
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
      if (trusted === undefined) throw new PolicyError("file_not_found", `There is no folder ${folder} to trust.`);
      await answers.save({ trusted });
    },
    listTrusted: async () =>
      (await answers.list()).flatMap(({ trusted }) => (trusted === undefined ? [] : [trusted])).toSorted(),
    // A folder that is gone is named by where it was.
    untrustFolder: async (folder) => answers.remove({ trusted: (await disk.canonicalPath(folder)) ?? folder }),
  };
};

const listFolderAndParents = (path: string): readonly string[] =>
  dirname(path) === path ? [path] : [path, ...listFolderAndParents(dirname(path))];
