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
  readonly simulators: TourSimulators;
  readonly project: TourProject;
  readonly show: "text" | "conversation" | "json";
  readonly hasColour: boolean;
  readonly write: (text: string) => void;
  readonly signal: AbortSignal;
};

/** Runs the tour and returns the exit code. */
export const runTour = async ({
  simulators,
  project,
  show,
  hasColour,
  write,
  signal,
}: TourOptions): Promise<number> => {
  const { world, providers } = simulators;
  const printLines = (...lines: readonly string[]): void => {
    if (show === "text") write(lines.map((line) => `${line}\n`).join(""));
  };
  const print = (value: unknown): void => write(`${JSON.stringify(value, null, 2)}\n`);
  const printer = createConversationPrinter(printLines);
  printLines(...introduction(providers.length, modelName(parseModel(firstProvider))));
  const conversation = await holdConversation({
    world,
    project,
    signal,
    onEvent: printer.onEvent,
    onCancel: printer.onCancel,
  });
  throwIfStopped(signal);
  const earlyRefusals = listRefusals(simulators.log(firstProvider));
  if (show === "conversation") {
    print(conversation);
    return earlyRefusals.length === 0 ? 0 : 1;
  }

  const table = createTourTable(providers.map(({ id }) => id));
  printLines(...tableIntroduction, table.heading);
  const visits: TourVisit[] = [];
  const visitor = await openTourVisitor(simulators, project, conversation);
  try {
    for (const provider of providers) {
      const visit = await visitor.visit(provider, signal);
      throwIfStopped(signal);
      visits.push(visit);
      printLines(hasColour && !isSuccessful(visit) ? red(table.row(visit)) : table.row(visit));
    }
  } finally {
    await visitor.close();
  }
  printLines("", ...tableLegend, "", ...summarizeTour(earlyRefusals, visits), "", ...nextCommands());
  const accepted = earlyRefusals.length === 0 && visits.every(isSuccessful);
  if (show === "json")
    print({
      accepted,
      refusals: earlyRefusals,
      providers: visits.map((visit) => ({ ...visit, cachedShare: cachedShare(visit) })),
    });
  return accepted ? 0 : 1;
};

const red = (line: string): string => `\u001B[31m${line}\u001B[39m`;

const throwIfStopped = (signal: AbortSignal): void => {
  if (signal.aborted) throw new UserError("The tour was stopped.", { code: 130 });
};
