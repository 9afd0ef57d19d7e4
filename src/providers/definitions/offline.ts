import { chatProvider } from "../chat-provider.ts";
import type { Provider } from "../define.ts";
import { inlineOnly, pdfTypes, textOnly } from "../traits.ts";

/** The model that comes with Parley and needs no network. It looks at the bytes of files, and fetches none. */
export const offline: Provider = chatProvider({
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
