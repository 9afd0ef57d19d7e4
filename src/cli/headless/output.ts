import { describeHookActivity } from "../../extensions/hooks/describe-activity.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { AgentEvent, AgentFailure, UsageTotals } from "../../agent/events.ts";
import type { JsonObject } from "../../conversation/json.ts";
import type { CallDenial, FinishedCall } from "../../scheduler/events.ts";
import type { RenderReport } from "../../transcript/incremental-renderer.ts";
import type { TokenUsage } from "../../wire/decode/events.ts";

/** An output format of headless runs. */
export type HeadlessOutput = {
  /** Called with every event of every turn. */
  readonly onEvent: (event: AgentEvent) => void;
  /** Called once, at the end of the run. */
  readonly end: (result: RunResult) => void;
};

/** Facts that do not change during a run. */
export type RunInfo = {
  readonly session: string | undefined;
  readonly model: string | undefined;
  readonly folder: string;
};

/** The result of a run. */
export type RunResult = {
  readonly status: "success" | "error" | "cancelled";
  /** Why the last turn ended: `stop`, or the cause of an early end. */
  readonly reason: string;
  readonly response: string;
  /** The value of the response, where `--json-schema` is set. */
  readonly output?: unknown;
  readonly error?: { readonly type: string; readonly message: string };
  /** The report of the last request, if the provider rejected it. */
  readonly report?: RenderReport;
  readonly spent: UsageTotals;
  readonly calls: { readonly total: number; readonly failed: number };
  /** The calls that were denied. */
  readonly denials: readonly PermissionDenial[];
  readonly duration: number;
};

/** A denied call, and the options that would have allowed it. */
export type PermissionDenial = CallDenial & {
  readonly tool: string;
  readonly call: string;
  readonly parameters: JsonObject;
};

/** Where output is written. */
export type OutputWriters = {
  readonly out: (text: string) => void;
  readonly now: () => number;
  /** Redacts secrets in arguments and results of tools. */
  readonly redact?: (text: string) => string;
};

/** Creates the `text` output: the final response of each turn, and nothing else. */
export const createTextOutput = ({ out }: OutputWriters): HeadlessOutput => ({
  onEvent: (event) => {
    if (event.type !== "finished") return;
    const text = "output" in event ? JSON.stringify(event.output) : event.text;
    if (text !== "") out(text.endsWith("\n") ? text : `${text}\n`);
  },
  end: () => undefined,
});

/** Creates the `json` output: one object at the end. */
export const createJsonOutput = ({ out }: OutputWriters, { session, model }: RunInfo): HeadlessOutput => ({
  onEvent: () => undefined,
  end: ({ status, reason, response, error, report, denials, ...stats }) =>
    out(
      `${JSON.stringify(
        {
          session_id: session ?? null,
          model: model ?? null,
          status,
          reason,
          response,
          ...outputFields(stats),
          ...(error && { error: { ...error, ...(report && { report }) } }),
          permission_denials: denials.map(denialFields),
          stats: statsFields(stats),
        },
        undefined,
        2,
      )}\n`,
    ),
});

/** Creates the `stream-json` output: one object per line, as events happen. */
export const createStreamOutput = (writers: OutputWriters, { session, model, folder }: RunInfo): HeadlessOutput => {
  const { redact = (text: string): string => text } = writers;
  const hide = (_: string, value: unknown): unknown => (typeof value === "string" ? redact(value) : value);
  const line = (fields: StreamLine): void => {
    const whole = { ...fields, timestamp: new Date(writers.now()).toISOString() };
    writers.out(`${JSON.stringify(whole, redactedLineTypes.has(fields.type) ? hide : undefined)}\n`);
  };
  line({ type: "init", session_id: session ?? null, model: model ?? null, cwd: folder });
  return {
    onEvent: (event) => {
      for (const fields of linesFor(event)) line(fields);
    },
    end: ({ status, reason, response, error, denials, ...stats }) =>
      line({
        type: "result",
        status,
        reason,
        response,
        ...outputFields(stats),
        ...(error && { error }),
        permission_denials: denials.map(denialFields),
        stats: statsFields(stats),
      }),
  };
};

const outputFields = (result: Pick<RunResult, "output">): object =>
  "output" in result ? { output: result.output } : {};

const denialFields = ({ tool, call, parameters, reason, allowedBy }: PermissionDenial): object => ({
  tool_name: tool,
  tool_id: call,
  parameters,
  reason,
  allowed_by: allowedBy,
});

/** Lines with arguments or results of tools, in which secrets are redacted: commands print keys, files contain them. */
const redactedLineTypes: ReadonlySet<string> = new Set([
  "tool_use",
  "tool_output",
  "tool_result",
  "approval",
  "error",
  "task",
]);

type StreamLine = { readonly type: string; readonly [name: string]: unknown };

