import type { JsonObject } from "../../conversation/json.ts";
import type { Transport } from "../../transport/transport.ts";
import { ResponseBuilder } from "../../wire/decode/response-builder.ts";
import type { Destination } from "../../wire/bind.ts";
import { RequestComposer } from "../../wire/compose.ts";
import type { FinishReason, TokenUsage } from "../../wire/decode/events.ts";
import type { RequestSettings } from "../../wire/wire.ts";
import type { ModelRef } from "../models/name.ts";

/** The answer to a side query: its text, finish reason and usage. */
export type SideQueryResult = { readonly text: string; readonly finish?: FinishReason; readonly usage?: TokenUsage };

/** Sends a request that is not part of the conversation. Throws a `ProviderError`. */
export const runSideQuery = async (
  transport: Transport,
  model: ModelRef,
  encode: (destination: Destination) => JsonObject,
  signal: AbortSignal,
): Promise<SideQueryResult> => {
  const response = new ResponseBuilder();
  const body = encode(transport.destination(model));
  for await (const event of transport.send({ ...model, body, rebuild: encode }, signal))
    if (event.type !== "request" && event.type !== "retrying" && event.type !== "repaired") response.add(event);
  const { usage, finish } = response.build() ?? {};
  return {
    text: response.partialText,
    ...(finish === undefined ? {} : { finish }),
    ...(usage === undefined ? {} : { usage }),
  };
};

/** Encodes a query of text alone. */
export const textQuery =
  (text: string, settings: RequestSettings = {}) =>
  (destination: Destination): JsonObject => {
    const composer = new RequestComposer({ destination, blobs: {} });
    composer.add([{ type: "user", parts: [{ type: "text", text }] }]);
    return composer.body({ stream: true, ...settings });
  };
