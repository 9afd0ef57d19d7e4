import { mediaCases } from "./media.cases.ts";
import { settingsCases } from "./settings.cases.ts";
import { shapeCases } from "./shape.cases.ts";
import { strictCases } from "./strict.cases.ts";
import { toolsCases } from "./tools.cases.ts";
import { turnsCases } from "./turns.cases.ts";
import type { RuleCase } from "../rule.cases.ts";

/** Bodies for every rule of the Anthropic family. */
export const anthropicCases: readonly RuleCase[] = [
  ...shapeCases,
  ...turnsCases,
  ...mediaCases,
  ...settingsCases,
  ...toolsCases,
  ...strictCases,
];
