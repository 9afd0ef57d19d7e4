import { isObject } from "../conversation/json.ts";
import type { Provider } from "../providers/define.ts";
import { bodyText, type HttpRequest } from "../world/net.ts";
import type { World } from "../world/world.ts";
import { patience } from "./budget.ts";
import { classify } from "./classify.ts";
import { authorize, openCredentials, renew, type Credentials } from "./credentials.ts";
import { userAgent } from "./credentials-gate.ts";
import { jsonOf } from "./credentials-http.ts";
import { ProviderError } from "./failure.ts";
import { MalformedStream } from "./frames.ts";
import { asAttemptError, AttemptError, refusalIn, withoutSecretsIn } from "./refusal.ts";
import { Watchdog } from "./watchdog.ts";

/** Asks a provider small things that are no turn of a conversation: signed like any request, never retried, and in a limited time. */
export class Asker {
  readonly #provider: Provider;
  readonly #credentials: Credentials;
  readonly #signal: AbortSignal | undefined;
  readonly #until: number;

  /** All questions of one asker together may take half a minute, or `limit` milliseconds. */
  constructor(provider: Provider, world: World, signal?: AbortSignal, limit: number = longestAsking) {
    this.#provider = provider;
    this.#credentials = openCredentials(world);
    this.#signal = signal;
    this.#until = world.clock.elapsed() + limit;
  }

  /** The JSON of the answer. Throws a `ProviderError`. A token that is refused is renewed once, as when sending. */
  async ask(question: Question): Promise<unknown> {
    try {
      return await this.#once(question).catch(async (error: unknown) => {
        const isRefused = error instanceof AttemptError && error.verdict.failure.kind === "bad-key";
        if (!isRefused || !(await renew(this.#provider, this.#credentials))) throw error;
        return this.#once(question);
      });
    } catch (error) {
      throw this.#thrown(error);
    }
  }

  async #once(question: Question): Promise<unknown> {
    const { world } = this.#credentials;
    const headers = {
      "user-agent": userAgent(world),
      ...(question.body === undefined ? {} : { "content-type": "application/json" }),
    };
    const request = await authorize({ ...question, headers }, this.#provider, this.#credentials, this.#signal);
    try {
      return await this.#exchange(request);
    } catch (error) {
      const meant = asAttemptError(error, this.#who(), request);
      throw meant instanceof AttemptError ? withoutSecretsIn(meant, request) : meant;
    }
  }

  async #exchange(request: HttpRequest): Promise<unknown> {
    const { world } = this.#credentials;
    const who = this.#who();
    const { wire } = this.#provider.destination(this.#provider.defaultModel);
    const headers = Math.max(1, this.#until - world.clock.elapsed());
    const watch = new Watchdog(world.clock, { ...patience, headers }, this.#signal);
    try {
      const response = await world.net.send(request, watch.signal);
      const refusal = await refusalIn(response, { wire, who, clock: world.clock });
      if (refusal !== undefined) throw refusal;
      const body = jsonOf(await bodyText(response));
      if (body === undefined) throw new MalformedStream("It holds no JSON");
      const problem = isObject(body) ? wire.decode.problem(body) : undefined;
      if (problem !== undefined) throw new AttemptError(classify(who, { problem }), { problem });
      return body;
    } finally {
      watch.end(false);
    }
  }

  #who(): { readonly provider: string; readonly label: string } {
    return { provider: this.#provider.id, label: this.#provider.label };
  }

  #thrown(error: unknown): unknown {
    if (error instanceof AttemptError) return new ProviderError(error.verdict.failure, { cause: error });
    if (this.#signal?.aborted !== true || error instanceof ProviderError) return error;
    return new ProviderError({ ...this.#who(), kind: "cancelled" }, { cause: error });
  }
}

/** A question: an address of the provider, and a body where there is one. */
export type Question = Pick<HttpRequest, "method" | "url"> & { readonly body?: string };

/** An answer that came whole and says something else than was asked. */
export const unreadable = ({ id, label }: Provider, said: string): ProviderError =>
  new ProviderError({ provider: id, label, kind: "malformed-stream", said });

const longestAsking = 30_000;
