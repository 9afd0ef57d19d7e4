import { pathToFileURL } from "node:url";
import { truncate, line, toLines, span } from "../text/line.ts";
import type { StyledLine, Tone } from "../text/style.ts";
import { wrap } from "../text/wrap.ts";
import { formatDuration } from "./spinner.ts";

/** The status of a tool call. */
export type ToolCallStatus = "waiting" | "asking" | "running" | "success" | "error" | "cancelled";

/** A tool call as shown in the transcript. */
export type ToolCallView = {
  readonly tool: string;
  /** The subject: a command, a path. */
  readonly title: string;
  readonly status: ToolCallStatus;
  /** The file it changed, as an absolute path: the title becomes a link where it shows it. */
  readonly file?: string | undefined;
  /** Elapsed milliseconds. */
  readonly elapsed?: number;
  /** The output so far, or the result. */
  readonly output: string;
  /** Whether the whole output is shown. */
  readonly isExpanded?: boolean;
  /** Whether the status is a word, for screen readers. */
  readonly isSpoken?: boolean;
  /** The key that expands collapsed output. */
  readonly expandKey?: string;
};

/** Visible lines of output: the last of a running call or a command, the first of any other result. */
const visibleLines = 5;

/** Shows a call: title and status, then its output, collapsed. */
export const viewToolCall = (call: ToolCallView, width: number): readonly StyledLine[] => {
  const { mark, word, tone } = marks[call.status];
  const isTimed = call.elapsed !== undefined && call.elapsed >= 1000 && !questionTools.has(call.tool);
  const time = isTimed ? ` ${formatDuration(call.elapsed)}` : "";
  const head: StyledLine = [
    span(call.isSpoken === true ? `${word}: ` : `${mark} `, { tone }),
    span(call.tool, { bold: true }),
    ...viewTitle(call),
    span(time, { tone: "muted" }),
  ];
  return [...viewHead(head, call, width), ...viewOutput(call, width)];
};

/** Tools that wait for the user: their time is the user's. */
export const questionTools: ReadonlySet<string> = new Set(["ask_user", "present_plan"]);

/** Lines of the title of a finished call; a call that may still change has one. */
const maxHeadLines = 3;

const viewHead = (head: StyledLine, { status, isExpanded = false }: ToolCallView, width: number): StyledLine[] => {
  if (status === "waiting" || status === "asking" || status === "running") return [truncate(head, width)];
  const lines = wrap(head, { width, breakAt: "arguments", rest: [{ text: "  ", style: {} }] });
  const shown = isExpanded ? lines : lines.slice(0, maxHeadLines);
  if (shown.length === lines.length) return [...shown];
  return shown.map((each, at) => (at === maxHeadLines - 1 ? truncate([...each, span("…")], width) : each));
};

/** The title; the path at its end is a link to the file. */
const viewTitle = ({ title, file }: ToolCallView): StyledLine => {
  const path = file === undefined ? "" : shownPath(title, file);
  if (title === "") return [];
  if (file === undefined || path === "") return [span(` ${title}`)];
  return [span(` ${title.slice(0, -path.length)}`), span(path, { link: pathToFileURL(file).href })];
};

/** The longest end of a path, by whole names, that a title ends with. */
const shownPath = (title: string, file: string): string => {
  const names = file.split("/");
  const ends = names.map((_, from) => names.slice(from).join("/"));
  return ends.find((end) => end !== "" && (title === end || title.endsWith(` ${end}`))) ?? "";
};

const marks: Readonly<Record<ToolCallStatus, { readonly mark: string; readonly word: string; readonly tone: Tone }>> = {
  waiting: { mark: "○", word: "Waiting", tone: "muted" },
  asking: { mark: "?", word: "Asking", tone: "warning" },
  running: { mark: "◐", word: "Running", tone: "accent" },
  success: { mark: "✓", word: "Done", tone: "success" },
  error: { mark: "✗", word: "Failed", tone: "error" },
  cancelled: { mark: "⊘", word: "Cancelled", tone: "muted" },
};

const viewOutput = (
  { tool, output, status, isExpanded = false, isSpoken = false, expandKey = "Ctrl-O" }: ToolCallView,
  width: number,
): readonly StyledLine[] => {
  const text = output.replace(/^(?:[ \t]*\n)+|\n+$/g, "");
  if (text === "") return [];
  const room = Math.max(4, width - 2);
  const tone: Tone = status === "error" ? "error" : "muted";
  if (isExpanded)
    return toLines(text, { tone }).flatMap((each) => indented(wrap(each, { width: room, breakAt: "characters" })));
  // Only the visible lines are laid out, however long the output is.
  const all = text.split("\n");
  if ((status === "error" || status === "cancelled") && all.length <= visibleLines)
    return indented(viewReason(all, tone, room));
  const isTail = status === "running" || tool === "run_shell_command";
  // One hidden line takes as much room as the line that would name it.
  const count = all.length === visibleLines + 1 ? all.length : visibleLines;
  const kept = isTail ? all.slice(-count) : all.slice(0, count);
  const hidden = all.length - kept.length;
  const shown = indented(
    toLines(kept.map((each) => each.slice(0, room * 4)).join("\n"), { tone }).map((each) => truncate(each, room)),
  );
  if (hidden === 0) return shown;
  const key = status === "running" ? "" : ` (${expandKey}${isSpoken ? " and Enter" : ""} to expand)`;
  const more = indented([
    line(`… ${hidden} ${isTail ? "earlier" : "more"} ${hidden === 1 ? "line" : "lines"}${key}`, { tone: "muted" }),
  ]);
  return isTail ? [...more, ...shown] : [...shown, ...more];
};

/** Shows why a call did not succeed: wrapped, since half a reason explains nothing. */
const viewReason = (reason: readonly string[], tone: Tone, room: number): readonly StyledLine[] => {
  const text = reason.map((each) => each.slice(0, room * visibleLines + 1)).join("\n");
  const rows = toLines(text, { tone }).flatMap((each) => wrap(each, { width: room }));
  const shown = rows.slice(0, visibleLines);
  if (shown.length === rows.length) return rows;
  return shown.map((each, at) => (at === visibleLines - 1 ? truncate([...each, span("…", { tone })], room) : each));
};

const indented = (lines: readonly StyledLine[]): readonly StyledLine[] =>
  lines.map((each) => [{ text: "  ", style: {} }, ...each]);
