import { isObject } from "../../conversation/json.ts";
import type { Provider } from "../../providers/define.ts";
import { readBodyText, type HttpRequest } from "../../world/net.ts";
import type { World } from "../../world/world.ts";
import { retryPolicy } from "../retry/policy.ts";
import { classifyError } from "../retry/classify.ts";
import { authorize, openCredentials, renewCredentials, type Credentials } from "../credentials/credentials.ts";
import { userAgent } from "../credentials/request-signer.ts";
import { parseJsonOrUndefined } from "../credentials/http.ts";
import { ProviderError } from "../failure.ts";
import { MalformedStreamError } from "../stream/frames.ts";
import { toAttemptError, AttemptError, readErrorResponse, redactAttemptError } from "../retry/attempt-error.ts";
import { TimeoutWatchdog } from "../stream/timeouts.ts";

/** Asks a provider small things that are no turn of a conversation: signed like any request, never retried, and in a limited time. */
export class ProviderQuery {
  readonly #provider: Provider;
  readonly #credentials: Credentials;
  readonly #signal: AbortSignal | undefined;
  readonly #until: number;

  /** All questions of one asker together may take half a minute, or `limit` milliseconds. */
  constructor(provider: Provider, world: World, signal?: AbortSignal, limit: number = defaultTimeout) {
    this.#provider = provider;
    this.#credentials = openCredentials(world);
    this.#signal = signal;
    this.#until = world.clock.elapsed() + limit;
  }

  /** The JSON of the answer. Throws a `ProviderError`. A token that is refused is renewed once, as when sending. */
  async send(question: QueryRequest): Promise<unknown> {
    try {
      return await this.#once(question).catch(async (error: unknown) => {
        const isRefused = error instanceof AttemptError && error.classification.failure.kind === "bad-key";
        if (!isRefused || !(await renewCredentials(this.#provider, this.#credentials))) throw error;
        return this.#once(question);
      });
    } catch (error) {
      throw this.#thrown(error);
    }
  }

  async #once(question: QueryRequest): Promise<unknown> {
    const { world } = this.#credentials;
    const headers = {
      "user-agent": userAgent(world),
      ...(question.body === undefined ? {} : { "content-type": "application/json" }),
    };
    const request = await authorize({ ...question, headers }, this.#provider, this.#credentials, this.#signal);
    try {
      return await this.#exchange(request);
    } catch (error) {
      const meant = toAttemptError(error, this.#who(), request);
      throw meant instanceof AttemptError ? redactAttemptError(meant, request) : meant;
    }
  }

  async #exchange(request: HttpRequest): Promise<unknown> {
    const { world } = this.#credentials;
    const who = this.#who();
    const { wire } = this.#provider.destination(this.#provider.defaultModel);
    const headers = Math.max(1, this.#until - world.clock.elapsed());
    const watch = new TimeoutWatchdog(world.clock, { ...retryPolicy, headers }, this.#signal);
    try {
      const response = await world.net.send(request, watch.signal);
      const refusal = await readErrorResponse(response, { wire, who, clock: world.clock });
      if (refusal !== undefined) throw refusal;
      const body = parseJsonOrUndefined(await readBodyText(response));
      if (body === undefined) throw new MalformedStreamError("It holds no JSON");
      const problem = isObject(body) ? wire.decode.parseError(body) : undefined;
      if (problem !== undefined) throw new AttemptError(classifyError(who, { problem }), { problem });
      return body;
    } finally {
      watch.stop(false);
    }
  }

  #who(): { readonly provider: string; readonly label: string } {
    return { provider: this.#provider.id, label: this.#provider.label };
  }

  #thrown(error: unknown): unknown {
    if (error instanceof AttemptError) return new ProviderError(error.classification.failure, { cause: error });
    if (this.#signal?.aborted !== true || error instanceof ProviderError) return error;
    return new ProviderError({ ...this.#who(), kind: "cancelled" }, { cause: error });
  }
}

/** A question: an address of the provider, and a body where there is one. */
export type QueryRequest = Pick<HttpRequest, "method" | "url"> & { readonly body?: string };

/** An answer that came whole and says something else than was asked. */
export const unreadableResponseError = ({ id, label }: Provider, said: string): ProviderError =>
  new ProviderError({ provider: id, label, kind: "malformed-stream", detail: said });

const defaultTimeout = 30_000;
