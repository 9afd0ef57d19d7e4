import { readBodyText, type Net } from "../world/net.ts";
import type { Clock } from "../world/world.ts";
import { Histograms, type MeasuredQuantity } from "./histograms.ts";
import {
  encodeHistogram,
  encodeLogRecord,
  encodePayload,
  encodeSpan,
  type TelemetryAttributes,
  type LogRecord,
  type OtlpPayload,
  type Signal,
  type TelemetrySpan,
} from "./otlp.ts";

/** What sending needs. */
export type ExporterOptions = {
  readonly net: Net;
  readonly clock: Clock;
  /** Where the collector is; the paths of the signals follow. */
  readonly endpoint: string;
  readonly header: Omit<OtlpPayload, "items">;
  /** Told once, when something could not be delivered. */
  readonly onError: (words: string) => void;
};

/** So long things are gathered before they are sent, in milliseconds; after failures, up to so long. */
const batchDelayMs = 5000;
const maxBackoffMs = 80_000;

/** So many wait before they are sent early. */
const maxBatchItems = 512;

/** The most characters that wait; what comes then is left out. */
const maxQueuedCharacters = 8_000_000;

/** How long a collector may take to answer, and how long `close` waits for it, in milliseconds. */
const requestTimeoutMs = 10_000;
const closeTimeoutMs = 2000;

type QueuedItem = { readonly signal: "traces" | "logs"; readonly json: string };

/** Sends what was recorded, in batches, on its own time. */
export class Exporter {
  readonly #options: ExporterOptions;
  readonly #histograms = new Histograms();
  readonly #began: number;
  readonly #stop = new AbortController();
  #pending: QueuedItem[] = [];
  #size = 0;
  /** Whether something was measured since measurements were sent. */
  #measured = false;
  #pause = batchDelayMs;
  #waiting: AbortController | undefined;
  #work: Promise<void> | undefined;
  #isClosing = false;
  #isTold = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
    this.#began = options.clock.now();
  }

  readonly span = (span: TelemetrySpan): void => this.#add({ signal: "traces", json: encodeSpan(span) });

  readonly log = (record: LogRecord): void => this.#add({ signal: "logs", json: encodeLogRecord(record) });

  readonly measure = (quantity: MeasuredQuantity, value: number, attributes: TelemetryAttributes): void => {
    this.#histograms.add(quantity, value, attributes);
    this.#measured = true;
  };

  /** Sends what is left. Settles within a bound, whatever the collector does. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const inTime = this.#options.clock.after(closeTimeoutMs, () =>
      this.#stop.abort(new Error(`no answer within ${closeTimeoutMs / 1000} s`)),
    );
    this.#waiting?.abort();
    await this.#work;
    if (!this.#stop.signal.aborted) await this.#send();
    inTime();
  }

  #add(item: QueuedItem): void {
    if (this.#isClosing || this.#size + item.json.length > maxQueuedCharacters) return;
    this.#pending.push(item);
    this.#size += item.json.length;
    this.#work ??= this.#run();
    if (this.#isUrgent()) this.#waiting?.abort();
  }

  /** Whether so much waits that it should leave now. A collector that could not take it before is left alone for a while. */
  #isUrgent(): boolean {
    return this.#pending.length >= maxBatchItems && this.#pause === batchDelayMs;
  }

  /** Waits and sends until nothing is left. */
  async #run(): Promise<void> {
    while (this.#pending.length > 0 && !this.#isClosing) {
      this.#waiting = new AbortController();
      if (!this.#isUrgent()) await this.#options.clock.sleep(this.#pause, this.#waiting.signal).catch(() => undefined);
      if (!this.#isClosing) await this.#send();
    }
    this.#work = undefined;
  }

  /** Sends everything that waits. What a collector cannot take just now waits on. */
  async #send(): Promise<void> {
    const items = this.#pending;
    const { clock } = this.#options;
    const metrics = this.#measured ? this.#histograms.all() : [];
    this.#pending = [];
    this.#size = 0;
    this.#measured = false;
    const of = (signal: QueuedItem["signal"]): readonly string[] =>
      items.flatMap((item) => (item.signal === signal ? [item.json] : []));
    const times = { start: this.#began, now: clock.now() };
    const [logs, traces, measured] = await Promise.all([
      this.#post("logs", of("logs")),
      this.#post("traces", of("traces")),
      this.#post(
        "metrics",
        metrics.map((each) => encodeHistogram(each, times)),
      ),
    ]);
    const again = items.filter(({ signal }) => (signal === "logs" ? logs : traces) === "later");
    this.#pending = [...again, ...this.#pending];
    this.#size += again.reduce((size, { json }) => size + json.length, 0);
    this.#measured ||= measured === "later";
    const isLate = again.length > 0 || measured === "later";
    this.#pause = isLate ? Math.min(2 * this.#pause, maxBackoffMs) : batchDelayMs;
  }

  /** Sends one kind of data. `later` where it may be taken another time. */
  async #post(signal: Signal, items: readonly string[]): Promise<"done" | "later"> {
    if (items.length === 0) return "done";
    const { endpoint, header: about, net, clock } = this.#options;
    const late = new AbortController();
    const inTime = clock.after(requestTimeoutMs, () =>
      late.abort(new Error(`no answer within ${requestTimeoutMs / 1000} s`)),
    );
    try {
      const answer = await net.send(
        {
          method: "POST",
          url: `${endpoint.replace(/\/+$/, "")}/v1/${signal}`,
          headers: { "content-type": "application/json" },
          body: encodePayload(signal, { ...about, items }),
        },
        AbortSignal.any([late.signal, this.#stop.signal]),
      );
      await readBodyText(answer, 10_000);
      if (answer.status >= 200 && answer.status < 300) return "done";
      this.#tell(`it answered ${answer.status}`);
      return retryableStatuses.has(answer.status) ? "later" : "done";
    } catch (error) {
      this.#tell(error instanceof Error ? error.message : String(error));
      return "later";
    } finally {
      inTime();
    }
  }

  #tell(why: string): void {
    if (this.#isTold) return;
    this.#isTold = true;
    const { onError: trouble, endpoint } = this.#options;
    trouble(`Telemetry cannot be delivered to ${endpoint}: ${why}. The work goes on without it.`);
  }
}

/** The answers after which OTLP lets a client send the same again. */
const retryableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);
