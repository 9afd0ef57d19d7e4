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

/** Where what is recorded goes. */
type TelemetrySink = {
  readonly span: (span: TelemetrySpan) => void;
  readonly log: (record: LogRecord) => void;
  readonly measure: (quantity: MeasuredQuantity, value: number, attributes: TelemetryAttributes) => void;
};

/** What recorders of one session share. */
export type RecorderOptions = {
  readonly clock: Pick<Clock, "now" | "elapsed">;
  /** An id of so many hexadecimal digits. */
  readonly newId: (digits: number) => string;
  readonly sessionId: string;
  readonly content: ContentFormatter;
  readonly sink: TelemetrySink;
};

/** Which agent is heard, and for which turn of another it works. */
type RecordedAgent = { readonly name: string; readonly parent?: Pick<RecordedTurn, "trace" | "id" | "prompt"> };

/** What began: a time for people, and one to count from. */
type StartTime = { readonly now: number; readonly elapsed: number };

type RecordedTurn = TurnTotals & {
  readonly trace: string;
  readonly id: string;
  /** Names the turn in log records. */
  prompt: string;
  readonly began: StartTime;
};

type RecordedRequest = {
  readonly id: string;
  readonly began: StartTime;
  readonly request: RequestInfo;
  /** Set once the answer is whole. */
  answer?: Pick<OutputMessage, "text" | "thought" | "media"> & { readonly lasted: number };
  usage?: TokenUsage;
  answeredBy?: string;
};

/** Turns what one agent tells into spans, log records and measurements. */
export class EventRecorder {
  readonly #recording: RecorderOptions;
  readonly #whose: RecordedAgent;
  readonly #subagents = new Map<string, EventRecorder>();
  #turns = 0;
  #turn: RecordedTurn | undefined;
  #chat: RecordedRequest | undefined;
  /** The calls of this turn that have not ended, and when they began to run. */
  readonly #calls = new Map<CallId, StartTime>();
  #called: Call[] = [];

  constructor(recording: RecorderOptions, whose: RecordedAgent = { name: "parley" }) {
    this.#recording = recording;
    this.#whose = whose;
  }

  record(event: AgentEvent): void {
    switch (event.type) {
      case "thought":
      case "text":
      case "call-output":
      case "notice":
        return;
      case "user":
        this.#begun().prompts.push(event.parts);
        return;
      case "request":
        return this.#request(event.request);
      case "message":
        return this.#message(event);
      case "usage":
        return this.#used(event);
      case "call-requested":
        this.#calls.set(event.call.id, this.#moment());
        this.#called.push(event.call);
        return;
      case "call-updated":
        this.#answered("tool_calls");
        if (event.status.state === "executing") this.#calls.set(event.call, this.#moment());
        return;
      case "call-completed":
        this.#answered("tool_calls");
        return this.#completed(event.finished);
      case "retrying":
        return this.#failed(event.failure.kind, event.failure);
      case "model-changed":
        if (event.reason.type === "failover") this.#failed(event.reason.failure.kind, event.reason.failure);
        return;
      case "compacted":
        return this.#failed("context-too-long");
      case "agent":
        return this.#subagent(event.agent, event.event);
      case "finished":
        this.#answered(event.reason);
        this.#failed(unusableAnswer);
        return this.#ended({ finish: event.reason, text: event.text });
      case "failed": {
        const { failure } = event;
        const error = failure.kind === "provider" ? failure.failure.kind : failure.kind;
        this.#failed(error, failure.kind === "provider" ? failure.failure : undefined);
        return this.#ended({ error });
      }
      case "cancelled":
        return this.close();
    }
  }

  /** Ends what has not ended: nobody will hear of it any more. */
  close(): void {
    this.#answered("tool_calls");
    this.#failed("cancelled");
    for (const recorder of this.#subagents.values()) recorder.close();
    this.#subagents.clear();
    this.#ended({ error: "cancelled" });
  }

  #moment(): StartTime {
    const { clock } = this.#recording;
    return { now: clock.now(), elapsed: clock.elapsed() };
  }

