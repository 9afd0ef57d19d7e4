import type { Disk } from "../../world/disk.ts";
import { openAnswerStore, type AnswerStore } from "./answer-store.ts";
import { PolicyError } from "../error.ts";
import type { ConsentRequest } from "./project-settings.ts";

/** Which programs of which projects a person agreed to, kept among the person's own answers. */
export type ConsentStore = {
  /** Those of a project's programs that nobody agreed to yet, or that were changed since. */
  readonly findMissing: (project: string, wanted: readonly ConsentRequest[]) => Promise<readonly ConsentRequest[]>;
  /** Those of them that nobody said anything about, as they are written now: neither yes nor no. */
  readonly findUnanswered: (project: string, wanted: readonly ConsentRequest[]) => Promise<readonly ConsentRequest[]>;
  /** Agrees to one program of one project, as it is written now. */
  readonly agree: (project: string, consent: ConsentRequest) => Promise<void>;
  /** Says no to one program of one project, as it is written now. */
  readonly decline: (project: string, consent: ConsentRequest) => Promise<void>;
  /** Takes back every consent to programs of this key, however they were written. False where there was none. */
  readonly withdraw: (project: string, key: string) => Promise<boolean>;
};

/** Reads and writes `consents/` and `declined/` in the folder where Parley keeps its own things. */
export const openConsentStore = (disk: Disk, home: string): ConsentStore => {
  const [agreed, declined] = [openAnswerStore(disk, home, "consents"), openAnswerStore(disk, home, "declined")];
  const without = async (
    answers: AnswerStore,
    project: string,
    wanted: readonly ConsentRequest[],
  ): Promise<readonly ConsentRequest[]> => {
    const at = await disk.canonicalPath(project);
    if (at === undefined) return wanted;
    const asked = wanted.map(async (consent) => ((await answers.has(answerFor(at, consent))) ? [] : [consent]));
    return (await Promise.all(asked)).flat();
  };
  const keep = async (project: string, consent: ConsentRequest, to: AnswerStore, from: AnswerStore): Promise<void> => {
    const at = await disk.canonicalPath(project);
    if (at === undefined) throw new PolicyError("file_not_found", `There is no folder ${project}.`);
    await from.remove(answerFor(at, consent));
    await to.save(answerFor(at, consent));
  };
  return {
    findMissing: (project, wanted) => without(agreed, project, wanted),
    findUnanswered: async (project, wanted) => without(declined, project, await without(agreed, project, wanted)),
    agree: (project, consent) => keep(project, consent, agreed, declined),
    decline: (project, consent) => keep(project, consent, declined, agreed),
    withdraw: async (project, key) => {
      const at = (await disk.canonicalPath(project)) ?? project;
      const mine = (await agreed.list()).filter((answer) => answer["project"] === at && answer["key"] === key);
      for (const answer of mine) await agreed.remove(answer);
      return mine.length > 0;
    },
  };
};

const answerFor = (project: string, { key, text, digest }: ConsentRequest): { readonly [field: string]: string } => ({
  project,
  key,
  text,
  digest,
});
