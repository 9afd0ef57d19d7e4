import { chatProvider } from "./chat.ts";
import type { Provider } from "./define.ts";

/** The model that comes with Parley and needs no network. */
export const offline: Provider = chatProvider({
  id: "offline",
  label: "Embedded offline model",
  endpoint: { url: "offline:", paths: { generate: "/chat/completions" } },
  auth: { type: "none" },
  defaultModel: "script",
  dialect: { ends: "finish" },
});
