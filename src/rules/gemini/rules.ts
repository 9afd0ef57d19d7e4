import * as media from "./media.ts";
import * as schema from "./schema.ts";
import * as settings from "./settings.ts";
import * as shape from "./shape.ts";
import * as tools from "./tools.ts";
import * as turns from "./turns.ts";
import type { Rule } from "../rule.ts";
import { adviceRule, ignoredRule, rejectedRule } from "../walk.ts";

/** The rules of the Gemini API, Vertex and Code Assist for a GenerateContent request. */
export const geminiRules: readonly Rule<unknown>[] = [
  rejectedRule("gemini/shape", shape.checkShape),
  rejectedRule("gemini/unknown-field", shape.checkUnknownField),
  rejectedRule("gemini/role", shape.checkRole),
  rejectedRule("gemini/empty-content", shape.checkEmptyContent),
  rejectedRule("gemini/empty-part", shape.checkEmptyPart),
  adviceRule("gemini/dataless-part", shape.checkDatalessPart),
  rejectedRule("gemini/part-union", shape.checkPartUnion),
  adviceRule("gemini/empty-text", shape.checkEmptyText),
  rejectedRule("gemini/call-name", shape.checkCallName),
  rejectedRule("gemini/call-args", shape.checkArgs),
  rejectedRule("gemini/response-object", shape.checkResponseObject),
  rejectedRule("gemini/signature-text", shape.checkSignatureText),

  rejectedRule("gemini/unanswered-call", turns.checkUnansweredCall),
  adviceRule("gemini/open-call", turns.checkOpenCall),
  rejectedRule("gemini/unasked-response", turns.checkUnaskedResponse),
  rejectedRule("gemini/late-response", turns.checkLateResponse),
  rejectedRule("gemini/split-responses", turns.checkSplitResponses),
  adviceRule("gemini/spread-responses", turns.checkSpreadResponses),
  ignoredRule("gemini/response-mismatch", turns.checkResponseMatch),
  rejectedRule("gemini/call-first", turns.checkCallFirst),
  adviceRule("gemini/model-first", turns.checkModelFirst),
  rejectedRule("gemini/misplaced-part", turns.checkMisplacedPart),
  rejectedRule("gemini/model-last", turns.checkModelLast),
  adviceRule("gemini/prefill", turns.checkPrefill),
  rejectedRule("gemini/after-response", turns.checkAfterResponse),
  adviceRule("gemini/beside-response", turns.checkBesideResponse),
  rejectedRule("gemini/missing-signature", turns.checkMissingSignature),
  adviceRule("gemini/repeated-id", turns.checkRepeatedId),
  adviceRule("gemini/missing-id", turns.checkMissingId),

  rejectedRule("gemini/base64", media.checkBase64),
  rejectedRule("gemini/mime", media.checkMime),
  rejectedRule("gemini/file-uri", media.checkFileUri),
  adviceRule("gemini/unlisted-image", media.checkListedImage),
  rejectedRule("gemini/nested-media", media.checkNestedMedia),
  rejectedRule("gemini/nested-mime", media.checkNestedMime),
  rejectedRule("gemini/nested-kind", media.checkNestedKind),
  ignoredRule("gemini/nested-file", media.checkNestedFile),
  rejectedRule("gemini/nested-names", media.checkNestedNames),
  rejectedRule("gemini/payload-size", media.checkPayload),
  adviceRule("gemini/portable-payload", media.checkPortablePayload),

  rejectedRule("gemini/tool-shape", tools.checkToolShape),
  rejectedRule("gemini/tool-name", tools.checkToolName),
  adviceRule("gemini/portable-tool-name", tools.checkPortableName),
  rejectedRule("gemini/duplicate-tool", tools.checkDuplicateTool),
  rejectedRule("gemini/tool-count", tools.checkToolCount),
  rejectedRule("gemini/calling-mode", tools.checkCallingMode),
  rejectedRule("gemini/allowed-names", tools.checkAllowedNames),
  rejectedRule("gemini/cached-content", tools.checkCachedContent),
  rejectedRule("gemini/mixed-tools", tools.checkMixedTools),
  rejectedRule("gemini/json-answer", tools.checkJsonAnswer),
  rejectedRule("gemini/drawing-model", tools.checkDrawingModel),
  rejectedRule("gemini/sampling-range", settings.checkSamplingRange),
  adviceRule("gemini/sampling-ignored", settings.checkSamplingIgnored),
  rejectedRule("gemini/candidate-count", settings.checkCandidateCount),
  rejectedRule("gemini/thinking", settings.checkThinking),
  rejectedRule("gemini/included-thoughts", settings.checkIncludedThoughts),
  rejectedRule("gemini/thinking-budget", settings.checkThinkingBudget),
  rejectedRule("gemini/modalities", settings.checkModalities),
  rejectedRule("gemini/model-features", settings.checkModelFeatures),

  rejectedRule("gemini/two-schemas", schema.checkOneSchema),
  rejectedRule("gemini/schema-dialect", schema.checkDialect),
  rejectedRule("gemini/json-schema", schema.checkJsonSchema),
];
