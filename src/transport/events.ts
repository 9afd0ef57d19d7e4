import type { Quirk } from "../providers/quirks.ts";
import type { ResponseEvent } from "../wire/decode/events.ts";
import type { Failure } from "./failure.ts";

/** The events of a response without errors: these are thrown. */
export type ContentEvent = Exclude<ResponseEvent, { type: "error" | "malformed" }>;

/** Events of sending, and of the response itself. */
export type TransportEvent =
  | ContentEvent
  /** A request is sent. */
  | { readonly type: "request"; readonly attempt: number; readonly url: string; readonly bytes: number }
  /** An attempt failed before any content was emitted; the next one starts after `delay` milliseconds (retry backoff). */
  | { readonly type: "retrying"; readonly attempt: number; readonly delay: number; readonly failure: Failure }
  /** An error revealed a quirk of the endpoint; the request is built again. */
  | { readonly type: "repaired"; readonly quirk: Quirk; readonly message: string; readonly failure: Failure };

/** The events of one attempt. */
export type AttemptEvent = ContentEvent | Extract<TransportEvent, { type: "request" }>;
