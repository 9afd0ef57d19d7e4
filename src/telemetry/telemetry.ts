import type { AgentEvent } from "../agent/events.ts";
import { createRedactor } from "../policy/secrets/redact.ts";
import { version } from "../world/version.ts";
import type { World } from "../world/world.ts";
import { createContentFormatter, noContent } from "./content.ts";
import { Exporter } from "./exporter.ts";
import { EventRecorder } from "./recorder.ts";

/** What telemetry is opened with. */
export type TelemetryOptions = {
  readonly world: Pick<World, "clock" | "random" | "net" | "env">;
  /** Where the collector is, such as `http://127.0.0.1:4318`. */
  readonly endpoint: string;
  /** The id of the session. */
  readonly sessionId: string;
  /** Whether words, arguments and results are sent as well. */
  readonly logPrompts: boolean;
  /** Told once, when something could not be delivered. */
  readonly onError: (words: string) => void;
};

/** What is told about an agent, to a collector. */
export type Telemetry = {
  /** Hears an event of the agent. Never throws and never waits. */
  readonly record: (event: AgentEvent) => void;
  /** Sends what is left. Never throws, and waits two seconds at most. */
  readonly close: () => Promise<void>;
};

/** Opens telemetry for one session. Nothing is sent before there is something to tell. */
export const openTelemetry = (options: TelemetryOptions): Telemetry => {
  const { world, endpoint, sessionId: conversation, logPrompts, onError: trouble } = options;
  const newId = (digits: number): string => randomHexId(world.random, digits);
  const exporter = new Exporter({
    net: world.net,
    clock: world.clock,
    endpoint,
    onError: (words) => ignoreErrors(() => trouble(words)),
    header: {
      resource: {
        "service.name": "parley",
        "service.version": version,
        "service.instance.id": newId(32),
      },
      scope: { name: "parley", version },
    },
  });
  const content = logPrompts ? createContentFormatter(createRedactor({ env: world.env }).redact) : noContent;
  const recorder = new EventRecorder({ clock: world.clock, newId, sessionId: conversation, content, sink: exporter });
  return {
    record: (event) => ignoreErrors(() => recorder.record(event)),
    close: async () => {
      ignoreErrors(() => recorder.close());
      await exporter.close().catch(() => undefined);
    },
  };
};

/** What fails here is nobody's concern: the work goes on. */
const ignoreErrors = (work: () => void): void => {
  try {
    work();
  } catch {
    return;
  }
};

/** Hexadecimal digits by chance, never all of them 0: such an id would be none. */
const randomHexId = (random: () => number, digits: number): string => {
  const id = Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join("");
  return /[1-9a-f]/.test(id) ? id : "1".padStart(digits, "0");
};