  #since({ elapsed }: StartTime): number {
    return this.#recording.clock.elapsed() - elapsed;
  }

  /** The turn that runs. It begins with the first thing heard of it. */
  #begun(): RecordedTurn {
    if (this.#turn !== undefined) return this.#turn;
    const { newId, sessionId: conversation } = this.#recording;
    const { parent: within, name } = this.#whose;
    this.#turns += 1;
    this.#turn = {
      trace: within?.trace ?? newId(32),
      id: newId(16),
      prompt: within === undefined ? `${conversation}/${this.#turns}` : `${within.prompt}/${name}`,
      began: this.#moment(),
      prompts: [],
      model: undefined,
      input: 0,
      output: 0,
    };
    return this.#turn;
  }

  #request(request: RequestInfo): void {
    const turn = this.#begun();
    // A subagent has a session of its own; its turns are named after the one they serve.
    if (request.promptId !== undefined && this.#whose.parent === undefined) turn.prompt = request.promptId;
    this.#answered("stop");
    // The same request again means that it was refused and written anew; another one, that nobody could use the answer.
    this.#failed(this.#chat?.request.number === request.number ? "refused" : unusableAnswer);
    turn.model = request.model;
    this.#chat = { id: this.#recording.newId(16), began: this.#moment(), request };
    this.#log("api_request", this.#chat.id, `asking ${request.model}`, {
      model: request.model,
      attempt: request.attempt,
      request_bytes: request.bytes,
    });
  }

  #message({ text, thought, media }: Pick<OutputMessage, "text" | "thought" | "media">): void {
    if (this.#chat === undefined) return;
    this.#chat.answer = { text, thought, media, lasted: this.#since(this.#chat.began) };
    this.#called = [];
  }

  #used({ usage, answeredBy }: Extract<AgentEvent, { type: "usage" }>): void {
    if (this.#chat === undefined) return;
    this.#chat.usage = usage;
    if (answeredBy !== undefined) this.#chat.answeredBy = answeredBy;
  }

  /** Ends the request that was answered, once everything of the answer has been told. */
  #answered(finish: string): void {
    const chat = this.#chat;
    if (chat?.answer === undefined) return;
    const { content, sink } = this.#recording;
    const { answer, usage, answeredBy } = chat;
    const message = { ...answer, calls: this.#called, finish };
    const asked = { ...requestAttributes(chat.request), "gen_ai.response.model": answeredBy };
    this.#spanOf(chat, answer.lasted, {
      "gen_ai.response.model": answeredBy,
      "gen_ai.response.finish_reasons": [finish],
      ...usageAttributes(usage),
      "gen_ai.output.messages": content.output(message),
    });
    this.#log("api_response", chat.id, `${chat.request.model} answered`, {
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

  /** Ends the request under way without an answer. */
  #failed(error: string, failure?: Failure): void {
    const chat = this.#chat;
    if (chat === undefined) return;
    const lasted = this.#since(chat.began);
    this.#spanOf(chat, lasted, { "error.type": error });
    this.#log("api_error", chat.id, `${chat.request.model} gave no answer: ${error}`, {
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

  #completed(finished: FinishedCall): void {
    const { content, sessionId: conversation, newId } = this.#recording;
    const { call, outcome, record } = finished;
    const began = this.#calls.get(call.id) ?? this.#moment();
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
    const recorder = this.#subagents.get(name) ?? new EventRecorder(this.#recording, { name, parent: this.#begun() });
    this.#subagents.set(name, recorder);
    recorder.record(event);
    if (event.type === "finished" || event.type === "failed" || event.type === "cancelled")
      this.#subagents.delete(name);
  }

  #ended(end: RecordedTurnEnd): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    const { content, sessionId: conversation } = this.#recording;
    const { name, parent: within } = this.#whose;
    this.#span({
      id: turn.id,
      ...(within === undefined ? {} : { parent: within.id }),
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
    const { trace, id } = this.#begun();
    this.#recording.sink.span({ trace, ...(span.id === id ? {} : { parent: id }), ...span });
  }

  #log(name: string, span: string, body: string, attributes: TelemetryAttributes): void {
    const { trace, prompt } = this.#begun();
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

/** An answer came, and was of no use. */
const unusableAnswer = "unusable-answer";
