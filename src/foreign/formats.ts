import type { ForeignAgent } from "./agents.ts";
import type { DatabaseFormat, FileFormat } from "./format.ts";

/** Loads the formats of an agent's sessions: the current one first, then older ones. */
export const loadFormats: Readonly<Record<ForeignAgent, () => Promise<readonly (FileFormat | DatabaseFormat)[]>>> = {
  claude: async () => [(await import("./formats/claude.ts")).claude],
  codex: async () => [(await import("./formats/codex.ts")).codex],
  gemini: async () => [(await import("./formats/gemini.ts")).gemini],
  pi: async () => [(await import("./formats/pi.ts")).pi],
  omp: async () => [(await import("./formats/pi.ts")).omp],
  qwen: async () => [(await import("./formats/qwen.ts")).qwen],
  opencode: async () => [(await import("./formats/opencode.ts")).opencode],
  copilot: async () => [(await import("./formats/copilot.ts")).copilot],
  kimi: async () => [(await import("./formats/kimi.ts")).kimi],
  cline: async () => [(await import("./formats/cline.ts")).cline],
  goose: async () => [(await import("./formats/goose.ts")).goose],
  crush: async () => [(await import("./formats/crush.ts")).crush],
};
