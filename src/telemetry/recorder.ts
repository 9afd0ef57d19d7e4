import type { AgentEvent, RequestInfo } from "../agent/events.ts";
import type { Call, CallId } from "../conversation/parts.ts";
import type { FinishedCall } from "../scheduler/events.ts";
import { explainFailure, type Failure } from "../transport/failure.ts";
import type { TokenUsage } from "../wire/decode/events.ts";
import type { Clock } from "../world/world.ts";
import {
  requestAttributes,
  toolCallAttributes,
  toolCallLogAttributes,
  tokenCounts,
  turnAttributes,
  usageAttributes,
  type RecordedTurnEnd,
  type TurnTotals,
} from "./attributes.ts";
import type { ContentFormatter, OutputMessage } from "./content.ts";
import type { MeasuredQuantity } from "./histograms.ts";
import type { TelemetryAttributes, LogRecord, TelemetrySpan } from "./otlp.ts";
import type { SpanContext } from "./trace-context.ts";

/** Receives the recorded items. */
type TelemetrySink = {
  readonly span: (span: TelemetrySpan) => void;
  readonly log: (record: LogRecord) => void;
  readonly measure: (quantity: MeasuredQuantity, value: number, attributes: TelemetryAttributes) => void;
};

/** The options shared by all recorders of a session. */
export type RecorderOptions = {
  readonly clock: Pick<Clock, "now" | "elapsed">;
  /** Creates an id with this number of hexadecimal digits. */
  readonly newId: (digits: number) => string;
  readonly sessionId: string;
  readonly content: ContentFormatter;
  readonly sink: TelemetrySink;
  /** The span that the next turn belongs to, such as that of the request with its prompt. */
  readonly parentOf?: (() => SpanContext | undefined) | undefined;
};

/** The recorded agent, and the turn of its parent if it is a subagent. */
type RecordedAgent = { readonly name: string; readonly parent?: Pick<RecordedTurn, "trace" | "id" | "prompt"> };

/** A start time: wall clock, and monotonic for durations. */
type StartTime = { readonly now: number; readonly elapsed: number };

type RecordedTurn = TurnTotals & {
  readonly trace: string;
  readonly id: string;
  /** The id of the span it belongs to. */
  readonly parent: string | undefined;
  /** The turn's id in log records. */
  prompt: string;
  readonly began: StartTime;
};

type RecordedRequest = {
  readonly id: string;
  readonly began: StartTime;
  readonly request: RequestInfo;
  /** Set when the response is complete. */
  answer?: Pick<OutputMessage, "text" | "thought" | "media"> & { readonly lasted: number };
  usage?: TokenUsage;
  answeredBy?: string;
};

/** Converts the events of one agent to spans, log records and measurements. */
export class EventRecorder {
  readonly #recording: RecorderOptions;
  readonly #agent: RecordedAgent;
  readonly #subagents = new Map<string, EventRecorder>();
  #turns = 0;
  #turn: RecordedTurn | undefined;
  #chat: RecordedRequest | undefined;
  /** The start times of unfinished tool calls of this turn. */
  readonly #calls = new Map<CallId, StartTime>();
  #requestedCalls: Call[] = [];

  constructor(recording: RecorderOptions, whose: RecordedAgent = { name: "parley" }) {
    this.#recording = recording;
    this.#agent = whose;
  }

  record(event: AgentEvent): void {
    switch (event.type) {
      case "thought":
      case "text":
      case "call-output":
      case "permission-added":
      case "notice":
      case "hook":
      case "todos":
      case "task":
        return;
      case "user":
        this.#currentTurn().prompts.push(event.parts);
        return;
      case "request":
        return this.#request(event.request);
      case "message":
        return this.#message(event);
      case "usage":
        return this.#recordUsage(event);
      case "call-requested":
        this.#calls.set(event.call.id, this.#startTime());
        this.#requestedCalls.push(event.call);
        return;
      case "call-updated":
        this.#endRequest("tool_calls");
        if (event.status.state === "executing") this.#calls.set(event.call, this.#startTime());
        return;
      case "call-completed":
        this.#endRequest("tool_calls");
        return this.#recordCall(event.finished);
      case "retrying":
        return this.#failRequest(event.failure.kind, event.failure);
      case "model-changed":
        if (event.reason.type === "failover") this.#failRequest(event.reason.failure.kind, event.reason.failure);
        return;
      case "compacted":
        return this.#failRequest("context-too-long");
      case "agent":
        return this.#subagent(event.agent, event.event);
      case "finished":
        this.#endRequest(event.reason);
        this.#failRequest(unusableAnswer);
        return this.#endTurn({ finish: event.reason, text: event.text });
      case "failed": {
        const { failure } = event;
        const error = failure.kind === "provider" ? failure.failure.kind : failure.kind;
        this.#failRequest(error, failure.kind === "provider" ? failure.failure : undefined);
        return this.#endTurn({ error });
      }
      case "parked":
        this.#endRequest("tool_calls");
        return this.#endTurn({ finish: "parked", text: "" });
      case "cancelled":
        return this.close();
    }
  }

