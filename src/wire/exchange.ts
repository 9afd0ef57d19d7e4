import type { Note } from "../conversation/notes.ts";
import type { TokenUsage } from "./decode/events.ts";

/**
 * One exchange of a program that stands between a client and a model: the request it received, the request it sent, and
 * the result. An exchange log has one of these per line, as JSON; `parley inspect FILE` shows it.
 */
export type ExchangeRecord = {
  /** When the request arrived, as ISO 8601. */
  readonly at: string;
  /** Who asked: a name, never a key. */
  readonly client: string;
  /** The model the client asked for, in the client's words. */
  readonly model: string;
  /** The request as it was received: its API family (a `WireId`) and its body. */
  readonly in: { readonly api: string; readonly body: unknown };
  /** The request as it was sent. Absent if none was. */
  readonly out?: { readonly provider: string; readonly model: string; readonly body: unknown };
  /** Repairs, renames, moves and omissions between the two. */
  readonly notes: readonly Note[];
  readonly usage?: TokenUsage;
  /** US dollars. Absent if the price is unknown. */
  readonly cost?: number;
  /** The HTTP status the client got. */
  readonly status: number;
  /** The message of a failure. */
  readonly error?: string;
  /** Milliseconds from the request to the end of the response. */
  readonly took?: number;
};
