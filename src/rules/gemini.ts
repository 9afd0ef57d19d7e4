import * as media from "./gemini-media.ts";
import * as schema from "./gemini-schema.ts";
import * as settings from "./gemini-settings.ts";
import * as shape from "./gemini-shape.ts";
import * as tools from "./gemini-tools.ts";
import * as turns from "./gemini-turns.ts";
import type { Rule } from "./rule.ts";
import { advised, lost, refused } from "./walk.ts";

/** What the Gemini API, Vertex and Code Assist refuse in a GenerateContent request. */
export const geminiRules: readonly Rule<unknown>[] = [
  refused("gemini/shape", shape.checkShape),
  refused("gemini/unknown-field", shape.checkUnknownField),
  refused("gemini/role", shape.checkRole),
  refused("gemini/empty-content", shape.checkEmptyContent),
  refused("gemini/empty-part", shape.checkEmptyPart),
  advised("gemini/dataless-part", shape.checkDatalessPart),
  refused("gemini/part-union", shape.checkPartUnion),
  advised("gemini/empty-text", shape.checkEmptyText),
  refused("gemini/call-name", shape.checkCallName),
  refused("gemini/call-args", shape.checkArgs),
  refused("gemini/response-object", shape.checkResponseObject),
  refused("gemini/signature-text", shape.checkSignatureText),

  refused("gemini/unanswered-call", turns.checkUnansweredCall),
  advised("gemini/open-call", turns.checkOpenCall),
  refused("gemini/unasked-response", turns.checkUnaskedResponse),
  refused("gemini/late-response", turns.checkLateResponse),
  refused("gemini/split-responses", turns.checkSplitResponses),
  advised("gemini/spread-responses", turns.checkSpreadResponses),
  lost("gemini/response-mismatch", turns.checkResponseMatch),
  refused("gemini/call-first", turns.checkCallFirst),
  advised("gemini/model-first", turns.checkModelFirst),
  refused("gemini/misplaced-part", turns.checkMisplacedPart),
  refused("gemini/model-last", turns.checkModelLast),
  advised("gemini/prefill", turns.checkPrefill),
  refused("gemini/after-response", turns.checkAfterResponse),
  advised("gemini/beside-response", turns.checkBesideResponse),
  refused("gemini/missing-signature", turns.checkMissingSignature),
  advised("gemini/repeated-id", turns.checkRepeatedId),
  advised("gemini/missing-id", turns.checkMissingId),

  refused("gemini/base64", media.checkBase64),
  refused("gemini/mime", media.checkMime),
  refused("gemini/file-uri", media.checkFileUri),
  advised("gemini/unlisted-image", media.checkListedImage),
  refused("gemini/nested-media", media.checkNestedMedia),
  refused("gemini/nested-mime", media.checkNestedMime),
  refused("gemini/nested-kind", media.checkNestedKind),
  lost("gemini/nested-file", media.checkNestedFile),
  refused("gemini/nested-names", media.checkNestedNames),
  refused("gemini/payload-size", media.checkPayload),
  advised("gemini/portable-payload", media.checkPortablePayload),

  refused("gemini/tool-shape", tools.checkToolShape),
  refused("gemini/tool-name", tools.checkToolName),
  advised("gemini/portable-tool-name", tools.checkPortableName),
  refused("gemini/duplicate-tool", tools.checkDuplicateTool),
  refused("gemini/tool-count", tools.checkToolCount),
  refused("gemini/calling-mode", tools.checkCallingMode),
  refused("gemini/allowed-names", tools.checkAllowedNames),
  refused("gemini/cached-content", tools.checkCachedContent),
  refused("gemini/mixed-tools", tools.checkMixedTools),
  refused("gemini/json-answer", tools.checkJsonAnswer),
  refused("gemini/drawing-model", tools.checkDrawingModel),
  refused("gemini/sampling-range", settings.checkSamplingRange),
  advised("gemini/sampling-ignored", settings.checkSamplingIgnored),
  refused("gemini/candidate-count", settings.checkCandidateCount),
  refused("gemini/thinking", settings.checkThinking),
  refused("gemini/included-thoughts", settings.checkIncludedThoughts),
  refused("gemini/thinking-budget", settings.checkThinkingBudget),
  refused("gemini/modalities", settings.checkModalities),
  refused("gemini/model-features", settings.checkModelFeatures),

  refused("gemini/two-schemas", schema.checkOneSchema),
  refused("gemini/schema-dialect", schema.checkDialect),
  refused("gemini/json-schema", schema.checkJsonSchema),
];
