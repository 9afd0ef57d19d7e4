import { dirname } from "node:path";
import type { Disk } from "../world/disk.ts";
import { openAnswers } from "./answers.ts";
import { PolicyError } from "./error.ts";

/** The folders a person trusts, kept among the person's own answers. */
export type Trust = {
  /** Whether this folder, or one above it, is trusted: by where it really is, whatever it says of itself. */
  readonly isTrusted: (folder: string) => Promise<boolean>;
  readonly trust: (folder: string) => Promise<void>;
  /** The folders that were trusted themselves, sorted. Some may be gone. */
  readonly list: () => Promise<readonly string[]>;
  /** Trusts a folder no longer. False where it was not trusted itself; one above it may still be. */
  readonly distrust: (folder: string) => Promise<boolean>;
  /** What a project may do to policy. "inert": none of its files is loaded. "tighten": its settings may add to what is refused. */
  readonly projectScope: (folder: string) => Promise<ProjectScope>;
};

export type ProjectScope = "inert" | "tighten";

/** Reads and writes `trust/` in the folder where Parley keeps its own things. */
export const openTrust = (disk: Disk, home: string): Trust => {
  const answers = openAnswers(disk, home, "trust");
  const isTrusted = async (folder: string): Promise<boolean> => {
    const canonical = await disk.canonical(folder);
    return canonical !== undefined && answers.has(...folderAndAbove(canonical).map((trusted) => ({ trusted })));
  };
  return {
    isTrusted,
    projectScope: async (folder) => ((await isTrusted(folder)) ? "tighten" : "inert"),
    trust: async (folder) => {
      const trusted = await disk.canonical(folder);
      if (trusted === undefined) throw new PolicyError("file_not_found", `There is no folder ${folder} to trust.`);
      await answers.keep({ trusted });
    },
    list: async () =>
      (await answers.all()).flatMap(({ trusted }) => (trusted === undefined ? [] : [trusted])).toSorted(),
    // A folder that is gone is named by where it was.
    distrust: async (folder) => answers.forget({ trusted: (await disk.canonical(folder)) ?? folder }),
  };
};

const folderAndAbove = (path: string): readonly string[] =>
  dirname(path) === path ? [path] : [path, ...folderAndAbove(dirname(path))];
