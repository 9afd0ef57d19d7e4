import { expect, it } from "vitest";
import type { TelemetrySpan } from "./otlp.ts";
import { startRequestSpan } from "./request-span.ts";
import { formatTraceparent, parseTraceparent } from "./trace-context.ts";

const [trace, id] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];

it("reads a traceparent by W3C Trace Context", () => {
  const parent = { trace, id };
  expect(parseTraceparent(formatTraceparent(parent))).toEqual(parent);
  expect(parseTraceparent(`00-${trace}-${id}-00`)).toEqual(parent);
  expect(parseTraceparent(`cc-${trace}-${id}-01-more`)).toEqual(parent);
  for (const text of [
    undefined,
    "",
    `00-${trace}-${id}`,
    `00-${trace}-${id}-01-more`,
    `ff-${trace}-${id}-01`,
    `00-${trace.toUpperCase()}-${id}-01`,
    `00-${"0".repeat(32)}-${id}-01`,
    `00-${trace}-${"0".repeat(16)}-01`,
    `00-${trace}-${id}-01\r\nx: y`,
  ])
    expect(parseTraceparent(text)).toBeUndefined();
});

it("exports the route, the method and the status of a request, and a failure of the server as one", () => {
  const spans: TelemetrySpan[] = [];
  let elapsed = 10;
  const clock = { now: () => 1000, elapsed: () => elapsed };
  const span = startRequestSpan(`00-${trace}-${id}-01`, {
    clock,
    newId: (digits) => "a".repeat(digits),
    export: (each) => spans.push(each),
  });
  expect(span.traceparent).toBe(`00-${trace}-${"a".repeat(16)}-01`);
  elapsed = 15;
  span.end({ method: "other", route: "unknown", status: 503 });
  expect(spans).toEqual([
    {
      trace,
      id: "a".repeat(16),
      parent: id,
      name: "HTTP",
      kind: "server",
      start: 1000,
      end: 1005,
      attributes: { "http.request.method": "_OTHER", "http.response.status_code": 503, "error.type": "503" },
      failed: true,
    },
  ]);
});
