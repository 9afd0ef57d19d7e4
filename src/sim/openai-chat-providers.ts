import type { SimProvider } from "./family.ts";
import { cohereServer } from "./openai-chat-cohere.ts";
import { deepseekServer } from "./openai-chat-deepseek.ts";
import { groqServer } from "./openai-chat-groq.ts";
import { kimiServer } from "./openai-chat-kimi.ts";
import { minimaxServer } from "./openai-chat-minimax.ts";
import { mistralServer } from "./openai-chat-mistral.ts";
import { ollamaServer } from "./openai-chat-ollama.ts";
import { openaiServer } from "./openai-chat-openai.ts";
import { openrouterServer } from "./openai-chat-openrouter.ts";
import type { ChatQuirks } from "./openai-chat-quirks.ts";
import { qwenServer } from "./openai-chat-qwen.ts";
import { zaiServer } from "./openai-chat-zai.ts";

/** Who speaks Chat Completions, its own vendor first. */
export const chatServers: readonly SimProvider<ChatQuirks>[] = [
  openaiServer,
  groqServer,
  openrouterServer,
  kimiServer,
  mistralServer,
  deepseekServer,
  qwenServer,
  zaiServer,
  minimaxServer,
  cohereServer,
  ollamaServer,
];
