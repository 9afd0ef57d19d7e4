import { defineChatProvider } from "../chat-provider.ts";
import type { Provider } from "../define.ts";
import { inlineOnly, pdfTypes, textOnly } from "../traits.ts";

/** The demo model built into Parley, which needs no network. It reads inline files and fetches none. */
export const offline: Provider = defineChatProvider({
  id: "offline",
  label: "Demo model (offline)",
  endpoint: { url: "offline:", paths: { generate: "/chat/completions" } },
  auth: { type: "none" },
  defaultModel: "parley",
  traits: {
    media: {
      ...textOnly,
      user: {
        image: inlineOnly(["image/"]),
        document: inlineOnly(pdfTypes),
        audio: inlineOnly(["audio/wav", "audio/mpeg"]),
      },
    },
  },
  dialect: { ends: "finish" },
});
