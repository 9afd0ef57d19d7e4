import type { JsonObject } from "../conversation/json.ts";
import type { ModelInput } from "../providers/model-input.ts";
import type { Quirk } from "../providers/quirks.ts";
import type { Destination } from "../wire/bind.ts";
import type { WireId } from "../wire/wire.ts";
import type { HttpRequest } from "../world/net.ts";
import type { World } from "../world/world.ts";
import { Destinations, type ModelAddress } from "./destinations.ts";
import type { TransportEvent } from "./events.ts";
import { sendAttempt } from "./stream/attempt.ts";
import { backoffDelay, retryPolicy as defaultPolicy, RetryBudget, type RetryPolicy } from "./retry/policy.ts";
import type { ProviderIdentity } from "./retry/classify.ts";
import { ProviderError, type Failure, type BrokenRule } from "./failure.ts";
import { AttemptError, redactAttemptError } from "./retry/attempt-error.ts";
import { quirkFromError, quirkMessages } from "./retry/quirks.ts";

/** A request to send. */
export type OutgoingRequest = ModelAddress & {
  /** The request body, encoded for the transport's `destination`. */
  readonly body: JsonObject;
  /**
   * Encodes the body again for a destination that changed: an error response revealed a quirk of the endpoint.
   * Without it, a refused request is not repaired.
   */
  readonly rebuild?: (destination: Destination) => JsonObject;
  /** The ids of the session and the prompt, for APIs that want them (Code Assist). */
  readonly session?: string | undefined;
  readonly prompt?: string | undefined;
  /** The request is sent once this resolves, and not at all if it rejects. It is signed and connected meanwhile. */
  readonly ready?: Promise<void>;
  /** Whether to stream the response; default: true. The body must request it too, where its API has a field for it. */
  readonly stream?: boolean;
};

/** Sends requests. It holds the learned quirks of endpoints and the retry budget. */
export type Transport = {
  /** The destination to encode requests for a model to: the provider's data, and every quirk learned so far. */
  readonly destination: (address: ModelAddress) => Destination;
  /**
   * Sends a request and yields its response as it arrives, ending with `finish`. Throws a `ProviderError` for everything
   * else. Leaving the loop, or aborting, closes the connection at once.
   */
  readonly send: (outgoing: OutgoingRequest, signal?: AbortSignal) => AsyncGenerator<TransportEvent, void>;
  /** Like `send`, but yields the events that arrived together at once. After an abort, the rest of them is still there. */
  readonly sendInBatches: (
    outgoing: OutgoingRequest,
    signal?: AbortSignal,
  ) => AsyncGenerator<readonly TransportEvent[], void>;
};

/** Resolves the URL of requests and signs them. */
export type RequestSigner = {
  readonly prepare: (address: ModelAddress, options: SignOptions, signal?: AbortSignal) => Promise<HttpRequest>;
  /** Returns the URL of requests for a model, and a hash of the account. */
  readonly locate: (address: ModelAddress) => {
    readonly url: string;
    readonly account?: string;
  };
};

type SignOptions = {
  readonly body: JsonObject;
  readonly stream: boolean;
  /** Fetch a new token: the last one was refused. */
  readonly renew: boolean;
};

/** The account of a provider that a request counts towards. */
export type RequestAccount = {
  readonly provider: string;
  /** The host that is asked. */
  readonly host: string;
  /** A hash of the key, where there is one. */
  readonly account?: string;
};

/** Limits requests, e.g. of several processes together. */
export type RequestAdmission = {
  /** Asks to send a request now. Returns how long to wait before asking again, in milliseconds; 0 if it may be sent. */
  readonly admit: (account: RequestAccount, signal?: AbortSignal) => Promise<number>;
  /** Notes that the provider asked to wait, or is overloaded. */
  readonly postpone: (account: RequestAccount, milliseconds: number) => Promise<void>;
};

/** Options of a transport. */
export type TransportOptions = {
  readonly world: World;
  readonly signer: RequestSigner;
  readonly retryPolicy?: Partial<RetryPolicy>;
  /** Asked before every attempt. Without it, each is sent at once. */
  readonly admission?: RequestAdmission | undefined;
  /** The media kinds a model accepts, if known better than from its provider. Called before every body is built. */
  readonly inputOf?: (address: ModelAddress) => ModelInput | undefined;
  /** Returns the rules of its API that a refused body breaks. */
  readonly explain?: (
    body: JsonObject,
    target: { readonly wire: WireId; readonly provider: string; readonly model: string },
  ) => readonly BrokenRule[] | Promise<readonly BrokenRule[]>;
};

