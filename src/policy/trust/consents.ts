import type { Disk } from "../../world/disk.ts";
import { openAnswerStore, type AnswerStore } from "./answer-store.ts";
import { PolicyError } from "../error.ts";
import type { ConsentRequest } from "./project-settings.ts";

/** Stores the user's consents to run programs that projects name. */
export type ConsentStore = {
  /** Finds the programs of a project without consent, or changed since consent was given. */
  readonly findMissing: (project: string, requests: readonly ConsentRequest[]) => Promise<readonly ConsentRequest[]>;
  /** Finds those that were neither accepted nor declined in their current form. */
  readonly findUnanswered: (project: string, requests: readonly ConsentRequest[]) => Promise<readonly ConsentRequest[]>;
  /** Stores consent to one program of a project in its current form. */
  readonly agree: (project: string, consent: ConsentRequest) => Promise<void>;
  /** Stores that one program of a project was declined in its current form. */
  readonly decline: (project: string, consent: ConsentRequest) => Promise<void>;
  /** Removes every consent to programs with this key, in any form. False if there was none. */
  readonly withdraw: (project: string, key: string) => Promise<boolean>;
};

/** Opens `consents/` and `declined/` in Parley's own folder. */
export const openConsentStore = (disk: Disk, home: string): ConsentStore => {
  const [agreed, declined] = [openAnswerStore(disk, home, "consents"), openAnswerStore(disk, home, "declined")];
  const filterUnanswered = async (
    answers: AnswerStore,
    project: string,
    requests: readonly ConsentRequest[],
  ): Promise<readonly ConsentRequest[]> => {
    const canonicalProject = await disk.canonicalPath(project);
    if (canonicalProject === undefined) return requests;
    const checks = requests.map(async (consent) =>
      (await answers.has(answerFor(canonicalProject, consent))) ? [] : [consent],
    );
    return (await Promise.all(checks)).flat();
  };
  const storeAnswer = async (
    project: string,
    consent: ConsentRequest,
    to: AnswerStore,
    from: AnswerStore,
  ): Promise<void> => {
    const canonicalProject = await disk.canonicalPath(project);
    if (canonicalProject === undefined)
      throw new PolicyError("file_not_found", `The folder ${project} does not exist.`);
    await from.remove(answerFor(canonicalProject, consent));
    await to.save(answerFor(canonicalProject, consent));
  };
  return {
    findMissing: (project, requests) => filterUnanswered(agreed, project, requests),
    findUnanswered: async (project, requests) =>
      filterUnanswered(declined, project, await filterUnanswered(agreed, project, requests)),
    agree: (project, consent) => storeAnswer(project, consent, agreed, declined),
    decline: (project, consent) => storeAnswer(project, consent, declined, agreed),
    withdraw: async (project, key) => {
      const canonicalProject = (await disk.canonicalPath(project)) ?? project;
      const matching = (await agreed.list()).filter(
        (answer) => answer["project"] === canonicalProject && answer["key"] === key,
      );
      for (const answer of matching) await agreed.remove(answer);
      return matching.length > 0;
    },
  };
};

const answerFor = (project: string, { key, text, digest }: ConsentRequest): { readonly [field: string]: string } => ({
  project,
  key,
  text,
  digest,
});
