import type { SimProvider } from "../../family.ts";
import { cohereServer } from "./cohere.ts";
import { deepseekServer } from "./deepseek.ts";
import { groqServer } from "./groq.ts";
import { kimiServer } from "./kimi.ts";
import { minimaxServer } from "./minimax.ts";
import { mistralServer } from "./mistral.ts";
import { ollamaServer } from "./ollama.ts";
import { openaiServer } from "./openai.ts";
import { openrouterServer } from "./openrouter.ts";
import type { ChatQuirks } from "../quirks.ts";
import { qwenServer } from "./qwen.ts";
import { zaiServer } from "./zai.ts";

/** The simulated providers of Chat Completions, the API's own vendor first. */
export const chatSimProviders: readonly SimProvider<ChatQuirks>[] = [
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
