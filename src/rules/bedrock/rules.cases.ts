import { mediaCases } from "./media.cases.ts";
import { shapeCases } from "./shape.cases.ts";
import { toolsCases } from "./tools.cases.ts";
import { turnsCases } from "./turns.cases.ts";
import type { RuleCase } from "../rule.cases.ts";

/** Bodies for every rule of the Bedrock family. */
export const bedrockCases: readonly RuleCase[] = [...shapeCases, ...turnsCases, ...mediaCases, ...toolsCases];
