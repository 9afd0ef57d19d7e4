import type { TelemetryAttributes, Histogram, HistogramSeries } from "./otlp.ts";

/** The measured quantities of a request: tokens, and duration in seconds. */
export type MeasuredQuantity = "tokens" | "duration";

/** The metrics, with the bucket bounds the GenAI conventions recommend. */
const quantities: { readonly [quantity in MeasuredQuantity]: Omit<Histogram, "series"> } = {
  tokens: {
    name: "gen_ai.client.token.usage",
    unit: "{token}",
    description: "Tokens used, by request.",
    bounds: Array.from({ length: 14 }, (_, power) => 4 ** power),
  },
  duration: {
    name: "gen_ai.client.operation.duration",
    unit: "s",
    description: "Duration of requests.",
    bounds: Array.from({ length: 14 }, (_, power) => 2 ** power / 100),
  },
};

/** Cumulative histograms. */
export class Histograms {
  readonly #series = { tokens: new Map<string, HistogramSeries>(), duration: new Map<string, HistogramSeries>() };

  add(quantity: MeasuredQuantity, value: number, attributes: TelemetryAttributes): void {
    const { bounds } = quantities[quantity];
    const all = this.#series[quantity];
    const key = JSON.stringify(attributes);
    const known = all.get(key);
    const first = bounds.findIndex((bound) => value <= bound);
    const at = first < 0 ? bounds.length : first;
    const counts = known?.counts ?? Array.from({ length: bounds.length + 1 }, () => 0);
    all.set(key, {
      attributes,
      counts: counts.map((count, index) => (index === at ? count + 1 : count)),
      sum: (known?.sum ?? 0) + value,
      min: Math.min(known?.min ?? value, value),
      max: Math.max(known?.max ?? value, value),
    });
  }

  /** All histograms with data. */
  all(): readonly Histogram[] {
    return (["tokens", "duration"] as const).flatMap((quantity) => {
      const series = [...this.#series[quantity].values()];
      return series.length === 0 ? [] : [{ ...quantities[quantity], series }];
    });
  }
}
