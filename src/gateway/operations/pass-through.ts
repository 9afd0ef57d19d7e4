import { homeProviders } from "../../providers/find.ts";
import type { Failure } from "../../transport/failure.ts";
import type { ModelAddress } from "../../transport/destinations.ts";
import { AttemptError, readErrorResponse, toAttemptError } from "../../transport/retry/attempt-error.ts";
import { retryPolicy } from "../../transport/retry/policy.ts";
import { TimeoutWatchdog } from "../../transport/stream/timeouts.ts";
import { readBodyText, type HttpHeaders, type HttpRequest, type HttpResponse } from "../../world/net.ts";
import { hasWrappedSeals } from "../carry.ts";
import { costOfAnswer } from "../cost.ts";
import { parseTarget } from "../exchange.ts";
import { hasSpendLimit, type AdmittedRequest, type GatewayState } from "../gateway.ts";
import type { GatewayResponse } from "../http-types.ts";
import { replaceModel } from "../outbound/replace-model.ts";
import { canFailOver, orderTargets } from "../routes/failover.ts";
import { UsageTap } from "./usage-tap.ts";

/**
 * Sends a request byte for byte to the owner of the client's API, if its rules find nothing wrong with it: only the
 * model's name and the key change, and the response comes back untouched. Undefined where the request has to be composed
 * instead, or where it was refused and another form of it may be accepted.
 */
export const passThrough = async (
  state: GatewayState,
  admitted: AdmittedRequest,
  targets: readonly string[],
): Promise<GatewayResponse | undefined> => {
  const target = orderTargets(targets, state.cooldowns)[0] ?? "";
  const address = parseTarget(target);
  const request = await prepareRequest(state, admitted, address);
  if (request === undefined) return undefined;
  const { world } = state.options;
  const watch = new TimeoutWatchdog(world.clock, retryPolicy, admitted.request.signal);
  const who = { provider: address.provider.id, label: address.provider.label };
  let response: HttpResponse;
  try {
    response = await world.net.send(request, watch.signal);
  } catch (error) {
    watch.stop(false);
    const failed = toAttemptError(error, who, request);
    // The composed request is sent with retries and fails over; its failure is the one to report.
    if (!(failed instanceof AttemptError)) throw failed;
    return undefined;
  }
  watch.progress("firstByte");
  if (response.status >= 200 && response.status < 300)
    return forward(state, admitted, { address, request, response, watch });
  const text = await readBodyText(response, 2 ** 20).finally(() => watch.stop(true));
  const { failure } = await classify(state, address, { ...response, body: once(Buffer.from(text)) });
  // A refused body may be mended by composing it; after other failures another target may answer.
  if (failure.kind === "refused" || (targets.length > 1 && canFailOver(failure))) {
    if (failure.kind !== "refused") state.cooldowns.start(target, failure, admitted.config.cooldown ?? 60_000);
    return undefined;
  }
  admitted.finish({ status: response.status, failure });
  return { status: response.status, headers: passedHeaders(response.headers), body: text };
};

/** Prepares the request with the client's bytes; undefined if it cannot pass through. */
const prepareRequest = async (
  { options: { lint }, signer }: GatewayState,
  { config, endpoint, request, bytes, text, body, model: named }: AdmittedRequest,
  address: ModelAddress,
): Promise<HttpRequest | undefined> => {
  const { provider, model } = address;
  if (lint === undefined || config.passThrough === false) return undefined;
  // Other servers with that API take less of it. A request they could not take would be composed, and its prefix change.
  if (provider.id !== homeProviders[endpoint.api]) return undefined;
  if (provider.auth.type === "code-assist" || provider.auth.type === "aws") return undefined;
  const isStream = endpoint.stream ?? body["stream"] === true;
  // The paths of our providers ask for server-sent events.
  if (endpoint.api === "gemini" && isStream && request.query.get("alt") !== "sse") return undefined;
  if (hasWrappedSeals(text)) return undefined;
  const isNamed = endpoint.api === "gemini" || named === model;
  const sent = isNamed ? text : replaceModel(text, model);
  if (sent === undefined) return undefined;
  const findings = await lint(isNamed ? body : { ...body, model }, {
    wire: provider.wire,
    provider: provider.id,
    model,
  });
  if (findings.some(({ level }) => level === "error")) return undefined;
  const prepared = await signer.prepare(address, { body: {}, stream: isStream, renew: false }, request.signal);
  return {
    ...prepared,
    headers: { ...prepared.headers, ...pickHeaders(request.headers, clientHeaders) },
    body: isNamed ? bytes : Buffer.from(sent),
  };
};

/** Headers of a client that change what the API accepts. Keys and cookies are never among them. */
const clientHeaders = /^(anthropic-(beta|version)|openai-beta)$/;

/** Headers of a target that clients read. */
const targetHeaders =
  /^(content-type|retry-after(-ms)?|request-id|x-request-id|x-should-retry|(anthropic|x)-ratelimit-.+)$/;

const pickHeaders = (headers: HttpHeaders, names: RegExp): HttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => names.test(name)));

const passedHeaders = (headers: HttpHeaders): HttpHeaders => ({
  ...pickHeaders(headers, targetHeaders),
  "x-parley-notes": "0",
});

type PassedResponse = {
  readonly address: ModelAddress;
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly watch: TimeoutWatchdog;
};

const forward = async (
  { options }: GatewayState,
  { body, finish, config }: AdmittedRequest,
  { address, response, watch }: PassedResponse,
): Promise<GatewayResponse> => {
  const { provider, model } = address;
  const isMeasured = options.onExchange !== undefined || hasSpendLimit(config);
  const tap = isMeasured
    ? await UsageTap.open(provider.destination(model).wire, response.headers["content-type"] ?? "")
    : undefined;
  const chunks = (async function* (): AsyncGenerator<Uint8Array, void> {
    let isRead = false;
    try {
      for await (const chunk of response.body) {
        watch.progress("idle");
        tap?.push(chunk);
        yield chunk;
      }
      isRead = true;
    } finally {
      watch.stop(isRead);
      const usage = tap?.end();
      finish({
        status: isRead ? 200 : 499,
        // The client's body names another model where the route does.
        ...(options.onExchange === undefined
          ? {}
          : { out: { provider: provider.id, model, body: { ...body, model } } }),
        ...(usage === undefined ? {} : { usage, ...costOfAnswer(config, address, usage) }),
      });
    }
  })();
  const headers = { ...passedHeaders(response.headers), "x-parley-target": `${provider.id}/${model}` };
  return { status: response.status, headers, body: { chunks } };
};

const classify = async (
  { options: { world } }: GatewayState,
  { provider, model }: ModelAddress,
  response: HttpResponse,
): Promise<{ readonly failure: Failure }> => {
  const who = { provider: provider.id, label: provider.label };
  const { wire } = provider.destination(model);
  const error = await readErrorResponse(response, { wire, who, clock: world.clock });
  return error?.classification ?? { failure: { ...who, kind: "refused", status: response.status, rules: [] } };
};

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}
