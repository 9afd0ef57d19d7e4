import type { Conversation } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { Note } from "../conversation/notes.ts";
import { findProvider, homeProviders } from "../providers/find.ts";
import { ProviderError, type Failure } from "../transport/failure.ts";
import type { ContentEvent } from "../transport/events.ts";
import type { TransportEvent } from "../transport/events.ts";
import type { Transport } from "../transport/transport.ts";
import type { ModelAddress } from "../transport/destinations.ts";
import type { Destination } from "../wire/bind.ts";
import type { TokenUsage } from "../wire/decode/events.ts";
import type { InboundApi } from "./answers/answer.ts";
import type { GatewayFailure } from "./answers/failure.ts";
import type { SealSource } from "./carry.ts";
import { readInbound, type InboundRequest } from "./inbound/read.ts";
import type { NormalizedBody } from "./inbound/normalize.ts";
import { composeOutbound, type OutboundRequest } from "./outbound/compose.ts";
import type { Cooldowns } from "../transport/cooldowns.ts";
import { canFailOver, orderTargets } from "./routes/failover.ts";

/** A failure to report to the client. */
export class GatewayError extends Error {
  readonly failure: GatewayFailure;

  constructor(failure: GatewayFailure, options?: ErrorOptions) {
    super(failure.kind, options);
    this.name = "GatewayError";
    this.failure = failure;
  }
}

/** Options of an exchange. */
export type ExchangeOptions = {
  readonly transport: Transport;
  /** Sends without retries, for targets that are followed by another one. */
  readonly hastyTransport: Transport;
  readonly cooldowns: Cooldowns;
  readonly cooldown: number;
  readonly api: InboundApi;
  readonly model: string;
  readonly normalized: NormalizedBody;
  /** `provider/model`, in the order they are tried. */
  readonly targets: readonly string[];
  readonly signal: AbortSignal;
  /** Returns the wrapped seal of a call that the client did not return. */
  readonly recall?: (callId: string) => string | undefined;
  /** Called before a request to a target is composed; media of a model may have to be looked up. */
  readonly prepare?: (address: ModelAddress, conversation: Conversation, signal: AbortSignal) => Promise<void>;
};

/** One request of a client and its response from the first target that answers. */
export class Exchange {
  readonly #options: ExchangeOptions;
  #address: ModelAddress | undefined;
  #outbound: OutboundRequest | undefined;
  #usage: TokenUsage | undefined;
  #conversation: Conversation | undefined;
  #sentBytes = 0;
  readonly #abort = new AbortController();

