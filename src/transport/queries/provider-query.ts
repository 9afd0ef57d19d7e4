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

/** Sends small requests outside a conversation to a provider: signed like any request, without retries, with a timeout. */
export class ProviderQuery {
  readonly #provider: Provider;
  readonly #credentials: Credentials;
  readonly #signal: AbortSignal | undefined;
  readonly #until: number;

  /** All requests together may take 30 seconds, or `limit` milliseconds. */
  constructor(provider: Provider, world: World, signal?: AbortSignal, limit: number = defaultTimeout) {
    this.#provider = provider;
    this.#credentials = openCredentials(world);
    this.#signal = signal;
    this.#until = world.clock.elapsed() + limit;
  }

  /** Returns the JSON of the response. Throws a `ProviderError`. A refused token is renewed once. */
  async send(query: QueryRequest): Promise<unknown> {
    try {
      return await this.#once(query).catch(async (error: unknown) => {
        const isRefused = error instanceof AttemptError && error.classification.failure.kind === "bad-key";
        if (!isRefused || !(await renewCredentials(this.#provider, this.#credentials))) throw error;
        return this.#once(query);
      });
    } catch (error) {
      throw this.#thrown(error);
    }
  }

  async #once(query: QueryRequest): Promise<unknown> {
    const { world } = this.#credentials;
    const headers = {
      "user-agent": userAgent(world),
      ...(query.body === undefined ? {} : { "content-type": "application/json" }),
    };
    const request = await authorize({ ...query, headers }, this.#provider, this.#credentials, this.#signal);
    try {
      return await this.#exchange(request);
    } catch (error) {
      const attemptError = toAttemptError(error, this.#who(), request);
      throw attemptError instanceof AttemptError ? redactAttemptError(attemptError, request) : attemptError;
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
      const apiError = isObject(body) ? wire.decode.parseError(body) : undefined;
      if (apiError !== undefined) throw new AttemptError(classifyError(who, { apiError }), { apiError });
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

/** A request: a URL of the provider, and a body if there is one. */
export type QueryRequest = Pick<HttpRequest, "method" | "url"> & { readonly body?: string };

/** Creates the error for a complete response of unexpected form. */
export const unreadableResponseError = ({ id, label }: Provider, detail: string): ProviderError =>
  new ProviderError({ provider: id, label, kind: "malformed-stream", detail });

const defaultTimeout = 30_000;
