import { chatProvider } from "./chat.ts";
import type { Provider } from "./define.ts";
import { asBytes, pdf, wordsOnly } from "./traits.ts";

/** The model that comes with Parley and needs no network. It looks at the bytes of files, and fetches none. */
export const offline: Provider = chatProvider({
  id: "offline",
  label: "Demo model (offline)",
  endpoint: { url: "offline:", paths: { generate: "/chat/completions" } },
  auth: { type: "none" },
  defaultModel: "parley",
  traits: {
    media: {
      ...wordsOnly,
      user: { image: asBytes(["image/"]), document: asBytes(pdf), audio: asBytes(["audio/wav", "audio/mpeg"]) },
    },
  },
  dialect: { ends: "finish" },
});
