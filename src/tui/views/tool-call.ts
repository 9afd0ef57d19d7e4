import { truncate, line, toLines, span } from "../text/line.ts";
import type { StyledLine, Tone } from "../text/style.ts";
import { wrap } from "../text/wrap.ts";
import { formatDuration } from "./spinner.ts";

/** How far a call has come. */
export type ToolCallStatus = "waiting" | "asking" | "running" | "success" | "error" | "cancelled";

/** A call of a tool as people see it. */
export type ToolCallView = {
  readonly tool: string;
  /** What it is about: a command, a path. */
  readonly title: string;
  readonly status: ToolCallStatus;
  /** Milliseconds it has taken. */
  readonly elapsed?: number;
  /** What it has said so far, or its result. */
  readonly output: string;
  /** The whole output, rather than its end or its beginning. */
  readonly isExpanded?: boolean;
};

/** How many lines of output are shown: of what runs, the last; of what is done, the first. */
const visibleLines = 5;

/** A call as lines: what it is and how it goes, then its output, folded. */
export const viewToolCall = (call: ToolCallView, width: number): readonly StyledLine[] => {
  const { mark, tone } = marks[call.status];
  const time = call.elapsed !== undefined && call.elapsed >= 1000 ? ` ${formatDuration(call.elapsed)}` : "";
  const head: StyledLine = [
    span(`${mark} `, { tone }),
    span(call.tool, { bold: true }),
    span(call.title === "" ? "" : ` ${call.title}`),
    span(time, { tone: "muted" }),
  ];
  return [truncate(head, width), ...viewOutput(call, width)];
};

const marks: Readonly<Record<ToolCallStatus, { readonly mark: string; readonly tone: Tone }>> = {
  waiting: { mark: "○", tone: "muted" },
  asking: { mark: "?", tone: "warning" },
  running: { mark: "◐", tone: "accent" },
  success: { mark: "✓", tone: "success" },
  error: { mark: "✗", tone: "error" },
  cancelled: { mark: "⊘", tone: "muted" },
};

const viewOutput = (
  { output, status, isExpanded: isOpen = false }: ToolCallView,
  width: number,
): readonly StyledLine[] => {
  const text = output.replace(/\n+$/, "");
  if (text === "") return [];
  const room = Math.max(4, width - 2);
  const tone: Tone = status === "error" ? "error" : "muted";
  if (isOpen)
    return toLines(text, { tone }).flatMap((each) => indented(wrap(each, { width: room, breakAt: "letters" })));
  // Only what is shown is laid out, however much there is.
  const all = text.split("\n");
  const isTail = status === "running";
  const kept = isTail ? all.slice(-visibleLines) : all.slice(0, visibleLines);
  const hidden = all.length - kept.length;
  const shown = indented(
    toLines(kept.map((each) => each.slice(0, room * 4)).join("\n"), { tone }).map((each) => truncate(each, room)),
  );
  if (hidden === 0) return shown;
  const more = indented([
    line(`… ${hidden} ${isTail ? "earlier" : "more"} ${hidden === 1 ? "line" : "lines"}`, { tone: "muted" }),
  ]);
  return isTail ? [...more, ...shown] : [...shown, ...more];
};

const indented = (lines: readonly StyledLine[]): readonly StyledLine[] =>
  lines.map((each) => [{ text: "  ", style: {} }, ...each]);
