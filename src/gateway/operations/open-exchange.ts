import { estimateConversation, hasFiles } from "../estimate.ts";
import { Exchange, GatewayError, readConversation } from "../exchange.ts";
import type { AdmittedRequest, GatewayState } from "../gateway.ts";
import type { GatewayResponse } from "../http-types.ts";
import { normalizeBody, type NormalizedBody } from "../inbound/normalize.ts";
import { findTargets, listRouteNames } from "../routes/route.ts";

/** An exchange with its targets, or the response where the request passed through unchanged. */
export type OpenedExchange =
  | { readonly exchange: Exchange; readonly normalized: NormalizedBody; readonly targets: readonly string[] }
  | { readonly response: GatewayResponse };

/** Finds the targets of a request and opens the exchange with them. Throws a `GatewayError` if there is none. */
export const openExchange = async (state: GatewayState, admitted: AdmittedRequest): Promise<OpenedExchange> => {
  const { endpoint, body, model, client, config, request } = admitted;
  const normalized = normalizeBody(endpoint.api, body);
  const read = once(() => readConversation(endpoint.api, normalized));
  const targets = findTargets(
    {
      api: endpoint.api,
      model,
      client,
      hasImages: () => hasFiles(read()),
      tokens: () => estimateConversation(read()),
    },
    config,
    state.options.world.env,
  );
  if (targets.length === 0) throw new GatewayError({ kind: "unknown-model", model, known: listRouteNames(config) });
  if (endpoint.operation === "generate") {
    const { passThrough } = await import("./pass-through.ts");
    const response = await passThrough(state, admitted, targets);
    if (response !== undefined) return { response };
  }
  const exchange = new Exchange({
    transport: state.transport,
    hastyTransport: state.hastyTransport,
    cooldowns: state.cooldowns,
    cooldown: config.cooldown ?? 60_000,
    api: endpoint.api,
    model,
    normalized,
    targets,
    signal: request.signal,
    ...(endpoint.api === "openai-chat" ? { recall: (callId: string) => state.seals.get(client, callId) } : {}),
  });
  return { exchange, normalized, targets };
};

const once = <Value>(make: () => Value): (() => Value) => {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
};
