import type { Disk } from "../world/disk.ts";
import { openAnswers } from "./answers.ts";
import { PolicyError } from "./error.ts";
import type { Consent } from "./settings.ts";

/** Which programs of which projects a person agreed to, kept among the person's own answers. */
export type Consents = {
  /** Those of a project's programs that nobody agreed to yet, or that were changed since. */
  readonly missing: (project: string, wanted: readonly Consent[]) => Promise<readonly Consent[]>;
  /** Agrees to one program of one project, as it is written now. */
  readonly agree: (project: string, consent: Consent) => Promise<void>;
};

/** Reads and writes `consents/` in the folder where Parley keeps its own things. */
export const openConsents = (disk: Disk, home: string): Consents => {
  const answers = openAnswers(disk, home, "consents");
  return {
    missing: async (project, wanted) => {
      const at = await disk.canonical(project);
      if (at === undefined) return wanted;
      const asked = wanted.map(async (consent) => ((await answers.has(answerOf(at, consent))) ? [] : [consent]));
      return (await Promise.all(asked)).flat();
    },
    agree: async (project, consent) => {
      const at = await disk.canonical(project);
      if (at === undefined) throw new PolicyError("file_not_found", `There is no folder ${project}.`);
      await answers.keep(answerOf(at, consent));
    },
  };
};

const answerOf = (project: string, { key, text, digest }: Consent): { readonly [field: string]: string } => ({
  project,
  key,
  text,
  digest,
});
