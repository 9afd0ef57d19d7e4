import type { AgentEvent } from "../../agent/events.ts";
import type { AgentSession } from "../../agent/open-agent.ts";
import type { OpenAgentOptions } from "../../agent/options.ts";
import type { AgentEnvironment } from "../../agent/environment.ts";

/** Receives every event of an agent. */
type SessionObserver = { readonly record: (event: AgentEvent) => void; readonly close: () => Promise<void> };

/**
 * Opens a session with observers: a debug log if `debug` names a file, telemetry if the settings name a collector.
 * Neither is loaded unless it is used.
 */
export const openWithObservers = async <Options extends Pick<OpenAgentOptions, "onEvent">>(
  environment: AgentEnvironment,
  debug: string | undefined,
  options: Options,
  open: (options: Options) => Promise<AgentSession>,
): Promise<AgentSession> => {
  if (debug === undefined && environment.loaded.settings["telemetry.endpoint"] === undefined) return open(options);
  const observers: SessionObserver[] = [];
  const session = await open({
    ...options,
    onEvent: (event) => {
      for (const { record } of observers) record(event);
      options.onEvent?.(event);
    },
  });
  const notes: string[] = [];
  let addNote = (text: string): void => void notes.push(text);
  const onError = (text: string): void => addNote(text);
  if (debug !== undefined) observers.push(await openDebugLogObserver(environment, debug, onError));
  observers.push(...(await openTelemetryObserver(environment, session.session.id, onError)));
  addNote = (text) => session.agent.emit({ type: "notice", text });
  return {
    ...session,
    notes: [...session.notes, ...notes],
    close: async () => {
      try {
        await session.close();
      } finally {
        await Promise.all(observers.map(({ close }) => close()));
      }
    },
  };
};

const openDebugLogObserver = async (
  { world }: AgentEnvironment,
  path: string,
  onError: (message: string) => void,
): Promise<SessionObserver> => {
  const { openDebugLog } = await import("./debug-log.ts");
  const { createRedactor } = await import("../../policy/secrets/redact.ts");
  const { redact } = createRedactor({ env: world.env });
  return openDebugLog({ path, now: world.clock.now, onError, redact });
};

const openTelemetryObserver = async (
  { world, loaded: { settings } }: AgentEnvironment,
  sessionId: string,
  onError: (message: string) => void,
): Promise<readonly SessionObserver[]> => {
  const endpoint = settings["telemetry.endpoint"];
  if (endpoint === undefined) return [];
  const { openTelemetry } = await import("../../telemetry/telemetry.ts");
  return [
    openTelemetry({
      world,
      endpoint,
      sessionId,
      logPrompts: settings["telemetry.logPrompts"],
      onError,
    }),
  ];
};
