import { mediaCases } from "./bedrock-media.cases.ts";
import { shapeCases } from "./bedrock-shape.cases.ts";
import { toolsCases } from "./bedrock-tools.cases.ts";
import { turnsCases } from "./bedrock-turns.cases.ts";
import type { RuleCase } from "./cases.ts";

/** Bodies for every rule of the Bedrock family. */
export const bedrockCases: readonly RuleCase[] = [...shapeCases, ...turnsCases, ...mediaCases, ...toolsCases];
