import type { AgentEvent } from "../agent/events.ts";
import { createRedactor } from "../policy/secrets/redact.ts";
import { version } from "../world/version.ts";
import type { World } from "../world/world.ts";
import { createContentFormatter, noContent } from "./content.ts";
import { Exporter } from "./exporter.ts";
import { EventRecorder } from "./recorder.ts";
import { startRequestSpan, type RequestSpan } from "./request-span.ts";
import { parseTraceparent } from "./trace-context.ts";

export type TelemetryOptions = ProcessTelemetryOptions & {
  /** The id of the session. */
  readonly sessionId: string;
};

/** Options of telemetry for all sessions of a process. */
export type ProcessTelemetryOptions = {
  readonly world: Pick<World, "clock" | "random" | "net" | "env">;
  /** The collector's base URL, such as `http://127.0.0.1:4318`. */
  readonly endpoint: string;
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

/** Telemetry of a server or worker: one queue for its requests and all of its sessions. */
export type ProcessTelemetry = {
  /** Records the events of a session. `traceOf` returns the `traceparent` that the next turn belongs to. `close` sends nothing. */
  readonly observe: (
    sessionId: string,
    traceOf?: () => string | undefined,
  ) => { readonly record: Telemetry["record"]; readonly close: () => void };
  /** Starts the span of a request. */
  readonly startRequest: (traceparent: string | undefined) => RequestSpan;
  /** Sends the rest of the queue. Never throws, and waits two seconds at most. */
  readonly close: () => Promise<void>;
};

/** Opens telemetry for a session. Nothing is sent before the first event. */
export const openTelemetry = ({ sessionId, ...options }: TelemetryOptions): Telemetry => {
  const all = openProcessTelemetry(options);
  const { record, close } = all.observe(sessionId);
  return {
    record,
    close: async () => {
      close();
      await all.close();
    },
  };
};

/** Opens telemetry for a process with many sessions. Nothing is sent before the first event. */
export const openProcessTelemetry = ({
  world,
  endpoint,
  logPrompts,
  onError: trouble,
}: ProcessTelemetryOptions): ProcessTelemetry => {
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
  const { clock } = world;
  return {
    observe: (sessionId, traceOf) => {
      const parentOf = traceOf && (() => parseTraceparent(traceOf()));
      const recorder = new EventRecorder({ clock, newId, sessionId, content, sink: exporter, parentOf });
      return {
        record: (event) => ignoreErrors(() => recorder.record(event)),
        close: () => ignoreErrors(() => recorder.close()),
      };
    },
    startRequest: (traceparent) => startRequestSpan(traceparent, { clock, newId, export: exporter.span }),
    close: () => exporter.close().catch(() => undefined),
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