  constructor(options: ExchangeOptions) {
    this.#options = options;
    const { signal } = options;
    if (signal.aborted) this.#abort.abort(signal.reason);
    else signal.addEventListener("abort", () => this.#abort.abort(signal.reason), { once: true });
  }

  /** Cancels the request to the target. */
  cancel(): void {
    this.#abort.abort(new Error("The client is gone."));
  }

  /** The conversation that was read for the target. */
  get conversation(): Conversation | undefined {
    return this.#conversation;
  }

  /** The bytes of the request to the target. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  get target(): ModelAddress | undefined {
    return this.#address;
  }

  get outboundBody(): JsonObject | undefined {
    return this.#outbound?.body;
  }

  get notes(): readonly Note[] {
    return this.#outbound?.notes ?? [];
  }

  get usage(): TokenUsage | undefined {
    return this.#usage;
  }

  /** The model that answers; for seals that ride through the client. */
  sealSource(): SealSource {
    if (this.#outbound === undefined) throw new Error("No request was composed.");
    return this.#outbound.source();
  }

  /** Reads and composes the request for the first target, without sending it. */
  async compose(): Promise<{
    readonly address: ModelAddress;
    readonly inbound: InboundRequest;
    readonly body: JsonObject;
  }> {
    const [target = ""] = this.#options.targets;
    const { address, inbound, outbound } = await this.#compose(target, this.#options.transport);
    return { address, inbound, body: outbound.body };
  }

  /**
   * Yields the events of the response that arrived together, with the client's names of tools. Another target is tried after
   * a failure before the first content. Throws a `GatewayError`.
   */
  async *events(): AsyncGenerator<readonly ContentEvent[], void> {
    const { targets, cooldowns, cooldown } = this.#options;
    const order = orderTargets(targets, cooldowns);
    for (const [index, target] of order.entries()) {
      let isStarted = false;
      const isLast = index === order.length - 1;
      try {
        for await (const batch of await this.#send(target, !isLast)) {
          const events = this.#restore(batch);
          if (events.length === 0) continue;
          isStarted ||= events.some(isContent);
          yield events;
        }
        cooldowns.end(target);
        return;
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        const { failure } = error;
        const mayHelp = canFailOver(failure);
        if (mayHelp && targets.length > 1 && failure.kind !== "context-too-long")
          cooldowns.start(target, failure, cooldown);
        if (isStarted || !mayHelp || isLast) throw new GatewayError(failure, { cause: error });
      }
    }
  }

  async #send(target: string, isHasty: boolean): Promise<AsyncGenerator<readonly TransportEvent[], void>> {
    const transport = isHasty ? this.#options.hastyTransport : this.#options.transport;
    const { address, inbound, outbound } = await this.#compose(target, transport);
    this.#conversation = inbound.conversation;
    this.#address = address;
    this.#outbound = outbound;
    const rebuild = (destination: Destination): JsonObject => {
      this.#outbound = composeOutbound(inbound, destination);
      return this.#outbound.body;
    };
    return transport.sendInBatches({ ...address, body: outbound.body, rebuild }, this.#abort.signal);
  }

  #restore(batch: readonly TransportEvent[]): readonly ContentEvent[] {
    const events: ContentEvent[] = [];
    for (const event of batch) {
      if (event.type === "request") this.#sentBytes = event.bytes;
      if (event.type === "usage") this.#usage = event.usage;
      if (!isResponseEvent(event)) continue;
      const restored = this.#outbound?.restoreNames(event);
      if (restored !== undefined) events.push(restored);
    }
    return events;
  }

  async #compose(
    target: string,
    transport: Transport,
  ): Promise<{
    readonly address: ModelAddress;
    readonly inbound: InboundRequest;
    readonly outbound: OutboundRequest;
  }> {
    const { api, model, normalized, prepare, recall } = this.#options;
    const address = parseTarget(target);
    const read = (destination: Destination): InboundRequest =>
      readInbound(normalized, {
        api,
        model,
        target: destination.target,
        wire: destination.wire.id,
        reader: readerOf(api),
        stream: true,
        ...(recall === undefined ? {} : { recall }),
      });
    let destination = transport.destination(address);
    const inbound = read(destination);
    refuseServerTools(inbound, address);
    if (destination.target.mediaUnknown === true && prepare !== undefined) {
      await prepare(address, inbound.conversation, this.#abort.signal);
      destination = transport.destination(address);
    }
    return { address, inbound, outbound: composeOutbound(inbound, destination) };
  }
}

/** Parses `provider/model`; a provider alone means its default model. Throws a `GatewayError` for an unknown provider. */
export const parseTarget = (target: string): ModelAddress => {
  const slash = target.indexOf("/");
  const model = slash === -1 ? "" : target.slice(slash + 1);
  try {
    const provider = findProvider(slash === -1 ? target : target.slice(0, slash));
    return { provider, model: model === "" ? provider.defaultModel : model };
  } catch (error) {
    throw new GatewayError({ kind: "unknown-model", model: target }, { cause: error });
  }
};

/** Reads the conversation of a request, for routes that depend on its size or its files. */
export const readConversation = (api: InboundApi, { body }: NormalizedBody): Conversation =>
  readerOf(api)(body, { provider: homeProviders[api], model: "" }).conversation;

const readerOf = (api: InboundApi): Destination["wire"]["read"] =>
  findProvider(homeProviders[api]).destination("").wire.read;

/** A request whose only tools run on another vendor's servers cannot be answered: the model would make up the results. */
const refuseServerTools = ({ lostTools, conversation }: InboundRequest, { provider, model }: ModelAddress): void => {
  if (lostTools.length === 0 || (conversation.tools ?? []).length > 0) return;
  throw new GatewayError({
    kind: "bad-request",
    detail: `${provider.id}/${model} does not have the server tool ${lostTools.join(", ")}. Turn it off in the client, or route this model to a provider that has it.`,
    param: "tools",
  });
};

const isResponseEvent = (event: TransportEvent): event is ContentEvent =>
  event.type !== "request" && event.type !== "retrying" && event.type !== "repaired";

/** Whether an event shows something of the answer, after which no other target may answer. */
export const isContent = ({ type }: ContentEvent): boolean =>
  type === "text-delta" ||
  type === "thinking-delta" ||
  type === "part-end" ||
  type === "finish" ||
  type === "call-start";

/** The failure to report for an error. */
export const failureOf = (error: unknown): GatewayFailure => {
  if (error instanceof GatewayError) return error.failure;
  return error instanceof ProviderError ? (error.failure as Failure) : { kind: "internal" };
};
