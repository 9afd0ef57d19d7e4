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

export type ExporterOptions = {
  readonly net: Net;
  readonly clock: Clock;
  /** The collector's base URL, without the signal paths. */
  readonly endpoint: string;
  readonly header: Omit<OtlpPayload, "items">;
  /** Called once, on the first failed delivery. */
  readonly onError: (words: string) => void;
};

/** The delay between batches in milliseconds, and its maximum after failures (exponential backoff). */
const batchDelayMs = 5000;
const maxBackoffMs = 80_000;

/** A batch of this size is sent early. */
const maxBatchItems = 512;

/** The queue limit in characters; items beyond it are dropped. */
const maxQueuedCharacters = 8_000_000;

/** The request timeout, and the time `close` waits, in milliseconds. */
const requestTimeoutMs = 10_000;
const closeTimeoutMs = 2000;

type QueuedItem = { readonly signal: "traces" | "logs"; readonly json: string };

/** Sends recorded items to a collector, in batches, in the background. */
export class Exporter {
  readonly #options: ExporterOptions;
  readonly #histograms = new Histograms();
  readonly #began: number;
  readonly #stop = new AbortController();
  #pending: QueuedItem[] = [];
  #size = 0;
  /** Whether there are measurements that were not sent yet. */
  #measured = false;
  #pause = batchDelayMs;
  #delay: AbortController | undefined;
  #worker: Promise<void> | undefined;
  #isClosing = false;
  #isReported = false;

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

  /** Sends the rest of the queue. Always settles within the close timeout. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const inTime = this.#options.clock.after(closeTimeoutMs, () =>
      this.#stop.abort(new Error(`no response within ${closeTimeoutMs / 1000} s`)),
    );
    this.#delay?.abort();
    await this.#worker;
    if (!this.#stop.signal.aborted) await this.#send();
    inTime();
  }

  #add(item: QueuedItem): void {
    if (this.#isClosing || this.#size + item.json.length > maxQueuedCharacters) return;
    this.#pending.push(item);
    this.#size += item.json.length;
    this.#worker ??= this.#run();
    if (this.#isUrgent()) this.#delay?.abort();
  }

  /** Whether the queue should be sent early. Not while backing off after a failure. */
  #isUrgent(): boolean {
    return this.#pending.length >= maxBatchItems && this.#pause === batchDelayMs;
  }

  /** Waits and sends until the queue is empty. */
  async #run(): Promise<void> {
    while (this.#pending.length > 0 && !this.#isClosing) {
      this.#delay = new AbortController();
      if (!this.#isUrgent()) await this.#options.clock.sleep(this.#pause, this.#delay.signal).catch(() => undefined);
      if (!this.#isClosing) await this.#send();
    }
    this.#worker = undefined;
  }

  /** Sends the queue. Items the collector cannot accept now are queued again. */
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

  /** Sends one signal. Returns `later` if it can be retried. */
  async #post(signal: Signal, items: readonly string[]): Promise<"done" | "later"> {
    if (items.length === 0) return "done";
    const { endpoint, header: about, net, clock } = this.#options;
    const late = new AbortController();
    const inTime = clock.after(requestTimeoutMs, () =>
      late.abort(new Error(`no response within ${requestTimeoutMs / 1000} s`)),
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
      this.#reportOnce(`it responded with status ${answer.status}`);
      return retryableStatuses.has(answer.status) ? "later" : "done";
    } catch (error) {
      this.#reportOnce(error instanceof Error ? error.message : String(error));
      return "later";
    } finally {
      inTime();
    }
  }

  #reportOnce(why: string): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const { onError, endpoint } = this.#options;
    onError(`Cannot deliver telemetry to ${endpoint}: ${why}. The run continues without it.`);
  }
}

/** The response statuses OTLP allows a client to retry. */
const retryableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);
