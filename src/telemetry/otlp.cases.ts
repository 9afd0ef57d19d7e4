/*
 * The OTLP JSON format a collector accepts, from the protocol's
 * definition: fields in lower camel case and no others, ids in hexadecimal,
 * 64-bit numbers as digits in text, enumerations as numbers, and every value
 * of an attribute exactly one of its kinds.
 */

/** Returns the errors of a value. */
type Check = (value: unknown, at: string) => readonly string[];

const is =
  (what: string, holds: (value: unknown) => boolean): Check =>
  (value, at) =>
    holds(value) ? [] : [`${at} is not ${what}: ${JSON.stringify(value)}`];

const matches = (what: string, pattern: RegExp): Check =>
  is(what, (value) => typeof value === "string" && pattern.test(value));

const text: Check = is("text", (value) => typeof value === "string" && value.isWellFormed());
const filled: Check = is("a filled text", (value) => typeof value === "string" && value !== "");
const number: Check = is("a number", (value) => typeof value === "number" && Number.isFinite(value));
const count: Check = matches("a 64-bit count", /^\d{1,20}$/);
/** Between 2001 and 2286, so that a wrong unit is detected. */
const time: Check = matches("a time in nanoseconds", /^\d{19}$/);
const traceId: Check = matches("a trace id", /^(?!0+$)[0-9a-f]{32}$/);
const spanId: Check = matches("a span id", /^(?!0+$)[0-9a-f]{16}$/);
const oneOf = (...values: readonly unknown[]): Check =>
  is(`one of ${values.join(", ")}`, (value) => values.includes(value));

const list =
  (of: Check): Check =>
  (value, at) =>
    Array.isArray(value) ? value.flatMap((each, index) => of(each, `${at}/${index}`)) : [`${at} is not a list`];

const filledList =
  (of: Check): Check =>
  (value, at) =>
    Array.isArray(value) && value.length > 0 ? list(of)(value, at) : [`${at} is not a filled list`];

/** Required and optional fields. */
const fields =
  (required: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>> = {}): Check =>
  (value, at) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${at} is not an object`];
    const known = { ...required, ...optional };
    return [
      ...Object.keys(required).flatMap((name) => (name in value ? [] : [`${at}/${name} is missing`])),
      ...Object.entries(value).flatMap(
        ([name, each]) => known[name]?.(each, `${at}/${name}`) ?? [`${at}/${name} is unknown`],
      ),
    ];
  };

const anyValue: Check = (value, at) => {
  const kinds: Readonly<Record<string, Check>> = {
    stringValue: text,
    boolValue: is("true or false", (each) => typeof each === "boolean"),
    intValue: matches("a 64-bit number", /^-?\d{1,19}$/),
    doubleValue: number,
    arrayValue: fields({ values: list(anyValue) }),
  };
  const names = Object.keys(value ?? {});
  return names.length === 1 ? fields({}, kinds)(value, at) : [`${at} has ${names.length} kinds, not one`];
};

const attributes: Check = (value, at) => {
  const keys = (Array.isArray(value) ? value : []).map((each: { readonly key?: unknown }) => each.key);
  const repeated = keys.filter((key, index) => keys.indexOf(key) !== index);
  return [
    ...list(fields({ key: filled, value: anyValue }))(value, at),
    ...repeated.map((key) => `${at} has ${String(key)} twice`),
  ];
};

const resource = fields({ attributes });
const scope = fields({ name: filled, version: filled });

const ordered =
  (check: Check, first: string, last: string): Check =>
  (value, at) => {
    const { [first]: from, [last]: to } = value as Readonly<Record<string, string>>;
    return [...check(value, at), ...(BigInt(from ?? 0) <= BigInt(to ?? 0) ? [] : [`${at} ends before it begins`])];
  };

const span = ordered(
  fields(
    {
      traceId,
      spanId,
      name: filled,
      kind: oneOf(1, 2, 3, 4, 5),
      startTimeUnixNano: time,
      endTimeUnixNano: time,
      attributes,
    },
    { parentSpanId: spanId, status: fields({}, { code: oneOf(0, 1, 2), message: text }) },
  ),
  "startTimeUnixNano",
  "endTimeUnixNano",
);

const logRecord = fields(
  { timeUnixNano: time, body: anyValue, attributes },
  {
    observedTimeUnixNano: time,
    severityNumber: is("1 to 24", (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 24),
    severityText: filled,
    eventName: filled,
    traceId,
    spanId,
  },
);

const dataPoint: Check = (value, at) => {
  const point = value as {
    readonly count: string;
    readonly bucketCounts: readonly string[];
    readonly explicitBounds: readonly number[];
  };
  const wrong = ordered(
    fields({
      attributes,
      startTimeUnixNano: time,
      timeUnixNano: time,
      count,
      sum: number,
      min: number,
      max: number,
      bucketCounts: list(count),
      explicitBounds: list(number),
    }),
    "startTimeUnixNano",
    "timeUnixNano",
  )(value, at);
  if (wrong.length > 0) return wrong;
  const total = point.bucketCounts.reduce((all, each) => all + BigInt(each), 0n);
  return [
    ...(total === BigInt(point.count) ? [] : [`${at}/bucketCounts do not add up to the count`]),
    ...(point.bucketCounts.length === point.explicitBounds.length + 1
      ? []
      : [`${at} needs one bucket more than bounds`]),
    ...(point.explicitBounds.every((bound, index) => index === 0 || bound > (point.explicitBounds[index - 1] ?? 0))
      ? []
      : [`${at}/explicitBounds do not grow`]),
  ];
};

const metric = fields(
  {
    name: filled,
    unit: filled,
    histogram: fields({ aggregationTemporality: oneOf(1, 2), dataPoints: filledList(dataPoint) }),
  },
  { description: text },
);

const checks: Readonly<Record<string, Check>> = {
  "/v1/traces": fields({
    resourceSpans: filledList(fields({ resource, scopeSpans: filledList(fields({ scope, spans: filledList(span) })) })),
  }),
  "/v1/logs": fields({
    resourceLogs: filledList(
      fields({ resource, scopeLogs: filledList(fields({ scope, logRecords: filledList(logRecord) })) }),
    ),
  }),
  "/v1/metrics": fields({
    resourceMetrics: filledList(
      fields({ resource, scopeMetrics: filledList(fields({ scope, metrics: filledList(metric) })) }),
    ),
  }),
};

/** Returns the errors of a body sent to a path. */
export const findOtlpErrors = (path: string, body: unknown): readonly string[] =>
  checks[path]?.(body, "") ?? [`nothing is sent to ${path}`];