/** Opens a transport. Nothing is sent or loaded before the first request. */
export const openTransport = (options: TransportOptions): Transport => {
  const { signer, inputOf } = options;
  const budget = new RetryBudget();
  const destinations = new Destinations({ locate: (address) => signer.locate(address), inputOf });
  const sendInBatches: Transport["sendInBatches"] = (outgoing, signal) =>
    new SendOperation({ ...options, budget, destinations }, outgoing, signal).run();
  return {
    destination: (address) => destinations.get(address),
    send: (outgoing, signal) => new SendOperation({ ...options, budget, destinations }, outgoing, signal).runSingly(),
    sendInBatches,
  };
};

type TransportState = TransportOptions & {
  readonly budget: RetryBudget;
  readonly destinations: Destinations;
};

/** Sends one request: attempts, retry backoff and repairs until there is a response or a failure. */
class SendOperation {
  readonly #shared: TransportState;
  readonly #outgoing: OutgoingRequest;
  readonly #signal: AbortSignal | undefined;
  readonly #policy: RetryPolicy;
  readonly #who: ProviderIdentity;
  #attempt = 0;
  #waited = 0;
  #renew: "not yet" | "now" | "done" = "not yet";
  /** Set once content was emitted. */
  #isPartial = false;
  #isFinished = false;
  /** Refused bodies, and the quirk learned from the last of them. */
  readonly #refused = new Set<string>();
  #learnedQuirk: Quirk | undefined;

  constructor(shared: TransportState, outgoing: OutgoingRequest, signal: AbortSignal | undefined) {
    this.#shared = shared;
    this.#outgoing = outgoing;
    this.#signal = signal;
    this.#policy = { ...defaultPolicy, ...shared.retryPolicy };
    this.#who = { provider: outgoing.provider.id, label: outgoing.provider.label };
  }

  /** Yields event by event. After an abort, events already received are not emitted. */
  async *runSingly(): AsyncGenerator<TransportEvent, void> {
    let isPartial = false;
    let isFinished = false;
    for await (const events of this.run())
      for (const event of events) {
        if (this.#signal?.aborted === true && !isFinished) {
          this.#isPartial = isPartial;
          throw this.#toCancellation(this.#signal.reason);
        }
        isPartial ||= isContent(event);
        isFinished ||= event.type === "finish";
        yield event;
      }
  }

