import type { AgentEvent } from "../agent/events.ts";
import type { Opened, OpenOptions } from "../agent/open.ts";
import type { Prepared } from "./opening.ts";

/** Somebody who hears everything an agent says. */
type Observer = { readonly hear: (event: AgentEvent) => void; readonly close: () => Promise<void> };

/**
 * Opens a session that is watched: by a debug log, where the person names a
 * file, and by telemetry, where their settings name a collector. Otherwise it
 * is opened as it is, and nothing of either is loaded.
 */
export const observed = async <Options extends Pick<OpenOptions, "listen">>(
  prepared: Prepared,
  debug: string | undefined,
  options: Options,
  open: (options: Options) => Promise<Opened>,
): Promise<Opened> => {
  if (debug === undefined && prepared.loaded.settings["telemetry.endpoint"] === undefined) return open(options);
  const observers: Observer[] = [];
  const opened = await open({
    ...options,
    listen: (event) => {
      for (const { hear } of observers) hear(event);
      options.listen?.(event);
    },
  });
  const notes: string[] = [];
  let note = (text: string): void => void notes.push(text);
  const trouble = (text: string): void => note(text);
  if (debug !== undefined) observers.push(await debugLog(prepared, debug, trouble));
  observers.push(...(await telemetry(prepared, opened.session.id, trouble)));
  note = (text) => opened.agent.tell({ type: "notice", text });
  return {
    ...opened,
    notes: [...opened.notes, ...notes],
    close: async () => {
      try {
        await opened.close();
      } finally {
        await Promise.all(observers.map(({ close }) => close()));
      }
    },
  };
};

const debugLog = async ({ world }: Prepared, path: string, trouble: (words: string) => void): Promise<Observer> => {
  const { openDebugLog } = await import("./debug-log.ts");
  const { createRedactor } = await import("../policy/redact.ts");
  const { redact } = createRedactor({ env: world.env });
  return openDebugLog({ path, now: world.clock.now, trouble, redact });
};

const telemetry = async (
  { world, loaded: { settings } }: Prepared,
  conversation: string,
  trouble: (words: string) => void,
): Promise<readonly Observer[]> => {
  const endpoint = settings["telemetry.endpoint"];
  if (endpoint === undefined) return [];
  const { openTelemetry } = await import("../telemetry/telemetry.ts");
  return [openTelemetry({ world, endpoint, conversation, logPrompts: settings["telemetry.logPrompts"], trouble })];
};
