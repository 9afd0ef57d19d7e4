import type { CommandHandler } from "../command.ts";
import { usageError } from "../user-error.ts";
import { runTour } from "./steps.ts";
import { createTourProject } from "./project.ts";
import { startTourSimulators } from "./simulators.ts";

/** `parley tour`: runs one difficult conversation locally and sends it to every provider's simulator. */
export const tour: CommandHandler = async (args) => {
  if (args.has("conversation") && args.has("json")) throw usageError("Use either --conversation or --json.");
  const interruption = abortOnSignals();
  const project = await createTourProject();
  try {
    const simulators = await startTourSimulators(project.home);
    try {
      return await runTour({
        simulators,
        project,
        show: args.has("conversation") ? "conversation" : args.has("json") ? "json" : "text",
        hasColour: process.stdout.isTTY === true && !process.env["NO_COLOR"],
        write: (text) => void process.stdout.write(text),
        signal: interruption.signal,
      });
    } finally {
      await simulators.close();
    }
  } finally {
    interruption.stopListening();
    project.remove();
  }
};

/** Aborts on the first signal, for a clean exit; a second one exits at once. */
const abortOnSignals = (): { readonly signal: AbortSignal; readonly stopListening: () => void } => {
  const controller = new AbortController();
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const stopListening = (): void => signals.forEach((name) => process.off(name, stop));
  const stop = (): void => {
    stopListening();
    controller.abort();
  };
  for (const name of signals) process.on(name, stop);
  return { signal: controller.signal, stopListening };
};
