import type { SimProvider } from "../../family.ts";
import { defineChatServer } from "./compatible.ts";
import { defineErrors } from "../errors.ts";
import { asUuid, pseudoRandomLetters, lowerAlphanumeric, pseudoRandomUuid } from "../ids.ts";
import type { ChatErrors, ChatQuirks } from "../quirks.ts";
import { plainUsage } from "../usage.ts";

/** An error with a message and an id. */
const errors: ChatErrors = defineErrors({
  messages: {
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

/** Cohere's compatibility endpoint. Call ids begin with the tool's name. */
export const cohereServer: SimProvider<ChatQuirks> = defineChatServer({
  id: "cohere",
  host: /^api\.cohere\.(ai|com)$/,
  base: "/compatibility/v1",
  models: [
    { id: "command-a-03-2025", context: 262_144, maxOutput: 8192 },
    { id: "command-a-reasoning-08-2025", context: 262_144, maxOutput: 32_768 },
    { id: "command-a-vision-07-2025", context: 131_072, maxOutput: 8192 },
    { id: "command-r-plus-08-2024", context: 131_072, maxOutput: 4096 },
  ],
  knownModels: /^command(-[a-z0-9]+)*$/,
  cache: { mode: "none", minTokens: 0, stepTokens: 1 },
  quirks: {
    responseId: (request) => pseudoRandomUuid(request, "answer"),
    callId: ({ index, tool }, request) =>
      `${tool}_${pseudoRandomLetters(request, `call ${index}`, 12, lowerAlphanumeric)}`,
    reasoning: "hidden",
    rereadFields: [],
    emptyContent: null,
    acceptsFile: (kind, place, model) => kind === "image" && place === "user" && model.includes("vision"),
    usage: plainUsage,
    errors,
    requestId: (number) => ({ "x-debug-trace-id": number }),
    limits: { "x-trial-endpoint-call-limit": "40", "x-trial-endpoint-call-remaining": "39" },
  },
});
