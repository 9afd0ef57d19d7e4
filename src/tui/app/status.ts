import type { Usage } from "../../wire/index.ts";
import type { Spent } from "../../agent/index.ts";
import { cut, span } from "../text/line.ts";
import type { Line } from "../text/style.ts";

/** What the line at the bottom tells. */
export type Status = {
  readonly model: string;
  readonly used: number;
  readonly size: number;
  readonly last: Usage | undefined;
  readonly spent: Spent;
  readonly mode: string;
  readonly isTrusted: boolean;
  readonly isSandboxed: boolean;
  /** MCP servers that are not there. */
  readonly missing: readonly string[];
};

/** Where we are: model, context, cache, cost, what is allowed. The most important stands first. */
export const viewStatus = (status: Status, width: number): Line => {
  const { model, used, size, last, spent, mode, isTrusted, isSandboxed, missing } = status;
  const full = size === 0 ? 0 : used / size;
  const cached = last === undefined || last.input === 0 ? undefined : last.cachedRead / last.input;
  const tone = full > 0.8 ? "warning" : "muted";
  return cut(
    [
      span(model, { tone: "accent" }),
      ...(size === 0 ? [] : [span(` · ${Math.round(100 * full)}% of ${thousands(size)}`, { tone })]),
      ...(cached === undefined ? [] : [span(` · ${Math.round(100 * cached)}% cached`, { tone: "muted" })]),
      ...(spent.cost > 0 ? [span(` · $${spent.cost.toFixed(spent.cost < 1 ? 3 : 2)}`, { tone: "muted" })] : []),
      span(` · ${mode}`, { tone: mode === "yolo" ? "warning" : "muted" }),
      ...(isSandboxed ? [span(" · sandbox", { tone: "success" })] : []),
      ...(isTrusted ? [] : [span(" · not trusted", { tone: "warning" })]),
      ...(missing.length === 0 ? [] : [span(` · without ${missing.join(", ")}`, { tone: "warning" })]),
    ],
    width,
  );
};

const thousands = (count: number): string => {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1).replace(/\.0$/, "")}M`;
};
