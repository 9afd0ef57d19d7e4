import { modelName } from "../agent/model-name.ts";
import { parseModel } from "../agent/model-ref.ts";
import { Failure } from "./failure.ts";
import type { Project } from "./tour-project.ts";
import { home } from "./tour-script.ts";
import type { Stage } from "./tour-stage.ts";
import { storyTo } from "./tour-story.ts";
import { cachedShare, isGood, legend, tableFor } from "./tour-table.ts";
import { hold } from "./tour-talk.ts";
import { openVisits, refusalsIn, type Visit } from "./tour-visit.ts";
import { crossing, opening, suggestions, verdict } from "./tour-words.ts";

/** What a tour needs, and what is to be printed of it. */
export type Guide = {
  readonly stage: Stage;
  readonly project: Project;
  readonly show: "story" | "conversation" | "json";
  readonly hasColour: boolean;
  readonly write: (text: string) => void;
  readonly signal: AbortSignal;
};

/** Goes through the whole tour, and answers the exit code. */
export const guide = async ({ stage, project, show, hasColour, write, signal }: Guide): Promise<number> => {
  const { world, providers } = stage;
  const say = (...lines: readonly string[]): void => {
    if (show === "story") write(lines.map((line) => `${line}\n`).join(""));
  };
  const print = (value: unknown): void => write(`${JSON.stringify(value, null, 2)}\n`);
  const story = storyTo(say);
  say(...opening(providers.length, modelName(parseModel(home))));
  const conversation = await hold({ world, project, signal, listen: story.event, stopping: story.stopping });
  demandMore(signal);
  const early = refusalsIn(stage.log(home));
  if (show === "conversation") {
    print(conversation);
    return early.length === 0 ? 0 : 1;
  }

  const table = tableFor(providers.map(({ id }) => id));
  say(...crossing, table.heading);
  const visits: Visit[] = [];
  const visiting = await openVisits(stage, project, conversation);
  try {
    for (const provider of providers) {
      const visit = await visiting.visit(provider, signal);
      demandMore(signal);
      visits.push(visit);
      say(hasColour && !isGood(visit) ? red(table.row(visit)) : table.row(visit));
    }
  } finally {
    await visiting.close();
  }
  say("", ...legend, "", ...verdict(early, visits), "", ...suggestions());
  const accepted = early.length === 0 && visits.every(isGood);
  if (show === "json")
    print({
      accepted,
      refusals: early,
      providers: visits.map((visit) => ({ ...visit, cachedShare: cachedShare(visit) })),
    });
  return accepted ? 0 : 1;
};

const red = (line: string): string => `\u001B[31m${line}\u001B[39m`;

const demandMore = (signal: AbortSignal): void => {
  if (signal.aborted) throw new Failure("The tour was stopped.", { code: 130 });
};
