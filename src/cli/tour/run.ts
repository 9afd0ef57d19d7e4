import type { CommandHandler } from "../commands.ts";
import { usageError } from "../user-error.ts";
import { runTour } from "./steps.ts";
import { createTourProject } from "./project.ts";
import { startTourSimulators } from "./simulators.ts";

/** `parley tour`: one difficult conversation, held for real on this machine and sent on to every provider's simulator. */
export const tour: CommandHandler = async (given) => {
  if (given.has("conversation") && given.has("json"))
    throw usageError("Ask for --conversation or for --json, not for both.");
  const interruption = abortOnSignals();
  const project = await createTourProject();
  try {
    const stage = await startTourSimulators(project.home);
    try {
      return await runTour({
        stage,
        project,
        show: given.has("conversation") ? "conversation" : given.has("json") ? "json" : "story",
        hasColour: process.stdout.isTTY === true && !process.env["NO_COLOR"],
        write: (text) => void process.stdout.write(text),
        signal: interruption.signal,
      });
    } finally {
      await stage.close();
    }
  } finally {
    interruption.forget();
    project.remove();
  }
};

/** Ctrl-C stops what runs and leaves nothing behind; a second one does not wait for that. */
const abortOnSignals = (): { readonly signal: AbortSignal; readonly forget: () => void } => {
  const controller = new AbortController();
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const forget = (): void => signals.forEach((name) => process.off(name, stop));
  const stop = (): void => {
    forget();
    controller.abort();
  };
  for (const name of signals) process.on(name, stop);
  return { signal: controller.signal, forget };
};
