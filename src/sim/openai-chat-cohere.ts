import type { SimProvider } from "./family.ts";
import { chatServer } from "./openai-chat-compatible.ts";
import { inManner } from "./openai-chat-errors.ts";
import { asUuid, letters, smallLetters, uuidOf } from "./openai-chat-ids.ts";
import type { ChatErrors, ChatQuirks } from "./openai-chat-quirks.ts";
import { plainUsage } from "./openai-chat-usage.ts";

/** A message and an id. */
const errors: ChatErrors = inManner({
  words: {
    "no-key": "no api key supplied",
    "wrong-key": "invalid api token",
    "no-model":
      "model '{model}' not found, make sure the correct model ID was used and that you have access to the model.",
    "no-route": "404 page not found",
    "not-json": "invalid request: {error}",
    context: "too many tokens: total number of tokens in the prompt cannot exceed {limit} - received {tokens}.",
  },
  body: ({ message, number }) => ({ id: asUuid(number), message }),
});

/** Cohere, through its compatibility endpoint. Ids of calls begin with the tool's name. */
export const cohereServer: SimProvider<ChatQuirks> = chatServer({
  id: "cohere",
  host: /^api\.cohere\.(ai|com)$/,
  base: "/compatibility/v1",
  models: [
    { id: "command-a-03-2025", context: 262_144, maxOutput: 8192 },
    { id: "command-a-reasoning-08-2025", context: 262_144, maxOutput: 32_768 },
    { id: "command-a-vision-07-2025", context: 131_072, maxOutput: 8192 },
    { id: "command-r-plus-08-2024", context: 131_072, maxOutput: 4096 },
  ],
  known: /^command(-[a-z0-9]+)*$/,
  cache: { mode: "none", floor: 0, step: 1 },
  quirks: {
    answerId: (ask) => uuidOf(ask, "answer"),
    callId: ({ index, tool }, ask) => `${tool}_${letters(ask, `call ${index}`, 12, smallLetters)}`,
    reasoning: "hidden",
    rereads: [],
    silence: null,
    sees: (kind, place, model) => kind === "image" && place === "user" && model.includes("vision"),
    usage: plainUsage,
    errors,
    requestId: (number) => ({ "x-debug-trace-id": number }),
    limits: { "x-trial-endpoint-call-limit": "40", "x-trial-endpoint-call-remaining": "39" },
  },
});