/** Returns the `stream-json` lines for an event. Field names are those of Gemini CLI. */
const linesFor = (event: AgentEvent): readonly StreamLine[] => {
  switch (event.type) {
    case "user":
      return [
        {
          type: "message",
          role: "user",
          content: event.parts.map((part) => (part.type === "text" ? part.text : `[${part.id}]`)).join("\n"),
        },
      ];
    case "text":
      return [{ type: "message", role: "assistant", content: event.text, delta: true }];
    case "thought":
      return [
        {
          type: "thought",
          content: event.text,
          delta: true,
          ...(event.subject === undefined ? {} : { subject: event.subject, description: event.description ?? "" }),
        },
      ];
    case "call-requested": {
      const { id, tool, input } = event.call;
      return [
        {
          type: "tool_use",
          tool_name: tool,
          tool_id: id,
          parameters: input.type === "parsed" ? input.value : input.text,
          is_client_initiated: event.isClientInitiated,
          ...promptFields(event),
        },
      ];
    }
    case "call-output":
      return [{ type: "tool_output", tool_id: event.call, output: event.text }];
    case "call-completed":
      return [resultLine(event.finished)];
    case "call-updated":
      return event.status.state === "awaiting_approval"
        ? [
            {
              type: "approval",
              tool_id: event.call,
              title: event.status.approval.title,
              reason: event.status.approval.reason,
            },
          ]
        : [];
    case "usage":
      return [{ type: "usage", model: event.model, ...tokenFields(event.usage), cost_usd: costInUsd(event.spent) }];
    case "model-changed":
      return [{ type: "model_changed", from: event.from, to: event.to, reason: event.reason.type }];
    case "request": {
      const { promptId: _, ...request } = event.request;
      return [{ type: "request", ...request, notes: event.report.notes.length, ...promptFields(event.request) }];
    }
    case "compacted":
      return [{ type: "compacted", ...event.compaction }];
    case "retrying":
      return [
        { type: "retrying", reason: event.failure.kind, delay_ms: Math.round(event.delay), discarded: event.discarded },
      ];
    case "notice":
      return [{ type: "notice", message: event.text }];
    case "hook": {
      const { durationMs, changedInput, contextLength, ...activity } = event.activity;
      return [
        {
          type: "hook",
          ...activity,
          duration_ms: durationMs,
          ...(changedInput === undefined ? {} : { changed_input: true }),
          ...(contextLength === undefined ? {} : { context_length: contextLength }),
        },
      ];
    }
    case "todos":
      return [{ type: "todos", todos: event.todos }];
    case "task": {
      const { elapsedMs, ...task } = event.task;
      return [{ type: "task", ...task, duration_ms: Math.round(elapsedMs) }];
    }
    case "agent":
      return linesFor(event.event).map((line) => ({ ...line, agent: event.agent }));
    case "failed":
      return [{ type: "error", severity: "error", message: event.failure.message, ...reportFields(event.failure) }];
    case "message":
    case "permission-added":
    case "finished":
    case "cancelled":
    case "parked":
      return [];
  }
};

const promptFields = ({ promptId }: { readonly promptId?: string }): object =>
  promptId === undefined ? {} : { prompt_id: promptId };

/** The report of a rejected request. */
const reportFields = (failure: AgentFailure): object =>
  failure.kind === "provider" && failure.report !== undefined ? { report: failure.report } : {};

const resultLine = ({ call, outcome, error, duration }: FinishedCall): StreamLine => ({
  type: "tool_result",
  tool_id: call.id,
  status: outcome.status === "complete" ? "success" : outcome.status,
  output: outcome.content
    .map((part) =>
      part.type === "text"
        ? part.text
        : part.type === "media"
          ? `[${part.kind} ${part.id} ${part.mimeType}]`
          : JSON.stringify(part.value),
    )
    .join("\n"),
  duration_ms: Math.round(duration),
  ...(error && { error: { type: error.type, message: error.message } }),
});

const tokenFields = ({ input, cachedRead, cachedWrite, output, reasoning }: TokenUsage): object => ({
  input_tokens: input,
  cached_tokens: cachedRead,
  cache_write_tokens: cachedWrite,
  output_tokens: output,
  reasoning_tokens: reasoning,
});

/** The cost of the session so far; null if no price is known. */
const costInUsd = ({ cost, unpriced }: UsageTotals): number | null => (unpriced > 0 && cost === 0 ? null : cost);

const statsFields = ({
  spent,
  calls,
  duration,
}: Pick<RunResult, "spent" | "calls" | "duration">): StreamLine | object => ({
  requests: spent.requests,
  input_tokens: spent.input,
  cached_tokens: spent.cachedRead,
  output_tokens: spent.output,
  total_tokens: spent.input + spent.output,
  cost_usd: costInUsd(spent),
  tool_calls: calls.total,
  tool_errors: calls.failed,
  duration_ms: Math.round(duration),
});

/** Creates a reporter that writes a line to stderr for each step that takes time. */
export const createProgressReporter = (err: (text: string) => void): HeadlessOutput["onEvent"] => {
  const say = (text: string): void => err(`${sanitizeForTerminal(text).replaceAll("\n", " ")}\n`);
  return (event) => {
    switch (event.type) {
      case "call-updated":
        if (event.status.state === "executing") say(`  ${event.status.title}`);
        return;
      case "call-completed": {
        const { call, outcome, error } = event.finished;
        if (outcome.status !== "complete") say(`  ${call.tool}: ${error?.message ?? outcome.status}`);
        return;
      }
      case "model-changed":
        return say(`  ${event.from} -> ${event.to} (${event.reason.type})`);
      case "retrying":
        return say(`  Retrying in ${Math.ceil(event.delay / 1000)} s: ${event.failure.kind}`);
      case "compacted":
        return say(`  Compacted: ${event.compaction.before} -> ${event.compaction.after} tokens`);
      case "notice":
        return say(`  ${event.text}`);
      case "hook": {
        const text = describeHookActivity(event.activity);
        if (text !== undefined) say(`  ${text}`);
        return;
      }
      case "task":
        return say(`  ${event.task.id} ${event.task.detail ?? event.task.status}: ${event.task.title}`);
      case "agent":
        if (event.event.type === "call-updated" && event.event.status.state === "executing")
          say(`  [${event.agent}] ${event.event.status.title}`);
        return;
      case "user":
      case "thought":
      case "text":
      case "message":
      case "call-requested":
      case "call-output":
      case "permission-added":
      case "usage":
      case "request":
      case "todos":
      case "finished":
      case "failed":
      case "cancelled":
      case "parked":
    }
  };
};
