import { modelName } from "../../agent/model-name.ts";
import type { Opened } from "../../agent/open.ts";
import type { ServerState } from "../../mcp/server.ts";
import type { Usage } from "../../wire/decode.ts";
import type { Spent } from "../../agent/events.ts";
import { cut, span } from "../text/line.ts";
import type { Line } from "../text/style.ts";
import type { Talk } from "./talk.ts";

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
  /** MCP servers that are being started, and those that are not there. */
  readonly starting: readonly string[];
  readonly missing: readonly string[];
};

/** What a session tells of itself. */
export const talkStatus = ({ opened, context, last }: Talk): Omit<Status, "mode" | "isTrusted" | "isSandboxed"> => ({
  model: modelName(opened.agent.model()),
  ...context,
  last,
  spent: opened.agent.spent(),
  starting: serversIn(opened, ["connecting", "restarting"]),
  missing: serversIn(opened, ["failed", "sign-in"]),
});

const serversIn = ({ servers }: Opened, states: readonly ServerState["state"][]): readonly string[] =>
  (servers?.status() ?? []).flatMap(({ name, status }) => (states.includes(status.state) ? [name] : []));

/** Where we are: model, context, cache, cost, what is allowed. The most important stands first. */
export const viewStatus = (status: Status | undefined, width: number): Line => {
  if (status === undefined) return [span("…", { tone: "muted" })];
  const { model, used, size, last, spent, mode, isTrusted, isSandboxed, starting, missing } = status;
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
      ...(starting.length === 0 ? [] : [span(` · starting ${starting.join(", ")}`, { tone: "muted" })]),
      ...(missing.length === 0 ? [] : [span(` · without ${missing.join(", ")}`, { tone: "warning" })]),
    ],
    width,
  );
};

const thousands = (count: number): string => {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1).replace(/\.0$/, "")}M`;
};
