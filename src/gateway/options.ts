import type { Transport, RequestSigner } from "../transport/transport.ts";
import type { ExchangeRecord } from "../wire/exchange.ts";
import type { WireId } from "../wire/wire.ts";
import type { World } from "../world/world.ts";
import type { GatewayConfig } from "./routes/config.ts";
import type { SealFile } from "./seal-store.ts";

/** Options of a gateway. */
export type GatewayOptions = {
  readonly world: World;
  /** Returns the routes and clients as they are now; called for every request, so they can change. */
  readonly config: () => GatewayConfig;
  /** Sends requests. Default: one with the keys of the world's environment. */
  readonly transport?: Transport;
  /** Signs requests that pass through unchanged. Default: with the keys of the world's environment. */
  readonly signer?: RequestSigner;
  /** Returns what the target's API would refuse in a body. Without it, no request passes through unchanged. */
  readonly lint?: (body: unknown, target: LintTarget) => Promise<readonly LintFinding[]> | readonly LintFinding[];
  /** Receives every exchange when it is over. Without it, no body is kept. */
  readonly onExchange?: (record: ExchangeRecord) => void;
  /** Called once for each model whose answers no spending limit can count, since its price is unknown. */
  readonly onUnpriced?: (model: string) => void;
  /** Keeps seals over a restart for clients that do not return them. Without it, they are in memory alone. */
  readonly sealFile?: SealFile;
  /** Makes the ids of answers: letters and digits. Default: from the world's random numbers. */
  readonly newId?: () => string;
  readonly limits?: Partial<GatewayLimits>;
};

/** The target a body is checked for. */
type LintTarget = { readonly wire: WireId; readonly provider: string; readonly model: string };

/** A finding that is an `error` means that the target refuses or misreads the body. */
type LintFinding = { readonly level: "error" | "advice" };

/** Limits of a gateway. */
export type GatewayLimits = {
  /** The largest body of a request, in bytes. */
  readonly bodyBytes: number;
  /** Requests at once. */
  readonly requests: number;
  /** Milliseconds without content after which the response begins, so that clients do not time out. */
  readonly silence: number;
};

export const defaultLimits: GatewayLimits = { bodyBytes: 64 * 2 ** 20, requests: 256, silence: 10_000 };
