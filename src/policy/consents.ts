import type { Disk } from "../world/disk.ts";
import { openAnswers, type Answers } from "./answers.ts";
import { PolicyError } from "./error.ts";
import type { Consent } from "./settings.ts";

/** Which programs of which projects a person agreed to, kept among the person's own answers. */
export type Consents = {
  /** Those of a project's programs that nobody agreed to yet, or that were changed since. */
  readonly missing: (project: string, wanted: readonly Consent[]) => Promise<readonly Consent[]>;
  /** Those of them that nobody said anything about, as they are written now: neither yes nor no. */
  readonly unanswered: (project: string, wanted: readonly Consent[]) => Promise<readonly Consent[]>;
  /** Agrees to one program of one project, as it is written now. */
  readonly agree: (project: string, consent: Consent) => Promise<void>;
  /** Says no to one program of one project, as it is written now. */
  readonly decline: (project: string, consent: Consent) => Promise<void>;
  /** Takes back every consent to programs of this key, however they were written. False where there was none. */
  readonly withdraw: (project: string, key: string) => Promise<boolean>;
};

/** Reads and writes `consents/` and `declined/` in the folder where Parley keeps its own things. */
export const openConsents = (disk: Disk, home: string): Consents => {
  const [agreed, declined] = [openAnswers(disk, home, "consents"), openAnswers(disk, home, "declined")];
  const without = async (
    answers: Answers,
    project: string,
    wanted: readonly Consent[],
  ): Promise<readonly Consent[]> => {
    const at = await disk.canonical(project);
    if (at === undefined) return wanted;
    const asked = wanted.map(async (consent) => ((await answers.has(answerOf(at, consent))) ? [] : [consent]));
    return (await Promise.all(asked)).flat();
  };
  const keep = async (project: string, consent: Consent, to: Answers, from: Answers): Promise<void> => {
    const at = await disk.canonical(project);
    if (at === undefined) throw new PolicyError("file_not_found", `There is no folder ${project}.`);
    await from.forget(answerOf(at, consent));
    await to.keep(answerOf(at, consent));
  };
  return {
    missing: (project, wanted) => without(agreed, project, wanted),
    unanswered: async (project, wanted) => without(declined, project, await without(agreed, project, wanted)),
    agree: (project, consent) => keep(project, consent, agreed, declined),
    decline: (project, consent) => keep(project, consent, declined, agreed),
    withdraw: async (project, key) => {
      const at = (await disk.canonical(project)) ?? project;
      const mine = (await agreed.all()).filter((answer) => answer["project"] === at && answer["key"] === key);
      for (const answer of mine) await agreed.forget(answer);
      return mine.length > 0;
    },
  };
};

const answerOf = (project: string, { key, text, digest }: Consent): { readonly [field: string]: string } => ({
  project,
  key,
  text,
  digest,
});
