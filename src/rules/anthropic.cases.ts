import { mediaCases } from "./anthropic-media.cases.ts";
import { settingsCases } from "./anthropic-settings.cases.ts";
import { shapeCases } from "./anthropic-shape.cases.ts";
import { strictCases } from "./anthropic-strict.cases.ts";
import { toolsCases } from "./anthropic-tools.cases.ts";
import { turnsCases } from "./anthropic-turns.cases.ts";
import type { RuleCase } from "./cases.ts";

/** Bodies for every rule of the Anthropic family. */
export const anthropicCases: readonly RuleCase[] = [
  ...shapeCases,
  ...turnsCases,
  ...mediaCases,
  ...settingsCases,
  ...toolsCases,
  ...strictCases,
];
