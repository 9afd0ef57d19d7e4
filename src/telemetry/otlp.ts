/** Named values; undefined ones are omitted. */
export type TelemetryAttributes = {
  readonly [name: string]: string | number | boolean | readonly string[] | undefined;
};

/** A span. Times are milliseconds since 1970. */
export type TelemetrySpan = {
  readonly trace: string;
  readonly id: string;
  readonly parent?: string;
  readonly name: string;
  /** Internal work, an answered request, or a request to a service. */
  readonly kind: keyof typeof spanKinds;
  readonly start: number;
  readonly end: number;
  readonly attributes: TelemetryAttributes;
  readonly failed: boolean;
};

/** A log record. */
export type LogRecord = {
  readonly name: string;
  readonly at: number;
  readonly severity: "info" | "error";
  readonly body: string;
  readonly trace: string;
  readonly span: string;
  readonly attributes: TelemetryAttributes;
};

/** A distribution of one quantity for one set of attributes, since `start`. */
export type HistogramSeries = {
  readonly attributes: TelemetryAttributes;
  readonly counts: readonly number[];
  readonly sum: number;
  readonly min: number;
  readonly max: number;
};

/** A metric with all of its series. */
export type Histogram = {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly bounds: readonly number[];
  readonly series: readonly HistogramSeries[];
};

const spanKinds = { internal: 1, server: 2, client: 3 } as const;

/** Encodes a span as OTLP JSON. */
export const encodeSpan = (span: TelemetrySpan): string =>
  JSON.stringify({
    traceId: span.trace,
    spanId: span.id,
    ...(span.parent === undefined ? {} : { parentSpanId: span.parent }),
    name: span.name,
    kind: spanKinds[span.kind],
    startTimeUnixNano: toNanoseconds(span.start),
    endTimeUnixNano: toNanoseconds(span.end),
    attributes: encodeAttributes(span.attributes),
    status: span.failed ? { code: 2 } : {},
  });

/** Encodes a log record as OTLP JSON. */
export const encodeLogRecord = ({ name, at, severity, body, trace, span, attributes }: LogRecord): string =>
  JSON.stringify({
    timeUnixNano: toNanoseconds(at),
    observedTimeUnixNano: toNanoseconds(at),
    severityNumber: severity === "info" ? 9 : 17,
    severityText: severity.toUpperCase(),
    eventName: name,
    body: { stringValue: body },
    attributes: encodeAttributes(attributes),
    traceId: trace,
    spanId: span,
  });

/** Encodes a histogram as OTLP JSON, with cumulative temporality. */
export const encodeHistogram = (
  { name, unit, description: about, bounds, series }: Histogram,
  { start, now }: { readonly start: number; readonly now: number },
): string =>
  JSON.stringify({
    name,
    unit,
    description: about,
    histogram: {
      aggregationTemporality: 2,
      dataPoints: series.map(({ attributes, counts, sum, min: least, max: most }) => ({
        attributes: encodeAttributes(attributes),
        startTimeUnixNano: toNanoseconds(start),
        timeUnixNano: toNanoseconds(now),
        count: String(counts.reduce((all, count) => all + count, 0)),
        sum,
        min: least,
        max: most,
        bucketCounts: counts.map(String),
        explicitBounds: bounds,
      })),
    },
  });

/** An OTLP signal. */
export type Signal = "traces" | "logs" | "metrics";

const payloadKeys = {
  traces: ["resourceSpans", "scopeSpans", "spans"],
  logs: ["resourceLogs", "scopeLogs", "logRecords"],
  metrics: ["resourceMetrics", "scopeMetrics", "metrics"],
} as const;

/** Encodes a request body from items that are JSON already. */
export const encodePayload = (signal: Signal, { resource, scope, items }: OtlpPayload): string => {
  const [resources, scopes, list] = payloadKeys[signal];
  const about = JSON.stringify({ attributes: encodeAttributes(resource) });
  return `{"${resources}":[{"resource":${about},"${scopes}":[{"scope":${JSON.stringify(scope)},"${list}":[${items.join(",")}]}]}]}`;
};

export type OtlpPayload = {
  readonly resource: TelemetryAttributes;
  readonly scope: { readonly name: string; readonly version: string };
  readonly items: readonly string[];
};

/** Nanoseconds do not fit into a number, so they are a string; the clock has microseconds at most. */
const toNanoseconds = (ms: number): string => `${Math.round(ms * 1000)}000`;

type AttributeValue = Exclude<TelemetryAttributes[string], undefined>;

const encodeAttributes = (
  attributes: TelemetryAttributes,
): readonly { readonly key: string; readonly value: unknown }[] =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: encodeValue(value) }],
  );

const encodeValue = (value: AttributeValue): unknown => {
  if (typeof value === "string") return { stringValue: value.toWellFormed() };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number")
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map(encodeValue) } };
};
