import { done, text } from "../../src/conversation/builders.ts";
import type { Conversation } from "../../src/conversation/entry.ts";
import { Ledger } from "../../src/conversation/ledger.ts";
import { storeBase64 } from "../../src/conversation/media.ts";
import { findProvider } from "../../src/providers/find.ts";
import { openGate } from "../../src/transport/credentials-gate.ts";
import { openTransport } from "../../src/transport/transport.ts";
import { AnswerBuilder, type Answer } from "../../src/wire/answer.ts";
import { compose } from "../../src/wire/compose.ts";
import type { Settings } from "../../src/wire/wire.ts";
import { realWorld } from "../../src/world/real.ts";
import type { Environment } from "../../src/world/world.ts";
import { maxTokens, measured, picture, question, system, tools } from "./scene.ts";

/** Whom Parley asks, and with what environment. */
export type Asked = { readonly provider: string; readonly model: string; readonly env: Environment };

/** Parley's own way through the scene: over the same network to the same server as the vendors' clients. */
export const parleyLoop = async ({ provider: id, model, env }: Asked, settings: Settings = {}): Promise<void> => {
  const world = realWorld(env);
  const provider = findProvider(id);
  const gate = openGate(world);
  const transport = openTransport({ world, gate, patience: { attempts: 1 } });
  const { media, blob } = storeBase64(picture.base64, { mimeType: picture.mimeType });
  const ledger = new Ledger();
  const ask = async (): Promise<Answer> => {
    const conversation: Conversation = {
      version: 1,
      system,
      tools,
      entries: ledger.entries,
      blobs: { [blob.hash]: blob.base64 },
    };
    const builder = new AnswerBuilder();
    const events = transport.send({
      provider,
      model,
      write: (destination) =>
        compose(conversation, destination, {
          settings: { maxTokens, stream: true, thinking: { effort: "medium" }, ...settings },
        }).body,
    });
    for await (const event of events)
      if (event.type === "repaired") throw new Error(event.words);
      else if (event.type !== "request" && event.type !== "retrying") builder.add(event);
    const answer = builder.answer();
    if (answer === undefined) throw new Error("The answer has no end");
    return answer;
  };

  ledger.user([text(question)]);
  const { account } = gate.place({ provider, model });
  const origin = { provider: id, model, ...(account === undefined ? {} : { account }) };
  const [look, measure] = ledger.model(origin, (await ask()).parts);
  if (look === undefined || measure === undefined) throw new Error("The model did not call twice");
  ledger.complete(look.id, look.tool, done(media));
  ledger.complete(measure.id, measure.tool, done(measured));
  await ask();
};
