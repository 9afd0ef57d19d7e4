import type { JsonObject } from "../conversation/json.ts";
import type { Step } from "../transcript/step.ts";
import type { Target, ToolResponseLayout } from "../transcript/target.ts";
import type { ResponseDecoder, StreamDecoder } from "./decode/events.ts";
import type { ArgumentNames } from "./schema/argument-names.ts";
import type { EncodedBody, MarkedMessage, Wire, WireRequest } from "./wire.ts";

/** A wire bound to one provider's dialect. */
export type BoundWire = Pick<Wire<unknown>, "id" | "extractMessages" | "read"> & {
  readonly encodeHead: (request: BoundRequest) => ReturnType<Wire<unknown>["encodeHead"]>;
  readonly encodeStep: (step: Step, layout?: ToolResponseLayout) => readonly JsonObject[];
  readonly mergeMessages: (before: JsonObject, next: JsonObject) => JsonObject | undefined;
  readonly markCachePoints: (messages: readonly JsonObject[], request: BoundRequest) => readonly MarkedMessage[];
  readonly encodeRequest: (
    messages: Parameters<Wire<unknown>["encodeRequest"]>[0],
    request: BoundRequest,
  ) => EncodedBody;
  readonly argumentNames: (parameters: JsonObject | undefined) => ArgumentNames | undefined;
  readonly decode: Pick<ResponseDecoder<unknown>, "frames" | "parseError"> & { readonly open: () => StreamDecoder };
};

/** A request without its dialect, which the bound wire adds. */
export type BoundRequest = Omit<WireRequest<unknown>, "dialect">;

/** Where a request goes: the target to render for, and the wire to encode with. */
export type Destination = {
  readonly target: Target;
  readonly wire: BoundWire;
  /** Whether the API refuses a history with tool calls unless tools are declared. */
  readonly requiresTools: boolean;
  /** Whether thinking may only be requested while the last calls have some before them. */
  readonly requiresThinkingInLoop: boolean;
};

/** Binds a wire to a dialect. */
export const bindDialect = <Dialect>(wire: Wire<Dialect>, dialect: Dialect): BoundWire => ({
  id: wire.id,
  extractMessages: wire.extractMessages,
  read: wire.read,
  encodeHead: (request) => wire.encodeHead({ ...request, dialect }),
  encodeStep: (step, layout) => wire.encodeStep(step, dialect, layout),
  mergeMessages: (before, next) => wire.mergeMessages(before, next, dialect),
  markCachePoints: (messages, request) => wire.markCachePoints(messages, { ...request, dialect }),
  encodeRequest: (messages, request) => wire.encodeRequest(messages, { ...request, dialect }),
  argumentNames: (parameters) => wire.argumentNames?.(parameters, dialect),
  decode: { ...wire.decode, open: () => wire.decode.open(dialect) },
});
