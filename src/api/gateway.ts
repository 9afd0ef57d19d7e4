/**
 * A gateway: clients of the Anthropic, OpenAI and Gemini APIs in front of any provider.
 *
 * @packageDocumentation
 */
export { createGateway, type CreateGatewayOptions } from "../gateway/create-gateway.ts";
export type { FetchHandler } from "../gateway/fetch-handler.ts";
export type { GatewayLimits } from "../gateway/options.ts";
export type { GatewayClient, GatewayConfig, RouteRule } from "../gateway/routes/config.ts";
export { hashToken } from "../http/request-guard.ts";
export type { ExchangeRecord } from "../wire/exchange.ts";
