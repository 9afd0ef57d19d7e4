import { modelName } from "../../agent/models/name.ts";
import type { AgentSession } from "../../agent/open-agent.ts";
import type { McpServerState } from "../../mcp/server.ts";
import type { TokenUsage } from "../../wire/decode/events.ts";
import type { UsageTotals } from "../../agent/events.ts";
import { truncate, span } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";
import type { ChatSession } from "./session/chat-session.ts";

/** The values of the status line. */
export type StatusLine = {
  readonly model: string;
  readonly used: number;
  readonly size: number;
  readonly last: TokenUsage | undefined;
  readonly spent: UsageTotals;
  readonly mode: string;
  readonly isTrusted: boolean;
  readonly isSandboxed: boolean;
  /** MCP servers that are starting, and those that are unavailable. */
  readonly starting: readonly string[];
  readonly missing: readonly string[];
};

/** The status of a chat session. */
export const chatStatus = ({
  opened,
  context,
  lastUsage,
}: ChatSession): Omit<StatusLine, "mode" | "isTrusted" | "isSandboxed"> => ({
  model: modelName(opened.agent.model()),
  ...context,
  last: lastUsage,
  spent: opened.agent.usageTotals(),
  starting: serversIn(opened, ["connecting", "restarting"]),
  missing: serversIn(opened, ["failed", "sign-in"]),
});

const serversIn = ({ servers }: AgentSession, states: readonly McpServerState["state"][]): readonly string[] =>
  (servers?.status() ?? []).flatMap(({ name, status }) => (states.includes(status.state) ? [name] : []));

/** Shows model, context use, cache share, cost and permissions, most important first. */
export const viewStatusLine = (status: StatusLine | undefined, width: number): StyledLine => {
  if (status === undefined) return [span("…", { tone: "muted" })];
  const { model, used, size, last, spent, mode, isTrusted, isSandboxed, starting, missing } = status;
  const full = size === 0 ? 0 : used / size;
  const cached = last === undefined || last.input === 0 ? undefined : last.cachedRead / last.input;
  const tone = full > 0.8 ? "warning" : "muted";
  return truncate(
    [
      span(model, { tone: "accent" }),
      ...(size === 0 ? [] : [span(` · ${Math.round(100 * full)}% of ${formatTokens(size)}`, { tone })]),
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

const formatTokens = (count: number): string => {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1).replace(/\.0$/, "")}M`;
};
