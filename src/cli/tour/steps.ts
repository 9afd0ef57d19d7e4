import { modelName } from "../../agent/models/name.ts";
import { parseModel } from "../../agent/models/parse.ts";
import { UserError } from "../user-error.ts";
import type { TourProject } from "./project.ts";
import { firstProvider } from "./script.ts";
import type { TourSimulators } from "./simulators.ts";
import { createConversationPrinter } from "./conversation-printer.ts";
import { cachedShare, isSuccessful, tableLegend, createTourTable } from "./table.ts";
import { holdConversation } from "./conversation.ts";
import { openTourVisitor, listRefusals, type TourVisit } from "./visit.ts";
import { tableIntroduction, introduction, nextCommands, summarizeTour } from "./texts.ts";

/** Options of a tour; `show` selects the output. */
export type TourOptions = {
  readonly stage: TourSimulators;
  readonly project: TourProject;
  readonly show: "story" | "conversation" | "json";
  readonly hasColour: boolean;
  readonly write: (text: string) => void;
  readonly signal: AbortSignal;
};

/** Runs the tour and returns the exit code. */
export const runTour = async ({ stage, project, show, hasColour, write, signal }: TourOptions): Promise<number> => {
  const { world, providers } = stage;
  const say = (...lines: readonly string[]): void => {
    if (show === "story") write(lines.map((line) => `${line}\n`).join(""));
  };
  const print = (value: unknown): void => write(`${JSON.stringify(value, null, 2)}\n`);
  const story = createConversationPrinter(say);
  say(...introduction(providers.length, modelName(parseModel(firstProvider))));
  const conversation = await holdConversation({
    world,
    project,
    signal,
    onEvent: story.onEvent,
    onCancel: story.onCancel,
  });
  throwIfStopped(signal);
  const early = listRefusals(stage.log(firstProvider));
  if (show === "conversation") {
    print(conversation);
    return early.length === 0 ? 0 : 1;
  }

  const table = createTourTable(providers.map(({ id }) => id));
  say(...tableIntroduction, table.heading);
  const visits: TourVisit[] = [];
  const visiting = await openTourVisitor(stage, project, conversation);
  try {
    for (const provider of providers) {
      const visit = await visiting.visit(provider, signal);
      throwIfStopped(signal);
      visits.push(visit);
      say(hasColour && !isSuccessful(visit) ? red(table.row(visit)) : table.row(visit));
    }
  } finally {
    await visiting.close();
  }
  say("", ...tableLegend, "", ...summarizeTour(early, visits), "", ...nextCommands());
  const accepted = early.length === 0 && visits.every(isSuccessful);
  if (show === "json")
    print({
      accepted,
      refusals: early,
      providers: visits.map((visit) => ({ ...visit, cachedShare: cachedShare(visit) })),
    });
  return accepted ? 0 : 1;
};

const red = (line: string): string => `\u001B[31m${line}\u001B[39m`;

const throwIfStopped = (signal: AbortSignal): void => {
  if (signal.aborted) throw new UserError("The tour was stopped.", { code: 130 });
};
