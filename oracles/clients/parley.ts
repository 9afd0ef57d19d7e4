import { done, text } from "../../src/conversation/builders.ts";
import type { Conversation } from "../../src/conversation/entry.ts";
import { Ledger } from "../../src/conversation/ledger.ts";
import { storeBase64 } from "../../src/conversation/media.ts";
import { findProvider } from "../../src/providers/find.ts";
import { createRequestSigner } from "../../src/transport/credentials/request-signer.ts";
import { openTransport } from "../../src/transport/transport.ts";
import { ResponseBuilder, type DecodedResponse } from "../../src/wire/decode/response-builder.ts";
import type { Destination } from "../../src/wire/bind.ts";
import { composeRequest } from "../../src/wire/compose.ts";
import type { RequestSettings } from "../../src/wire/wire.ts";
import { realWorld } from "../../src/world/real/world.ts";
import type { Environment } from "../../src/world/world.ts";
import { maxTokens, measurement, picture, question, system, tools } from "./scene.ts";

/** The provider and model Parley uses, and its environment. */
export type ParleyTarget = { readonly provider: string; readonly model: string; readonly env: Environment };

/** Runs the scene with Parley, over the network to the same server as the vendors' clients. */
export const runParleyLoop = async (
  { provider: id, model, env }: ParleyTarget,
  settings: RequestSettings = {},
): Promise<void> => {
  const world = realWorld(env);
  const provider = findProvider(id);
  const gate = createRequestSigner(world);
  const transport = openTransport({ world, signer: gate, retryPolicy: { maxAttempts: 1 } });
  const { media, blob } = storeBase64(picture.base64, { mimeType: picture.mimeType });
  const ledger = new Ledger();
  const ask = async (): Promise<DecodedResponse> => {
    const conversation: Conversation = {
      version: 1,
      system,
      tools,
      entries: ledger.entries,
      blobs: { [blob.hash]: blob.base64 },
    };
    const builder = new ResponseBuilder();
    const encode = (destination: Destination) =>
      composeRequest(conversation, destination, {
        settings: { maxTokens, stream: true, thinking: { effort: "medium" }, ...settings },
      }).body;
    const body = encode(transport.destination({ provider, model }));
    const events = transport.send({ provider, model, body, rebuild: encode });
    for await (const event of events)
      if (event.type === "repaired") throw new Error(event.message);
      else if (event.type !== "request" && event.type !== "retrying") builder.add(event);
    const answer = builder.build();
    if (answer === undefined) throw new Error("The answer has no end");
    return answer;
  };

  ledger.user([text(question)]);
  const { account } = gate.locate({ provider, model });
  const origin = { provider: id, model, ...(account === undefined ? {} : { account }) };
  const [look, measure] = ledger.model(origin, (await ask()).parts);
  if (look === undefined || measure === undefined) throw new Error("The model did not call twice");
  ledger.complete(look.id, look.tool, done(media));
  ledger.complete(measure.id, measure.tool, done(measurement));
  await ask();
};
