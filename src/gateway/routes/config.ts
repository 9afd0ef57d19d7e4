import type { Price } from "../../providers/models.ts";

/** The routes, clients and limits of a gateway: data, from settings or from a program. */
export type GatewayConfig = {
  /** The first route that matches a request is used. */
  readonly routes?: readonly RouteRule[];
  /** Targets by name; a route can name one in `to`. */
  readonly pools?: { readonly [name: string]: readonly string[] };
  /** Clients by name. Without any, no token is needed. */
  readonly clients?: { readonly [name: string]: GatewayClient };
  /** Facts about models (`provider/model`) that count before the published ones. */
  readonly models?: { readonly [name: string]: GatewayModelFacts };
  /** US dollars all clients may spend in a day (UTC). */
  readonly spend?: number;
  /** Milliseconds for which a target that failed is passed over. Default: a minute. */
  readonly cooldown?: number;
  /** Whether a request goes out byte for byte where client and target have the same API. Default: true. */
  readonly passThrough?: boolean;
};

/** Facts about a model, from the user. */
type GatewayModelFacts = {
  readonly price?: Price;
  /** Context window and longest answer, in tokens. */
  readonly context?: number;
  readonly maxOutput?: number;
};

/** Requests that match every given condition go to the targets of `to`. */
export type RouteRule = {
  /** The model as the client names it, with `*` for any text. Default: every model. */
  readonly model?: string;
  /** The name of the client. */
  readonly client?: string;
  /** Only requests with (or without) images or documents. */
  readonly images?: boolean;
  /** Only requests longer than this many tokens, by estimate. */
  readonly longer?: number;
  /** `provider/model`, or a pool. Several are tried in order. With `*` as the model, the client's name of the model is used. */
  readonly to: string | readonly string[];
};

/** A program that may use the gateway. */
export type GatewayClient = {
  /** The SHA-256 of its token in hex, or the token itself. */
  readonly tokenHash: string;
  /** US dollars it may spend in a day (UTC). */
  readonly spend?: number;
};