  /** Yields the events that arrived together. */
  async *run(): AsyncGenerator<readonly TransportEvent[], void> {
    this.#shared.budget.turn();
    let { body } = this.#outgoing;
    for (;;) {
      let request: HttpRequest | undefined;
      try {
        request = await this.#sign(body);
        if (this.#shared.admission !== undefined) {
          await this.#outgoing.ready;
          yield* this.#awaitAdmission(this.#shared.admission);
        }
        this.#signal?.throwIfAborted();
        const { wire } = this.#destination();
        const { world } = this.#shared;
        const [who, policy, signal] = [this.#who, this.#policy, this.#signal];
        const number = this.#attempt;
        for await (const events of sendAttempt({ world, request, number, wire, who, policy, signal })) {
          if (!this.#isFinished) signal?.throwIfAborted();
          for (const event of events) {
            this.#isPartial ||= isContent(event);
            this.#isFinished ||= event.type === "finish";
          }
          yield events;
        }
        if (this.#attempt > 1) this.#shared.budget.success();
        return;
      } catch (thrown) {
        if (!(thrown instanceof AttemptError)) throw this.#toCancellation(thrown);
        const error = request === undefined ? thrown : redactAttemptError(thrown, request);
        const repaired = this.#repair(error, body);
        if (repaired !== undefined) {
          body = repaired.body;
          const { quirk } = repaired;
          yield [{ type: "repaired", quirk, message: quirkMessages[quirk], failure: error.classification.failure }];
        } else if (!this.#mayRenew(error)) {
          await this.#postpone(error);
          const delay = await this.#nextDelay(error, body);
          yield [{ type: "retrying", attempt: this.#attempt, delay, failure: error.classification.failure }];
          await this.#wait(delay);
        }
      }
    }
  }

  async #sign(body: JsonObject): Promise<HttpRequest> {
    const { stream = true, ready } = this.#outgoing;
    this.#attempt += 1;
    const renew = this.#renew === "now";
    if (renew) this.#renew = "done";
    const request = await this.#shared.signer.prepare(this.#outgoing, { body, stream, renew }, this.#signal);
    return { ...request, ready };
  }

  /** Waits until the request may be sent. A wait beyond the retry policy fails at once, as one the server asks for does. */
  async *#awaitAdmission({ admit }: RequestAdmission): AsyncGenerator<readonly TransportEvent[], void> {
    const { maxWait, maxTotalWait } = this.#policy;
    for (;;) {
      const delay = await admit(this.#account(), this.#signal);
      if (delay <= 0) return;
      const failure: Failure = { ...this.#who, kind: "rate-limited", retryAfter: delay };
      if (delay > maxWait || this.#waited + delay > maxTotalWait) throw new ProviderError(failure);
      yield [{ type: "retrying", attempt: this.#attempt, delay, failure }];
      await this.#wait(delay);
    }
  }

  /** Shares the wait a provider asked for, or that an overloaded one needs. */
  async #postpone({ classification: { failure, minDelay } }: AttemptError): Promise<void> {
    const isQuotaBack = failure.kind === "quota-gone" && minDelay > 0;
    if (failure.kind !== "rate-limited" && failure.kind !== "overloaded" && !isQuotaBack) return;
    const delay = Math.min(Math.max(minDelay, firstBackoff), longestPostponement);
    await this.#shared.admission?.postpone(this.#account(), delay);
  }

  #account(): RequestAccount {
    const { url, account } = this.#shared.signer.locate(this.#outgoing);
    const { host } = new URL(url);
    return { provider: this.#outgoing.provider.id, host, ...(account === undefined ? {} : { account }) };
  }

  #destination(): Destination {
    return this.#shared.destinations.get(this.#outgoing);
  }

  /**
   * Learns a quirk from an error response, if it reveals one, and rebuilds the body. A body that was refused is never
   * sent again, and a quirk that did not help is forgotten.
   */
  #repair(
    { apiError, classification: { failure } }: AttemptError,
    refused: JsonObject,
  ): { readonly quirk: Quirk; readonly body: JsonObject } | undefined {
    const { destinations } = this.#shared;
    const { rebuild } = this.#outgoing;
    if (rebuild === undefined || apiError === undefined || this.#isPartial || failure.kind !== "refused")
      return undefined;
    const quirk = quirkFromError(apiError, this.#destination().wire.id);
    if (quirk === undefined) return undefined;
    this.#refused.add(JSON.stringify(refused));
    const known = destinations.quirks(this.#outgoing);
    const isNew = !known.includes(quirk);
    if (isNew) destinations.setQuirks(this.#outgoing, [...known, quirk]);
    const body = rebuild(this.#destination());
    if (!this.#refused.has(JSON.stringify(body))) {
      this.#learnedQuirk = quirk;
      return { quirk, body };
    }
    if (isNew || this.#learnedQuirk === quirk)
      destinations.setQuirks(
        this.#outgoing,
        known.filter((other) => other !== quirk),
      );
    return undefined;
  }

  /** Whether to retry with a new token, once: it may have expired. */
  #mayRenew({ classification }: AttemptError): boolean {
    const { type } = this.#outgoing.provider.auth;
    if (classification.failure.kind !== "bad-key" || this.#renew !== "not yet" || this.#isPartial) return false;
    if (type !== "google" && type !== "aws" && type !== "code-assist") return false;
    this.#renew = "now";
    return true;
  }

  /** Returns the retry backoff before the next attempt; throws if there is none. */
  async #nextDelay(error: AttemptError, body: JsonObject): Promise<number> {
    const { failure, isRetryable, minDelay } = error.classification;
    const { world, budget } = this.#shared;
    const { maxAttempts, maxWait, maxTotalWait } = this.#policy;
    const overloaded = failure.kind === "overloaded";
    const delay = backoffDelay(this.#attempt, { minDelay, overloaded, random: world.random });
    const isFinal = !isRetryable || this.#isPartial || this.#attempt >= maxAttempts || minDelay > maxWait;
    if (isFinal || this.#waited + delay > maxTotalWait || !budget.take())
      throw await this.#toProviderError(failure, body, error);
    return delay;
  }

  async #wait(delay: number): Promise<void> {
    this.#waited += delay;
    try {
      await this.#shared.world.clock.sleep(delay, this.#signal);
    } catch (error) {
      throw this.#toCancellation(error);
    }
  }

  async #toProviderError(failure: Failure, body: JsonObject, cause: Error): Promise<ProviderError> {
    const partial = this.#isPartial ? ({ partial: true } as const) : {};
    if (failure.kind !== "refused") return new ProviderError({ ...failure, ...partial }, { cause });
    const { provider, model } = this.#outgoing;
    const rules = (await this.#shared.explain?.(body, { wire: provider.wire, provider: provider.id, model })) ?? [];
    return new ProviderError({ ...failure, ...partial, rules }, { cause });
  }

  /** Converts an error that is not the provider's: a cancellation, or a bug. */
  #toCancellation(error: unknown): unknown {
    if (this.#signal?.aborted !== true) return error;
    return new ProviderError(
      { ...this.#who, kind: "cancelled", ...(this.#isPartial ? { partial: true } : {}) },
      { cause: error },
    );
  }
}

/** The pause after an error whose server names none, in milliseconds. */
const firstBackoff = 1000;

/** A wrong answer of a server must not stop all processes for days. */
const longestPostponement = 3_600_000;

const isContent = ({ type }: TransportEvent): boolean =>
  type === "text-delta" ||
  type === "thinking-delta" ||
  type === "part-end" ||
  type === "finish" ||
  type === "call-start";
