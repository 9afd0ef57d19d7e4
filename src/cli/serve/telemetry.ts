import { loadAgentEnvironment } from "../../agent/environment.ts";
import { openAgent, type AgentSession } from "../../agent/open-agent.ts";
import type { OpenAgentOptions } from "../../agent/options.ts";
import type { ProcessTelemetry } from "../../telemetry/telemetry.ts";
import type { HomeOption } from "../../world/home-folders.ts";
import type { World } from "../../world/world.ts";
import { withUserErrors } from "../sessions/context.ts";
import { sanitizeLine } from "../text-table.ts";

/** Opens telemetry of a server or worker if the settings name a collector. It is not loaded otherwise. */
export const openServerTelemetry = (
  world: World,
  { home, folder }: { readonly home: HomeOption; readonly folder: string },
): Promise<ProcessTelemetry | undefined> =>
  withUserErrors(async () => {
    const { loaded, world: own } = await loadAgentEnvironment({ folder, home, world });
    const endpoint = loaded.settings["telemetry.endpoint"];
    if (endpoint === undefined) return undefined;
    const { openProcessTelemetry } = await import("../../telemetry/telemetry.ts");
    return openProcessTelemetry({
      world: own,
      endpoint,
      logPrompts: loaded.settings["telemetry.logPrompts"],
      onError: (words) => process.stderr.write(`${sanitizeLine(words)}\n`),
    });
  });

/** Opens an agent whose turns are exported, each as part of the request that posted its prompt. */
export const openObservedAgent =
  (telemetry: ProcessTelemetry) =>
  async (options: OpenAgentOptions, traceOf?: () => string | undefined): Promise<AgentSession> => {
    let record: ReturnType<ProcessTelemetry["observe"]>["record"] = () => undefined;
    const session = await openAgent({
      ...options,
      onEvent: (event) => {
        record(event);
        options.onEvent?.(event);
      },
    });
    const observer = telemetry.observe(session.session.id, traceOf);
    record = observer.record;
    return { ...session, close: () => session.close().finally(observer.close) };
  };
