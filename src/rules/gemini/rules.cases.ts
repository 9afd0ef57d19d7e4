import type { RuleCase } from "../rule.cases.ts";
import { mediaCases } from "./media.cases.ts";
import { settingsCases } from "./settings.cases.ts";
import { shapeCases } from "./shape.cases.ts";
import { toolsCases } from "./tools.cases.ts";
import { turnsCases } from "./turns.cases.ts";

/** Bodies for every rule of the Gemini family. */
export const geminiCases: readonly RuleCase[] = [
  ...shapeCases,
  ...turnsCases,
  ...mediaCases,
  ...toolsCases,
  ...settingsCases,
];
