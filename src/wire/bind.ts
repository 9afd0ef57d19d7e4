import type { JsonObject } from "../conversation/json.ts";
import type { Step } from "../transcript/step.ts";
import type { Target, ToolResponseLayout } from "../transcript/target.ts";
import type { Decode, Decoding } from "./decode.ts";
import type { ArgumentNames } from "./schema-keys.ts";
import type { Encoded, Marked, Wire, WireRequest } from "./wire.ts";

/** A wire that already knows whose dialect to write. */
export type BoundWire = Pick<Wire<unknown>, "id" | "messagesIn" | "read"> & {
  readonly head: (request: BoundRequest) => ReturnType<Wire<unknown>["head"]>;
  readonly encodeStep: (step: Step, layout?: ToolResponseLayout) => readonly JsonObject[];
  readonly merge: (before: JsonObject, next: JsonObject) => JsonObject | undefined;
  readonly marked: (messages: readonly JsonObject[], request: BoundRequest) => readonly Marked[];
  readonly encodeRequest: (messages: Parameters<Wire<unknown>["encodeRequest"]>[0], request: BoundRequest) => Encoded;
  readonly argumentNames: (parameters: JsonObject | undefined) => ArgumentNames | undefined;
  readonly decode: Pick<Decode<unknown>, "frames" | "problem"> & { readonly open: () => Decoding };
};

/** A request whose dialect is settled. */
export type BoundRequest = Omit<WireRequest<unknown>, "dialect">;

/** Where a request goes: what the model there may be shown, and how its API writes it. */
export type Destination = {
  readonly target: Target;
  readonly wire: BoundWire;
  /** Whether a history with tool calls is refused unless tools are declared. */
  readonly demandsTools: boolean;
  /** Whether thinking can only be asked for while the last calls come with some. */
  readonly demandsThoughtInLoop: boolean;
};

/** Fixes the dialect of a wire. */
export const bind = <Dialect>(wire: Wire<Dialect>, dialect: Dialect): BoundWire => ({
  id: wire.id,
  messagesIn: wire.messagesIn,
  read: wire.read,
  head: (request) => wire.head({ ...request, dialect }),
  encodeStep: (step, layout) => wire.encodeStep(step, dialect, layout),
  merge: (before, next) => wire.merge(before, next, dialect),
  marked: (messages, request) => wire.marked(messages, { ...request, dialect }),
  encodeRequest: (messages, request) => wire.encodeRequest(messages, { ...request, dialect }),
  argumentNames: (parameters) => wire.argumentNames?.(parameters, dialect),
  decode: { ...wire.decode, open: () => wire.decode.open(dialect) },
});
