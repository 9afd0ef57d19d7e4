import type { JsonObject } from "../../conversation/json.ts";
import type { Transport } from "../../transport/transport.ts";
import { ResponseBuilder } from "../../wire/decode/response-builder.ts";
import type { Destination } from "../../wire/bind.ts";
import { RequestComposer } from "../../wire/compose.ts";
import type { FinishReason, TokenUsage } from "../../wire/decode/events.ts";
import type { RequestSettings } from "../../wire/wire.ts";
import type { ModelRef } from "../models/name.ts";

/** An answer to a question on the side: its words, why they ended, and what they used. */
export type SideQueryResult = { readonly text: string; readonly finish?: FinishReason; readonly usage?: TokenUsage };

/** Asks a model something that is not part of the conversation. Throws a `ProviderError`. */
export const runSideQuery = async (
  transport: Transport,
  model: ModelRef,
  encode: (destination: Destination) => JsonObject,
  signal: AbortSignal,
): Promise<SideQueryResult> => {
  const builder = new ResponseBuilder();
  for await (const event of transport.send(
    { ...model, body: encode(transport.destination(model)), rebuild: encode },
    signal,
  ))
    if (event.type !== "request" && event.type !== "retrying" && event.type !== "repaired") builder.add(event);
  const { usage, finish } = builder.build() ?? {};
  return {
    text: builder.partialText,
    ...(finish === undefined ? {} : { finish }),
    ...(usage === undefined ? {} : { usage }),
  };
};

/** A question of words alone. */
export const textQuery =
  (text: string, settings: RequestSettings = {}) =>
  (destination: Destination): JsonObject => {
    const composer = new RequestComposer({ destination, blobs: {} });
    composer.add([{ type: "user", parts: [{ type: "text", text }] }]);
    return composer.body({ stream: true, ...settings });
  };
