import type { Clock } from "../world/world.ts";
import type { TelemetrySpan } from "./otlp.ts";
import { formatTraceparent, parseTraceparent } from "./trace-context.ts";

/** The answer to a request: its route is a template, so no id is in a span. */
type AnsweredRequest = { readonly method: string; readonly route: string; readonly status: number };

/** The span of a request that a server answers. */
export type RequestSpan = {
  /** The span as a `traceparent`, for work that the request leads to. */
  readonly traceparent: string;
  readonly end: (answer: AnsweredRequest) => void;
};

/** Starts the span of a request; a valid `traceparent` of the client is its parent. */
export const startRequestSpan = (
  traceparent: string | undefined,
  {
    clock,
    newId,
    export: exportSpan,
  }: {
    readonly clock: Pick<Clock, "now" | "elapsed">;
    readonly newId: (digits: number) => string;
    readonly export: (span: TelemetrySpan) => void;
  },
): RequestSpan => {
  const parent = parseTraceparent(traceparent);
  const context = { trace: parent?.trace ?? newId(32), id: newId(16) };
  const [start, began] = [clock.now(), clock.elapsed()];
  return {
    traceparent: formatTraceparent(context),
    end: ({ method, route, status }) => {
      const isKnown = route !== "unknown";
      const failed = status >= 500;
      exportSpan({
        ...context,
        ...(parent === undefined ? {} : { parent: parent.id }),
        name: `${method === "other" ? "HTTP" : method}${isKnown ? ` ${route}` : ""}`,
        kind: "server",
        start,
        end: start + clock.elapsed() - began,
        attributes: {
          "http.request.method": method === "other" ? "_OTHER" : method,
          "http.route": isKnown ? route : undefined,
          "http.response.status_code": status,
          "error.type": failed ? String(status) : undefined,
        },
        failed,
      });
    },
  };
};
