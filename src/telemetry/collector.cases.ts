import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { findOtlpErrors } from "./otlp.cases.ts";

/** A collector on loopback that validates everything it receives. */
export type FakeCollector = {
  readonly url: string;
  /** The received requests. */
  readonly requests: readonly { readonly path: string; readonly type: string | undefined; readonly body: string }[];
  /** Format errors in them. */
  readonly faults: readonly string[];
  readonly spans: () => readonly ReadSpan[];
  readonly logs: () => readonly ReadLog[];
  /** The histograms of the last metrics request. */
  readonly metrics: () => readonly ReadMetric[];
  readonly close: () => Promise<void>;
};

type AttributeValues = Readonly<Record<string, unknown>>;
export type ReadSpan = {
  readonly name: string;
  readonly trace: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly kind: number;
  readonly ms: readonly [number, number];
  readonly failed: boolean;
  readonly attributes: AttributeValues;
};
export type ReadLog = {
  readonly name: string;
  readonly ms: number;
  readonly severity: string;
  readonly body: string;
  readonly span: string;
  readonly attributes: AttributeValues;
};
export type ReadMetric = {
  readonly name: string;
  readonly unit: string;
  readonly points: readonly {
    readonly count: number;
    readonly sum: number;
    readonly filled: AttributeValues;
    readonly attributes: AttributeValues;
  }[];
};

/** Opens a collector. `answer` overrides its response. */
export const openFakeCollector = async (
  answer: (response: ServerResponse, path: string) => void = accept,
): Promise<FakeCollector> => {
  const requests: { path: string; type: string | undefined; body: string }[] = [];
  const faults: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url ?? "";
      const body = Buffer.concat(chunks).toString("utf8");
      requests.push({ path, type: request.headers["content-type"], body });
      faults.push(...findOtlpErrors(path, JSON.parse(body)).map((fault) => `${path}${fault}`));
      answer(response, path);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const read = <Item>(path: string, names: readonly [string, string, string]): readonly Item[] =>
    requests
      .filter((request) => request.path === path)
      .flatMap(({ body }) => listItems(JSON.parse(body), names) as Item[]);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    faults,
    spans: () => read<OtlpSpan>("/v1/traces", ["resourceSpans", "scopeSpans", "spans"]).map(readSpan),
    logs: () => read<OtlpLog>("/v1/logs", ["resourceLogs", "scopeLogs", "logRecords"]).map(readLog),
    metrics: () => {
      const last = requests.findLast(({ path }) => path === "/v1/metrics");
      const all =
        last === undefined ? [] : listItems(JSON.parse(last.body), ["resourceMetrics", "scopeMetrics", "metrics"]);
      return (all as readonly OtlpMetric[]).map(readMetric);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const accept = (response: ServerResponse): void => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end("{}");
};

type OtlpNode = { readonly [name: string]: readonly OtlpNode[] };

const listItems = (body: unknown, [resources, scopes, items]: readonly [string, string, string]): readonly unknown[] =>
  ((body as OtlpNode)[resources] ?? []).flatMap((each) => (each[scopes] ?? []).flatMap((scope) => scope[items] ?? []));

type OtlpValue = {
  readonly stringValue?: string;
  readonly intValue?: string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly OtlpValue[] };
};
type OtlpAttributes = readonly { readonly key: string; readonly value: OtlpValue }[];
type OtlpSpan = {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: OtlpAttributes;
};
type OtlpLog = {
  readonly eventName: string;
  readonly timeUnixNano: string;
  readonly severityText: string;
  readonly body: OtlpValue;
  readonly spanId: string;
  readonly attributes: OtlpAttributes;
};
type OtlpMetric = {
  readonly name: string;
  readonly unit: string;
  readonly histogram: {
    readonly dataPoints: readonly {
      readonly count: string;
      readonly sum: number;
      readonly bucketCounts: readonly string[];
      readonly explicitBounds: readonly number[];
      readonly attributes: OtlpAttributes;
    }[];
  };
};

const readSpan = (span: OtlpSpan): ReadSpan => ({
  name: span.name,
  trace: span.traceId,
  id: span.spanId,
  parent: span.parentSpanId,
  kind: span.kind,
  ms: [milliseconds(span.startTimeUnixNano), milliseconds(span.endTimeUnixNano)],
  failed: span.status.code === 2,
  attributes: valuesOf(span.attributes),
});

const readLog = ({ eventName, timeUnixNano, severityText, body, spanId, attributes }: OtlpLog): ReadLog => ({
  name: eventName,
  ms: milliseconds(timeUnixNano),
  severity: severityText,
  body: String(valueOf(body)),
  span: spanId,
  attributes: valuesOf(attributes),
});

const readMetric = ({ name, unit, histogram }: OtlpMetric): ReadMetric => ({
  name,
  unit,
  points: histogram.dataPoints.map(({ count, sum, bucketCounts, explicitBounds, attributes }) => ({
    count: Number(count),
    sum,
    // Non-empty buckets, by upper bound.
    filled: Object.fromEntries(
      bucketCounts.flatMap((each, at) => (each === "0" ? [] : [[String(explicitBounds[at] ?? "more"), Number(each)]])),
    ),
    attributes: valuesOf(attributes),
  })),
});

const milliseconds = (nanoseconds: string): number => Number(BigInt(nanoseconds) / 1000n) / 1000;

const valuesOf = (attributes: OtlpAttributes): AttributeValues =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));

const valueOf = (value: OtlpValue): unknown => {
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(valueOf);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
};
