import { anthropic } from "./definitions/anthropic.ts";
import { bedrock } from "./definitions/bedrock.ts";
import { cohere } from "./definitions/cohere.ts";
import { deepseek } from "./definitions/deepseek.ts";
import type { Provider } from "./define.ts";
import { codeAssist, google, vertex } from "./definitions/google.ts";
import { groq } from "./definitions/groq.ts";
import { kimi } from "./definitions/kimi.ts";
import { local } from "./definitions/local.ts";
import { minimax } from "./definitions/minimax.ts";
import { mistral } from "./definitions/mistral.ts";
import { offline } from "./definitions/offline.ts";
import { openaiChat } from "./definitions/openai-chat.ts";
import { azure, openai } from "./definitions/openai.ts";
import { openrouter } from "./definitions/openrouter.ts";
import { qwen } from "./definitions/qwen.ts";
import { xai } from "./definitions/xai.ts";
import { zai } from "./definitions/zai.ts";

/** The registry of providers, in order of preference. To add one: a file in `definitions/` and a line here. */
export const providers: readonly Provider[] = [
  google,
  vertex,
  codeAssist,
  anthropic,
  bedrock,
  openai,
  openaiChat,
  xai,
  groq,
  openrouter,
  kimi,
  mistral,
  deepseek,
  azure,
  qwen,
  zai,
  minimax,
  cohere,
  local,
  offline,
];
