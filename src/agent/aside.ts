import type { JsonObject } from "../conversation/json.ts";
import type { Transport } from "../transport/transport.ts";
import { AnswerBuilder } from "../wire/answer.ts";
import type { Destination } from "../wire/bind.ts";
import { Composer } from "../wire/compose.ts";
import type { FinishReason, Usage } from "../wire/decode.ts";
import type { Settings } from "../wire/wire.ts";
import type { ModelRef } from "./model-name.ts";

/** An answer to a question on the side: its words, why they ended, and what they used. */
export type Aside = { readonly text: string; readonly finish?: FinishReason; readonly usage?: Usage };

/** Asks a model something that is not part of the conversation. Throws a `ProviderError`. */
export const askAside = async (
  transport: Transport,
  model: ModelRef,
  write: (destination: Destination) => JsonObject,
  signal: AbortSignal,
): Promise<Aside> => {
  const builder = new AnswerBuilder();
  for await (const event of transport.send({ ...model, write }, signal))
    if (event.type !== "request" && event.type !== "retrying" && event.type !== "repaired") builder.add(event);
  const { usage, finish } = builder.answer() ?? {};
  return {
    text: builder.words,
    ...(finish === undefined ? {} : { finish }),
    ...(usage === undefined ? {} : { usage }),
  };
};

/** A question of words alone. */
export const question =
  (text: string, settings: Settings = {}) =>
  (destination: Destination): JsonObject => {
    const composer = new Composer({ destination, blobs: {} });
    composer.add([{ type: "user", parts: [{ type: "text", text }] }]);
    return composer.body({ stream: true, ...settings });
  };