  /** Ends all open spans as cancelled. */
  close(): void {
    this.#endRequest("tool_calls");
    this.#failRequest("cancelled");
    for (const recorder of this.#subagents.values()) recorder.close();
    this.#subagents.clear();
    this.#endTurn({ error: "cancelled" });
  }

  #startTime(): StartTime {
    const { clock } = this.#recording;
    return { now: clock.now(), elapsed: clock.elapsed() };
  }

  #since({ elapsed }: StartTime): number {
    return this.#recording.clock.elapsed() - elapsed;
  }

  /** Returns the current turn; starts one with its first event. */
  #currentTurn(): RecordedTurn {
    if (this.#turn !== undefined) return this.#turn;
    const { newId, sessionId: conversation, parentOf } = this.#recording;
    const { parent: within, name } = this.#agent;
    const parent = within ?? parentOf?.();
    this.#turns += 1;
    this.#turn = {
      trace: parent?.trace ?? newId(32),
      id: newId(16),
      parent: parent?.id,
      prompt: within === undefined ? `${conversation}/${this.#turns}` : `${within.prompt}/${name}`,
      began: this.#startTime(),
      prompts: [],
      model: undefined,
      input: 0,
      output: 0,
    };
    return this.#turn;
  }

  #request(request: RequestInfo): void {
    const turn = this.#currentTurn();
    // A subagent has its own session; its turns are named after the parent's turn.
    if (request.promptId !== undefined && this.#agent.parent === undefined) turn.prompt = request.promptId;
    this.#endRequest("stop");
    // The same request number means that it was refused and rebuilt; a new one, that the response was unusable.
    this.#failRequest(this.#chat?.request.number === request.number ? "refused" : unusableAnswer);
    turn.model = request.model;
    this.#chat = { id: this.#recording.newId(16), began: this.#startTime(), request };
    this.#log("api_request", this.#chat.id, `request to ${request.model}`, {
      model: request.model,
      attempt: request.attempt,
      request_bytes: request.bytes,
    });
  }

  #message({ text, thought, media }: Pick<OutputMessage, "text" | "thought" | "media">): void {
    if (this.#chat === undefined) return;
    this.#chat.answer = { text, thought, media, lasted: this.#since(this.#chat.began) };
    this.#requestedCalls = [];
  }

  #recordUsage({ usage, answeredBy }: Extract<AgentEvent, { type: "usage" }>): void {
    if (this.#chat === undefined) return;
    this.#chat.usage = usage;
    if (answeredBy !== undefined) this.#chat.answeredBy = answeredBy;
  }

  /** Ends the span of the current request once its response is complete. */
  #endRequest(finish: string): void {
    const chat = this.#chat;
    if (chat?.answer === undefined) return;
    const { content, sink } = this.#recording;
    const { answer, usage, answeredBy } = chat;
    const message = { ...answer, calls: this.#requestedCalls, finish };
    const asked = { ...requestAttributes(chat.request), "gen_ai.response.model": answeredBy };
    this.#spanOf(chat, answer.lasted, {
      "gen_ai.response.model": answeredBy,
      "gen_ai.response.finish_reasons": [finish],
      ...usageAttributes(usage),
      "gen_ai.output.messages": content.output(message),
    });
    this.#log("api_response", chat.id, `response from ${chat.request.model}`, {
      model: chat.request.model,
      attempt: chat.request.attempt,
      duration_ms: Math.round(answer.lasted),
      finish_reason: finish,
      ...tokenCounts(usage),
      response_text: content.text(answer.text),
    });
    sink.measure("duration", answer.lasted / 1000, asked);
    if (usage === undefined || this.#turn === undefined) return;
    this.#turn.input += usage.input;
    this.#turn.output += usage.output;
    sink.measure("tokens", usage.input, { ...asked, "gen_ai.token.type": "input" });
    sink.measure("tokens", usage.output, { ...asked, "gen_ai.token.type": "output" });
  }

  /** Ends the span of the current request with an error. */
  #failRequest(error: string, failure?: Failure): void {
    const chat = this.#chat;
    if (chat === undefined) return;
    const lasted = this.#since(chat.began);
    this.#spanOf(chat, lasted, { "error.type": error });
    this.#log("api_error", chat.id, `request to ${chat.request.model} failed: ${error}`, {
      model: chat.request.model,
      attempt: chat.request.attempt,
      duration_ms: Math.round(lasted),
      error_type: error,
      status_code: failure?.status,
      error: failure === undefined ? undefined : this.#recording.content.text(explainFailure(failure)),
    });
    this.#recording.sink.measure("duration", lasted / 1000, {
      ...requestAttributes(chat.request),
      "error.type": error,
    });
  }

  #spanOf({ id, began, request }: RecordedRequest, lasted: number, attributes: TelemetryAttributes): void {
    this.#chat = undefined;
    this.#span({
      id,
      name: `chat ${request.model.slice(request.model.indexOf("/") + 1)}`,
      kind: "client",
      start: began.now,
      end: began.now + lasted,
      attributes: {
        ...requestAttributes(request),
        "gen_ai.conversation.id": this.#recording.sessionId,
        ...attributes,
      },
      failed: "error.type" in attributes,
    });
  }

  #recordCall(finished: FinishedCall): void {
    const { content, sessionId: conversation, newId } = this.#recording;
    const { call, outcome, record } = finished;
    const began = this.#calls.get(call.id) ?? this.#startTime();
    this.#calls.delete(call.id);
    const id = newId(16);
    this.#span({
      id,
      name: `execute_tool ${call.tool}`,
      kind: "internal",
      start: began.now,
      end: began.now + this.#since(began),
      attributes: { ...toolCallAttributes(finished, content), "gen_ai.conversation.id": conversation },
      failed: !record.success,
    });
    this.#log("tool_call", id, `${call.tool}: ${outcome.status}`, toolCallLogAttributes(record, content));
  }

  #subagent(name: string, event: AgentEvent): void {
    const recorder =
      this.#subagents.get(name) ?? new EventRecorder(this.#recording, { name, parent: this.#currentTurn() });
    this.#subagents.set(name, recorder);
    recorder.record(event);
    if (event.type === "finished" || event.type === "failed" || event.type === "cancelled")
      this.#subagents.delete(name);
  }

  #endTurn(end: RecordedTurnEnd): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    const { content, sessionId: conversation } = this.#recording;
    const { name } = this.#agent;
    this.#span({
      id: turn.id,
      ...(turn.parent === undefined ? {} : { parent: turn.parent }),
      name: `invoke_agent ${name}`,
      kind: "internal",
      start: turn.began.now,
      end: turn.began.now + this.#since(turn.began),
      attributes: {
        ...turnAttributes(turn, end, content),
        "gen_ai.agent.name": name,
        "gen_ai.conversation.id": conversation,
      },
      failed: end.error !== undefined,
    });
    this.#turn = undefined;
    this.#calls.clear();
  }

  #span(span: Omit<TelemetrySpan, "trace">): void {
    const { trace, id } = this.#currentTurn();
    this.#recording.sink.span({ trace, ...(span.id === id ? {} : { parent: id }), ...span });
  }

  #log(name: string, span: string, body: string, attributes: TelemetryAttributes): void {
    const { trace, prompt } = this.#currentTurn();
    const { sessionId: conversation, sink, clock } = this.#recording;
    sink.log({
      name: `parley.${name}`,
      at: clock.now(),
      severity: name === "api_error" ? "error" : "info",
      body,
      trace,
      span,
      attributes: { "gen_ai.conversation.id": conversation, ...attributes, prompt_id: prompt },
    });
  }
}

/** The error type of a response that was empty or unreadable. */
const unusableAnswer = "unusable-answer";
