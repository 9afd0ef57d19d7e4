import type { AgentEvent } from "../agent/events.ts";
import { createRedactor } from "../policy/secrets/redact.ts";
import { version } from "../world/version.ts";
import type { World } from "../world/world.ts";
import { createContentFormatter, noContent } from "./content.ts";
import { Exporter } from "./exporter.ts";
import { EventRecorder } from "./recorder.ts";

export type TelemetryOptions = {
  readonly world: Pick<World, "clock" | "random" | "net" | "env">;
  /** The collector's base URL, such as `http://127.0.0.1:4318`. */
  readonly endpoint: string;
  /** The id of the session. */
  readonly sessionId: string;
  /** Whether prompts, responses, arguments and results are exported. */
  readonly logPrompts: boolean;
  /** Called once, on the first failed delivery. */
  readonly onError: (words: string) => void;
};

/** Telemetry of one session. */
export type Telemetry = {
  /** Records an agent event. Never throws or blocks. */
  readonly record: (event: AgentEvent) => void;
  /** Sends the rest of the queue. Never throws, and waits two seconds at most. */
  readonly close: () => Promise<void>;
};

/** Opens telemetry for a session. Nothing is sent before the first event. */
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

/** Telemetry errors never affect the run. */
const ignoreErrors = (work: () => void): void => {
  try {
    work();
  } catch {
    return;
  }
};

/** Creates a random hexadecimal id; never all zeros, which OTLP treats as missing. */
const randomHexId = (random: () => number, digits: number): string => {
  const id = Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join("");
  return /[1-9a-f]/.test(id) ? id : "1".padStart(digits, "0");
};
