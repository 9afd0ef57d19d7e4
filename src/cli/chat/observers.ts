import type { AgentEvent } from "../../agent/events.ts";
import type { AgentSession } from "../../agent/open-agent.ts";
import type { OpenAgentOptions } from "../../agent/options.ts";
import type { RunEnvironment } from "./open-session.ts";

/** Somebody who hears everything an agent says. */
type SessionObserver = { readonly record: (event: AgentEvent) => void; readonly close: () => Promise<void> };

/**
 * Opens a session that is watched: by a debug log, where the person names a
 * file, and by telemetry, where their settings name a collector. Otherwise it
 * is opened as it is, and nothing of either is loaded.
 */
export const openWithObservers = async <Options extends Pick<OpenAgentOptions, "onEvent">>(
  prepared: RunEnvironment,
  debug: string | undefined,
  options: Options,
  open: (options: Options) => Promise<AgentSession>,
): Promise<AgentSession> => {
  if (debug === undefined && prepared.loaded.settings["telemetry.endpoint"] === undefined) return open(options);
  const observers: SessionObserver[] = [];
  const opened = await open({
    ...options,
    onEvent: (event) => {
      for (const { record: hear } of observers) hear(event);
      options.onEvent?.(event);
    },
  });
  const notes: string[] = [];
  let note = (text: string): void => void notes.push(text);
  const trouble = (text: string): void => note(text);
  if (debug !== undefined) observers.push(await openDebugLogObserver(prepared, debug, trouble));
  observers.push(...(await openTelemetryObserver(prepared, opened.session.id, trouble)));
  note = (text) => opened.agent.emit({ type: "notice", text });
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

const openDebugLogObserver = async (
  { world }: RunEnvironment,
  path: string,
  trouble: (words: string) => void,
): Promise<SessionObserver> => {
  const { openDebugLog } = await import("./debug-log.ts");
  const { createRedactor } = await import("../../policy/secrets/redact.ts");
  const { redact } = createRedactor({ env: world.env });
  return openDebugLog({ path, now: world.clock.now, onError: trouble, redact });
};

const openTelemetryObserver = async (
  { world, loaded: { settings } }: RunEnvironment,
  conversation: string,
  trouble: (words: string) => void,
): Promise<readonly SessionObserver[]> => {
  const endpoint = settings["telemetry.endpoint"];
  if (endpoint === undefined) return [];
  const { openTelemetry } = await import("../../telemetry/telemetry.ts");
  return [
    openTelemetry({
      world,
      endpoint,
      sessionId: conversation,
      logPrompts: settings["telemetry.logPrompts"],
      onError: trouble,
    }),
  ];
};
