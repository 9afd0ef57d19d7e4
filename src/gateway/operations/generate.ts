import type { ContentEvent } from "../../transport/events.ts";
import type { AnswerContext, AnswerEncoder, AnswerStream } from "../answers/answer.ts";
import { wrapSeal } from "../carry.ts";
import { costOfAnswer } from "../cost.ts";
import { estimateFromBytes } from "../estimate.ts";
import { Exchange, failureOf, isContent } from "../exchange.ts";
import { json, type AdmittedRequest, type ExchangeResult, type GatewayState } from "../gateway.ts";
import type { GatewayResponse } from "../http-types.ts";
import { answerOptionsOf } from "../inbound/answer-options.ts";
import { askForSummary, asksForCompaction } from "../inbound/compaction.ts";
import { summaryEvents } from "./compact.ts";
import { openExchange } from "./open-exchange.ts";

/** Answers a request for a response, as a stream or complete. */
export const generate = async (
  state: GatewayState,
  admitted: AdmittedRequest,
  encoder: AnswerEncoder,
): Promise<GatewayResponse> => {
  const { endpoint, body, model, id, request } = admitted;
  const isSummary = endpoint.api === "openai-responses" && asksForCompaction(body);
  const opened = await openExchange(
    state,
    isSummary ? { ...admitted, endpoint: { ...endpoint, operation: "compact" }, body: askForSummary(body) } : admitted,
  );
  if ("response" in opened) return opened.response;
  const { exchange, normalized } = opened;
  const isStream = endpoint.stream ?? body["stream"] === true;
  const context: AnswerContext = {
    model,
    id,
    created: Math.floor(state.options.world.clock.now() / 1000),
    get inputTokens() {
      const { conversation, sentBytes } = exchange;
      return conversation === undefined ? 0 : estimateFromBytes(conversation, sentBytes);
    },
    wrapSeal: (cargo) => wrapSeal(exchange.sealSource(), cargo),
    keepSeal: (callId, cargo) => state.seals.put(admitted.client, callId, wrapSeal(exchange.sealSource(), cargo)),
    options: {
      ...answerOptionsOf(endpoint, body, normalized.tools),
      ...(endpoint.api === "gemini" && isStream
        ? { framing: request.query.get("alt") === "sse" ? ("sse" as const) : ("json-array" as const) }
        : {}),
      ...(isSummary ? { isSummary } : {}),
    },
  };
  const answer = new Answer({ state, admitted, encoder, exchange, context });
  return isStream ? answer.stream() : answer.complete();
};

type AnswerParts = {
  readonly state: GatewayState;
  readonly admitted: AdmittedRequest;
  readonly encoder: AnswerEncoder;
  readonly exchange: Exchange;
  readonly context: AnswerContext;
};

/** The answer to one request. */
class Answer {
  readonly #parts: AnswerParts;
  readonly #events: AsyncGenerator<readonly ContentEvent[], void>;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
    const events = parts.exchange.events();
    this.#events = parts.context.options.isSummary === true ? summaryEvents(events) : events;
  }

  async complete(): Promise<GatewayResponse> {
    const { encoder, context, admitted } = this.#parts;
    const events: ContentEvent[] = [];
    for await (const some of this.#events) events.push(...some);
    const body = encoder.encodeComplete(context, events);
    admitted.finish(this.#result(200));
    return json(200, body, this.#headers());
  }

  /**
   * Begins a stream with the first content, so that a failure before it is an HTTP error. After a silence it begins
   * anyway: clients give up on a connection without a response.
   */
  async stream(): Promise<GatewayResponse> {
    const { encoder, context, state } = this.#parts;
    const { clock } = state.options.world;
    const early: ContentEvent[] = [];
    let next = this.#events.next();
    let isSilent = false;
    let cancel = (): void => {};
    const silence = new Promise<"silence">((resolve) => {
      cancel = clock.after(state.limits.silence, () => resolve("silence"));
    });
    try {
      for (;;) {
        const found = await Promise.race([next, silence]);
        if (found === "silence") {
          isSilent = true;
          break;
        }
        if (found.done === true) break;
        early.push(...found.value);
        if (found.value.some(isContent)) break;
        next = this.#events.next();
      }
    } finally {
      cancel();
    }
    const stream = encoder.openStream(context);
    return {
      status: 200,
      headers: { "content-type": encoder.contentType(context), ...this.#headers() },
      body: { chunks: this.#chunks(stream, early, isSilent ? next : undefined), ping: () => stream.ping() },
    };
  }

  async *#chunks(
    stream: AnswerStream,
    early: readonly ContentEvent[],
    pending: Promise<IteratorResult<readonly ContentEvent[], void>> | undefined,
  ): AsyncGenerator<string, void> {
    const { admitted, exchange } = this.#parts;
    let status = 200;
    let isOver = false;
    try {
      const encode = (events: readonly ContentEvent[]): string => {
        let text = "";
        for (const event of events) text += stream.push(event);
        return text;
      };
      if (early.length > 0) yield encode(early);
      const first = await pending;
      if (first?.done === false) yield encode(first.value);
      for await (const events of this.#events) yield encode(events);
      yield stream.end();
      isOver = true;
    } catch (error) {
      const failure = failureOf(error);
      isOver = true;
      status = this.#parts.encoder.encodeError(failure, admitted.id).status;
      admitted.finish({ ...this.#result(status), failure });
      yield stream.fail(failure) + stream.end();
    } finally {
      // A client that left cancels the request to the target.
      if (!isOver) {
        status = clientClosed;
        exchange.cancel();
      }
      await this.#events.return();
      admitted.finish(this.#result(status));
    }
  }

  #headers(): Readonly<Record<string, string>> {
    const { exchange, admitted } = this.#parts;
    const { target } = exchange;
    return {
      "x-parley-notes": String(exchange.notes.length),
      "x-parley-target": target === undefined ? "" : `${target.provider.id}/${target.model}`,
      "request-id": `req_${admitted.id}`,
      "x-request-id": `req_${admitted.id}`,
    };
  }

  #result(status: number): ExchangeResult {
    const { exchange, admitted } = this.#parts;
    const { target, outboundBody, usage, notes } = exchange;
    return {
      status,
      notes,
      ...(target === undefined || outboundBody === undefined
        ? {}
        : { out: { provider: target.provider.id, model: target.model, body: outboundBody } }),
      ...(usage === undefined ? {} : { usage }),
      ...(target === undefined || usage === undefined ? {} : costOfAnswer(admitted.config, target, usage)),
    };
  }
}

/** The status nginx logs for a client that left. */
const clientClosed = 499;
