/** Named values. What is undefined is left out. */
export type Attributes = {
  readonly [name: string]: string | number | boolean | readonly string[] | undefined;
};

/** A piece of work from its beginning to its end. Times are milliseconds since 1970. */
export type Span = {
  readonly trace: string;
  readonly id: string;
  readonly parent?: string;
  readonly name: string;
  /** Whether it is work of our own, or a request to somebody else. */
  readonly kind: "internal" | "client";
  readonly start: number;
  readonly end: number;
  readonly attributes: Attributes;
  readonly failed: boolean;
};

/** Something that happened. */
export type LogRecord = {
  readonly name: string;
  readonly at: number;
  readonly severity: "info" | "error";
  readonly body: string;
  readonly trace: string;
  readonly span: string;
  readonly attributes: Attributes;
};

/** A distribution of one quantity for one set of attributes, since `start`. */
export type Series = {
  readonly attributes: Attributes;
  readonly counts: readonly number[];
  readonly sum: number;
  readonly least: number;
  readonly most: number;
};

/** A quantity and everything measured of it. */
export type Histogram = {
  readonly name: string;
  readonly unit: string;
  readonly about: string;
  readonly bounds: readonly number[];
  readonly series: readonly Series[];
};

/** A span as OTLP writes it in JSON. */
export const spanJson = (span: Span): string =>
  JSON.stringify({
    traceId: span.trace,
    spanId: span.id,
    ...(span.parent === undefined ? {} : { parentSpanId: span.parent }),
    name: span.name,
    kind: span.kind === "internal" ? 1 : 3,
    startTimeUnixNano: nanoseconds(span.start),
    endTimeUnixNano: nanoseconds(span.end),
    attributes: keyValues(span.attributes),
    status: span.failed ? { code: 2 } : {},
  });

/** A log record as OTLP writes it in JSON. */
export const logJson = ({ name, at, severity, body, trace, span, attributes }: LogRecord): string =>
  JSON.stringify({
    timeUnixNano: nanoseconds(at),
    observedTimeUnixNano: nanoseconds(at),
    severityNumber: severity === "info" ? 9 : 17,
    severityText: severity.toUpperCase(),
    eventName: name,
    body: { stringValue: body },
    attributes: keyValues(attributes),
    traceId: trace,
    spanId: span,
  });

/** A histogram as OTLP writes it in JSON: everything since the start, every time. */
export const histogramJson = (
  { name, unit, about, bounds, series }: Histogram,
  { start, now }: { readonly start: number; readonly now: number },
): string =>
  JSON.stringify({
    name,
    unit,
    description: about,
    histogram: {
      aggregationTemporality: 2,
      dataPoints: series.map(({ attributes, counts, sum, least, most }) => ({
        attributes: keyValues(attributes),
        startTimeUnixNano: nanoseconds(start),
        timeUnixNano: nanoseconds(now),
        count: String(counts.reduce((all, count) => all + count, 0)),
        sum,
        min: least,
        max: most,
        bucketCounts: counts.map(String),
        explicitBounds: bounds,
      })),
    },
  });

/** A kind of data, and what OTLP calls its parts. */
export type Signal = "traces" | "logs" | "metrics";

const words = {
  traces: ["resourceSpans", "scopeSpans", "spans"],
  logs: ["resourceLogs", "scopeLogs", "logRecords"],
  metrics: ["resourceMetrics", "scopeMetrics", "metrics"],
} as const;

/** A whole request of items that are JSON already. */
export const payload = (signal: Signal, { resource, scope, items }: Payload): string => {
  const [resources, scopes, list] = words[signal];
  const about = JSON.stringify({ attributes: keyValues(resource) });
  return `{"${resources}":[{"resource":${about},"${scopes}":[{"scope":${JSON.stringify(scope)},"${list}":[${items.join(",")}]}]}]}`;
};

export type Payload = {
  readonly resource: Attributes;
  readonly scope: { readonly name: string; readonly version: string };
  readonly items: readonly string[];
};

/** Nanoseconds do not fit into a number, so they are digits; more than microseconds no clock here tells. */
const nanoseconds = (ms: number): string => `${Math.round(ms * 1000)}000`;

type Value = Exclude<Attributes[string], undefined>;

const keyValues = (attributes: Attributes): readonly { readonly key: string; readonly value: unknown }[] =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: anyValue(value) }]));

const anyValue = (value: Value): unknown => {
  if (typeof value === "string") return { stringValue: value.toWellFormed() };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number")
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map(anyValue) } };
};
