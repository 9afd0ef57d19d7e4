import { modelName } from "../../agent/models/name.ts";
import type { AgentSession } from "../../agent/open-agent.ts";
import type { McpServerState } from "../../mcp/server.ts";
import type { TokenUsage } from "../../wire/decode/events.ts";
import type { UsageTotals } from "../../agent/events.ts";
import { lineWidth, padLine, truncate, span } from "../text/line.ts";
import type { StyledLine, StyledSpan } from "../text/style.ts";
import type { ChatSession } from "./session/chat-session.ts";

/** The values of the status line. */
export type StatusLine = {
  readonly model: string;
  /** The reasoning effort, if one is set. */
  readonly effort?: string | undefined;
  readonly used: number;
  readonly size: number;
  readonly last: TokenUsage | undefined;
  /** Why most of the last request was not in the prompt cache. */
  readonly missCause?: string | undefined;
  readonly spent: UsageTotals;
  readonly mode: string;
  readonly isTrusted: boolean;
  readonly isSandboxed: boolean;
  /** MCP servers that are starting, and those that are unavailable. */
  readonly starting: readonly string[];
  readonly missing: readonly string[];
  /** The line of the user's own command, in place of the model and its use. */
  readonly custom?: string | undefined;
  /** The connected editor and what it shows. */
  readonly ide: string | undefined;
};

/** The status of a chat session. */
export const chatStatus = ({
  opened,
  context,
  lastUsage,
  cacheMissCause,
}: ChatSession): Omit<StatusLine, "mode" | "isTrusted" | "isSandboxed" | "ide"> => ({
  model: modelName(opened.agent.model()),
  effort: opened.agent.thinking(),
  ...context,
  last: lastUsage,
  missCause: cacheMissCause,
  spent: opened.agent.usageTotals(),
  starting: serversIn(opened, ["connecting", "restarting"]),
  missing: serversIn(opened, ["failed", "sign-in"]),
});

const serversIn = ({ servers }: AgentSession, states: readonly McpServerState["state"][]): readonly string[] =>
  (servers?.status() ?? []).flatMap(({ name, status }) => (states.includes(status.state) ? [name] : []));

/** A piece of the status line; the ones with the highest number are left out first where the line is too narrow. */
type StatusSegment = { readonly span: StyledSpan; readonly rank: number };

/** Shows the model and its use on the left, and permissions on the right, where they are never cut off. */
export const viewStatusLine = (status: StatusLine | undefined, width: number): StyledLine => {
  if (status === undefined) return [span("…", { tone: "muted" })];
  const right = joinSegments(permissionSegments(status));
  const room = width - lineWidth(right) - 2;
  let left: readonly StatusSegment[] =
    status.custom === undefined ? usageSegments(status) : [{ span: span(status.custom), rank: 0 }];
  while (left.length > 1 && lineWidth(joinSegments(left)) > room) left = withoutLeastImportant(left);
  const shown = truncate(joinSegments(left), Math.max(0, room));
  return truncate([...padLine(shown, Math.max(0, width - lineWidth(right))), ...right], width);
};

const usageSegments = ({
  model,
  effort,
  used,
  size,
  last,
  missCause,
  spent,
  starting,
  missing,
  ide,
}: StatusLine): readonly StatusSegment[] => {
  const full = size === 0 ? 0 : used / size;
  const cached = last === undefined || last.input === 0 ? undefined : last.cachedRead / last.input;
  return [
    { span: span(model, { tone: "accent" }), rank: 0 },
    ...(effort === undefined ? [] : [{ span: span(`effort ${effort}`, { tone: "muted" }), rank: 3 }]),
    ...(size === 0
      ? []
      : [
          {
            span: span(`${Math.round(100 * full)}% of ${formatTokens(size)}`, {
              tone: full > 0.8 ? "warning" : "muted",
            }),
            rank: 2,
          },
        ]),
    ...(cached === undefined
      ? []
      : [
          {
            span: span(`${Math.round(100 * cached)}% cached${missCause === undefined ? "" : ` (${missCause})`}`, {
              tone: "muted",
            }),
            rank: 4,
          },
        ]),
    ...(spent.cost > 0
      ? [{ span: span(`$${spent.cost.toFixed(spent.cost < 1 ? 3 : 2)}`, { tone: "muted" }), rank: 3 }]
      : []),
    ...(ide === undefined ? [] : [{ span: span(ide, { tone: "muted" }), rank: 3 }]),
    ...(starting.length === 0 ? [] : [{ span: span(`starting ${starting.join(", ")}`, { tone: "muted" }), rank: 5 }]),
    ...(missing.length === 0 ? [] : [{ span: span(`without ${missing.join(", ")}`, { tone: "warning" }), rank: 1 }]),
  ];
};

const permissionSegments = ({ mode, isTrusted, isSandboxed }: StatusLine): readonly StatusSegment[] => [
  ...(isTrusted ? [] : [{ span: span("not trusted", { tone: "warning" }), rank: 0 }]),
  ...(isSandboxed ? [{ span: span("sandbox", { tone: "success" }), rank: 0 }] : []),
  { span: span(mode, { tone: mode === "yolo" ? "warning" : "muted" }), rank: 0 },
];

const joinSegments = (segments: readonly StatusSegment[]): StyledLine =>
  segments.flatMap(({ span: each }, at) => (at === 0 ? [each] : [span(" · ", { tone: "muted" }), each]));

const withoutLeastImportant = (segments: readonly StatusSegment[]): readonly StatusSegment[] => {
  const least = Math.max(...segments.map(({ rank }) => rank));
  return segments.filter(({ rank }) => rank < least);
};

const formatTokens = (count: number): string => {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1).replace(/\.0$/, "")}M`;
};
