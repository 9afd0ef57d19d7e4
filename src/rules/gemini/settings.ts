import { type LocatedValue, isEnumNumber, emptyField, pick, requestIn, snakeCase } from "./body.ts";
import { geminiModel } from "./models.ts";
import { declarationsOf } from "./tools.ts";
import type { RuleTarget } from "../rule.ts";
import { type Check, asArray, asString } from "../walk.ts";

/** Sampling settings lie in their ranges. */
export const checkSamplingRange: Check = (body, report, target) => {
  const config = configOf(body, target);
  for (const [name, low, high] of ranges) {
    const found = pick(config, name);
    if (found === undefined || typeof found.value !== "number" || (found.value >= low && found.value <= high)) continue;
    report(
      found.pointer,
      target.provider === "vertex"
        ? `Unable to submit request because it has a ${name} value of ${found.value} but the supported range is from ${low} (inclusive) to ${high === 2 ? "2.0001 (exclusive)" : `${high} (inclusive)`}. Update the value and try again.`
        : `* GenerateContentRequest.generation_config.${snakeCase(name)}: ${snakeCase(name)} must be in the range [${low}, ${high}].`,
    );
  }
};

const ranges: readonly (readonly [string, number, number])[] = [
  ["temperature", 0, 2],
  ["topP", 0, 1],
  ["maxOutputTokens", 1, Number.MAX_SAFE_INTEGER],
];

const configOf = (body: unknown, target: RuleTarget): LocatedValue =>
  pick(requestIn(body, target), "generationConfig") ?? emptyField;

/** The newest models accept sampling settings and ignore them. */
export const checkSamplingIgnored: Check = (body, report, target) => {
  if (!geminiModel(body, target).ownSampling) return;
  const config = configOf(body, target);
  for (const name of ["temperature", "topP", "topK"]) {
    const found = pick(config, name);
    if (found !== undefined) report(found.pointer, `${snakeCase(name)} is ignored by this model.`);
  }
};

/** The newest models return one candidate only. */
export const checkCandidateCount: Check = (body, report, target) => {
  const count = pick(configOf(body, target), "candidateCount");
  if (count !== undefined && geminiModel(body, target).ownSampling)
    report(count.pointer, "candidate_count is not supported for this model.");
};

/** Thinking is set by a supported level or by a budget, not both. */
export const checkThinking: Check = (body, report, target) => {
  const config = pick(configOf(body, target), "thinkingConfig") ?? emptyField;
  const level = pick(config, "thinkingLevel");
  if (level === undefined || isEnumNumber(level.value, levelNames)) return;
  const { thinkingLevels } = geminiModel(body, target);
  const wanted = asString(level.value)?.toUpperCase() ?? "";
  if (pick(config, "thinkingBudget") !== undefined)
    report(level.pointer, "You can only set only one of thinking budget and thinking level.");
  else if (thinkingLevels.length === 0) report(level.pointer, "Thinking level is not supported for this model.");
  else if (!thinkingLevels.includes(wanted) && wanted !== "THINKING_LEVEL_UNSPECIFIED")
    report(level.pointer, `Thinking level ${wanted} is not supported for this model.`);
};

const levelNames: ReadonlySet<string> = new Set(["THINKING_LEVEL_UNSPECIFIED", "LOW", "MEDIUM", "HIGH", "MINIMAL"]);

/**
 * The thinking budget is in the model's range: 0 turns thinking off where that is possible, -1 leaves it to the model.
 */
export const checkThinkingBudget: Check = (body, report, target) => {
  const budget = pick(pick(configOf(body, target), "thinkingConfig") ?? emptyField, "thinkingBudget");
  const known = geminiModel(body, target).budget;
  if (known === undefined || typeof budget?.value !== "number" || budget.value === -1) return;
  const { least, most, off } = known;
  if (budget.value === 0 && !off)
    report(budget.pointer, "Budget 0 is invalid. This model only works in thinking mode.");
  else if (budget.value !== 0 && (budget.value < least || budget.value > most))
    report(
      budget.pointer,
      `The thinking budget ${budget.value} is invalid. Please choose a value between ${least} and ${most}.`,
    );
};

/** A speech-only model needs the audio response modality. */
export const checkModalities: Check = (body, report, target) => {
  const { speaksOnly } = geminiModel(body, target);
  if (speaksOnly === undefined) return;
  const modalities = pick(configOf(body, target), "responseModalities");
  const wanted = asArray(modalities?.value).map((value) => asString(value)?.toUpperCase() ?? "");
  if (wanted.length === 1 && wanted[0] === speaksOnly) return;
  report(
    modalities?.pointer ?? requestIn(body, target).pointer,
    `The requested combination of response modalities (${wanted.join(", ") || "TEXT"}) is not supported by the model. models/${target.model ?? ""} accepts the following combination of response modalities:\n* ${speaksOnly}\n`,
  );
};

/** The older Gemma models support no system instruction, functions or JSON mode. */
export const checkModelFeatures: Check = (body, report, target) => {
  if (geminiModel(body, target).bare !== true) return;
  const name = `models/${target.model?.split("/").at(-1) ?? ""}`;
  const system = pick(requestIn(body, target), "systemInstruction");
  if (system !== undefined) report(system.pointer, `Developer instruction is not enabled for ${name}`);
  const [declared] = declarationsOf(body, target);
  if (declared !== undefined) report(declared.at.pointer, `Function calling is not enabled for ${name}`);
  const mime = pick(configOf(body, target), "responseMimeType");
  if (mime?.value === "application/json") report(mime.pointer, `JSON mode is not enabled for ${name}`);
};

/** `includeThoughts` needs a thinking model. The Gemini API checks this for image models, Vertex for all. */
export const checkIncludedThoughts: Check = (body, report, target) => {
  const config = pick(configOf(body, target), "thinkingConfig") ?? emptyField;
  const included = pick(config, "includeThoughts");
  if (included?.value !== true) return;
  const { thinks, drawsOnly } = geminiModel(body, target);
  const isOff = pick(config, "thinkingBudget")?.value === 0;
  if (target.provider === "vertex" || target.provider === "code-assist") {
    if (!thinks || isOff)
      report(
        included.pointer,
        "Unable to submit request because Thinking_config.include_thoughts is only enabled when thinking is enabled.",
      );
  } else if (drawsOnly) report(included.pointer, `Thinking is not enabled for models/${target.model ?? ""}`);
};
