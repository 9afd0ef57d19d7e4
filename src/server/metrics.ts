import type { ServiceGauges } from "../fleet/service.ts";

/** Counts the requests of a front door. Labels hold routes and statuses, never a tenant or a session. */
export class HttpMetrics {
  readonly #requests = new Map<string, number>();
  readonly #durations = new Map<string, { readonly buckets: number[]; sum: number; count: number }>();
  #events = 0;

  countRequest(
    route: string,
    { method, status, seconds }: { readonly method: string; readonly status: number; readonly seconds: number },
  ): void {
    const labels = `method="${method}",route="${route}"`;
    const key = `${labels},status="${status}"`;
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
    const known = this.#durations.get(labels) ?? { buckets: bounds.map(() => 0), sum: 0, count: 0 };
    for (const [index, bound] of bounds.entries())
      if (seconds <= bound) known.buckets[index] = (known.buckets[index] ?? 0) + 1;
    known.sum += seconds;
    known.count += 1;
    this.#durations.set(labels, known);
  }

  countEvent(): void {
    this.#events += 1;
  }

  /** The metrics in the Prometheus text format. */
  format({ openSessions, runningTurns, queuedSessions, followers }: ServiceGauges): string {
    const lines = [
      "# HELP parley_http_requests_total Requests answered.",
      "# TYPE parley_http_requests_total counter",
      ...[...this.#requests].map(([labels, count]) => `parley_http_requests_total{${labels}} ${count}`),
      "# HELP parley_http_request_duration_seconds Time until a request was answered.",
      "# TYPE parley_http_request_duration_seconds histogram",
      ...[...this.#durations].flatMap(([labels, { buckets, sum, count }]) => [
        ...bounds.map(
          (bound, index) =>
            `parley_http_request_duration_seconds_bucket{${labels},le="${bound}"} ${buckets[index] ?? 0}`,
        ),
        `parley_http_request_duration_seconds_bucket{${labels},le="+Inf"} ${count}`,
        `parley_http_request_duration_seconds_sum{${labels}} ${sum}`,
        `parley_http_request_duration_seconds_count{${labels}} ${count}`,
      ]),
      ...counter("parley_events_sent_total", "Events sent to followers.", this.#events),
      ...gauge("parley_open_sessions", "Sessions with an open agent.", openSessions),
      ...gauge("parley_running_turns", "Turns that run.", runningTurns),
      ...gauge("parley_queued_sessions", "Sessions that wait to run.", queuedSessions),
      ...gauge("parley_followers", "Connections that follow a session.", followers),
    ];
    return `${lines.join("\n")}\n`;
  }
}

const bounds = [0.005, 0.025, 0.1, 0.5, 2, 10];

const counter = (name: string, about: string, value: number): readonly string[] => [
  `# HELP ${name} ${about}`,
  `# TYPE ${name} counter`,
  `${name} ${value}`,
];

const gauge = (name: string, about: string, value: number): readonly string[] => [
  `# HELP ${name} ${about}`,
  `# TYPE ${name} gauge`,
  `${name} ${value}`,
];
