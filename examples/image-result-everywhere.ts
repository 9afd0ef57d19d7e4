/*
 * A tool returns an image. Every provider gets it in the best form it accepts:
 * inside the result, after the results, or, if the model takes no images there,
 * described as text.
 */
import { call, done, Ledger, providers, renderRequest, storeBase64, text, type Conversation } from "parley-agent";

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const { media, blob } = storeBase64(pixel, { mimeType: "image/png", name: "page.png", width: 1, height: 1 });

const ledger = new Ledger();
ledger.user([text("What is on the page?")]);
const [shot] = ledger.model({ provider: "openai", model: "gpt-5.6" }, [call("screenshot", {}, "call_1")]);
ledger.complete(shot!.id, "screenshot", done("The page:", media));
const conversation: Conversation = {
  version: 1,
  tools: [{ name: "screenshot" }],
  entries: ledger.entries,
  blobs: { [blob.hash]: blob.base64 },
};

for (const { id, defaultModel } of providers) {
  const { body, report } = renderRequest(conversation, id, { policy: { unsupportedMedia: "stub" } });
  const note = report.notes.find(({ kind }) => kind === "media-after" || kind === "media-stub");
  const sent = JSON.stringify(body).includes(pixel);
  console.log(`${id}/${defaultModel}: ${note?.message ?? "inside the result"}${sent ? "" : " (no bytes are sent)"}`);
}
