import type { RuleCase } from "./cases.ts";
import { mediaCases } from "./gemini-media.cases.ts";
import { settingsCases } from "./gemini-settings.cases.ts";
import { shapeCases } from "./gemini-shape.cases.ts";
import { toolsCases } from "./gemini-tools.cases.ts";
import { turnsCases } from "./gemini-turns.cases.ts";

/** Bodies for every rule of the Gemini family. */
export const geminiCases: readonly RuleCase[] = [
  ...shapeCases,
  ...turnsCases,
  ...mediaCases,
  ...toolsCases,
  ...settingsCases,
];
