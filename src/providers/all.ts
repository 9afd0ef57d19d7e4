import { anthropic } from "./anthropic.ts";
import { bedrock } from "./bedrock.ts";
import { cohere } from "./cohere.ts";
import { deepseek } from "./deepseek.ts";
import type { Provider } from "./define.ts";
import { codeAssist, google, vertex } from "./google.ts";
import { groq } from "./groq.ts";
import { kimi } from "./kimi.ts";
import { local } from "./local.ts";
import { minimax } from "./minimax.ts";
import { mistral } from "./mistral.ts";
import { offline } from "./offline.ts";
import { openaiChat } from "./openai-chat.ts";
import { azure, openai } from "./openai.ts";
import { openrouter } from "./openrouter.ts";
import { qwen } from "./qwen.ts";
import { xai } from "./xai.ts";
import { zai } from "./zai.ts";

/** Every provider Parley speaks to. */
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
