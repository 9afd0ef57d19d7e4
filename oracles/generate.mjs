// Writes JSON Schemas of requests and of answers into schemas/, named after the SDK and version they came from.
// Run `npm install && npm run generate` here after changing a pin, and commit what changed.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fromAws } from "./generate/from-aws.mjs";
import { fromProtos } from "./generate/from-protos.mjs";
import { fromTypes } from "./generate/from-types.mjs";
import { lagging } from "./generate/lagging.mjs";
import { asReceived } from "./generate/inbound.mjs";
import { asAsked } from "./generate/outbound.mjs";
import { tidy } from "./generate/tidy.mjs";

const version = (sdk) => JSON.parse(readFileSync(new URL(`node_modules/${sdk}/package.json`, import.meta.url))).version;

const fromSdk = (file, sdk, module, ...types) => ({
  file,
  sdk,
  make: () => fromTypes({ module: `${sdk}/${module}`, types }),
});
const fromOutbound = (file, sdk, module, type) => ({
  file,
  sdk,
  make: () => asAsked(sdk, fromTypes({ module: `${sdk}/${module}`, types: [type] })),
});
const fromInbound = (file, sdk, module, ...types) => ({
  file,
  sdk,
  make: () => asReceived(fromTypes({ module: `${sdk}/${module}`, types })),
});
const fromAmazon = (file, options) => ({
  file,
  sdk: "@aws-sdk/client-bedrock-runtime",
  make: () => fromAws({ sdk: "@aws-sdk/client-bedrock-runtime", ...options }),
});
const fromGoogle = (file, sdk, message, added) => ({
  file,
  sdk,
  make: () => fromProtos({ sdk, message, lagging: added(sdk) }),
});

const completions = "resources/chat/completions/completions";
const messages = "resources/messages/messages";

const requests = [
  fromSdk("anthropic-messages.sdk", "@anthropic-ai/sdk", messages, "MessageCreateParamsBase"),
  fromSdk("anthropic-messages.sdk", "anthropic-sdk-2023", messages, "MessageCreateParamsBase"),
  fromSdk("openai-chat.openai", "openai", completions, "ChatCompletionCreateParamsBase"),
  fromSdk("openai-responses.openai", "openai", "resources/responses/responses", "ResponseCreateParamsBase"),
  fromSdk("groq-chat.groq", "groq-sdk", "resources/chat/completions", "ChatCompletionCreateParamsBase"),
  fromOutbound(
    "mistral-chat.mistralai",
    "@mistralai/mistralai",
    "models/components",
    "ChatCompletionStreamRequest$Outbound",
  ),
  fromOutbound("openrouter-chat.openrouter", "@openrouter/sdk", "models", "ChatRequest$Outbound"),
  fromAmazon("bedrock-converse.aws", { types: ["ConverseStreamRequest"], inPath: ["modelId"] }),
  fromGoogle(
    "gemini.generativelanguage",
    "@google-ai/generativelanguage",
    "google.ai.generativelanguage.v1beta.GenerateContentRequest",
    lagging,
  ),
  fromGoogle(
    "gemini.aiplatform",
    "@google-cloud/aiplatform",
    "google.cloud.aiplatform.v1beta1.GenerateContentRequest",
    lagging,
  ),
];

/** Complete responses and stream events. */
const answers = [
  fromSdk("anthropic-messages-answer.sdk", "@anthropic-ai/sdk", messages, "RawMessageStreamEvent", "Message"),
  fromSdk("anthropic-messages-answer.sdk", "anthropic-sdk-2023", messages, "RawMessageStreamEvent", "Message"),
  fromSdk("openai-chat-answer.openai", "openai", completions, "ChatCompletionChunk", "ChatCompletion"),
  fromSdk(
    "openai-responses-answer.openai",
    "openai",
    "resources/responses/responses",
    "ResponseStreamEvent",
    "Response",
  ),
  fromSdk("groq-chat-answer.groq", "groq-sdk", "resources/chat/completions", "ChatCompletionChunk", "ChatCompletion"),
  fromInbound(
    "mistral-chat-answer.mistralai",
    "@mistralai/mistralai",
    "models/components",
    "CompletionChunk",
    "ChatCompletionResponse",
  ),
  fromInbound("openrouter-chat-answer.openrouter", "@openrouter/sdk", "models", "ChatStreamChunk", "ChatResult"),
  fromAmazon("bedrock-converse-answer.aws", { types: ["ConverseStreamOutput", "ConverseResponse"] }),
  fromGoogle(
    "gemini-answer.generativelanguage",
    "@google-ai/generativelanguage",
    "google.ai.generativelanguage.v1beta.GenerateContentResponse",
    () => [],
  ),
  fromGoogle(
    "gemini-answer.aiplatform",
    "@google-cloud/aiplatform",
    "google.cloud.aiplatform.v1beta1.GenerateContentResponse",
    () => [],
  ),
];

const folder = new URL("schemas/", import.meta.url);
mkdirSync(folder, { recursive: true });
const written = [...requests, ...answers].map(({ file, sdk, make }) => {
  const name = `${file}-${version(sdk)}.json`;
  const text = print(tidy(make()), `${sdk} ${version(sdk)}`);
  writeFileSync(new URL(name, folder), text);
  console.log(`${name}: ${Math.round(text.length / 1024)} KB`);
  return name;
});
for (const name of readdirSync(folder)) if (!written.includes(name)) rmSync(new URL(name, folder));

/** One definition per line, so that a new SDK version shows as a readable diff. */
function print({ $ref, definitions }, from) {
  const lines = Object.entries(definitions).map(
    ([name, schema]) => `${JSON.stringify(name)}:${JSON.stringify(schema)}`,
  );
  const head = { $schema: "http://json-schema.org/draft-07/schema#", $comment: `Generated from ${from}`, $ref };
  return `${JSON.stringify(head).slice(0, -1)},"definitions":{\n${lines.join(",\n")}\n}}\n`;
}
