import {
  type LocatedValue,
  camelCase,
  contentsOf,
  dataFields,
  kindsByField,
  nestedParts,
  partsOf,
  pick,
  repeatedField,
  requestIn,
  snakeCase,
  textIn,
} from "./body.ts";
import { geminiModel } from "./models.ts";
import type { ReportFinding } from "../rule.ts";
import { type Check, isObject, looksBase64 } from "../walk.ts";

/** The body, its contents and their parts are of the types the API parses. */
export const checkShape: Check = (body, report, target) => {
  const request = requestIn(body, target);
  if (!isObject(request.value)) {
    report(request.pointer, "Invalid JSON payload received. The body must be a JSON object.");
    return;
  }
  const contents = pick(request, "contents");
  if (contents === undefined || (Array.isArray(contents.value) && contents.value.length === 0)) {
    report(contents?.pointer ?? request.pointer, "* GenerateContentRequest.contents: contents is not specified");
    return;
  }
  mustBeList(contents, "contents", report);
  repeatedField(contents).forEach((content, index) => checkContentShape(content, `contents[${index}]`, report));
  checkSystemShape(pick(request, "systemInstruction"), report);
};

const mustBeList = (found: LocatedValue, path: string, report: ReportFinding): void => {
  if (!Array.isArray(found.value) && !isObject(found.value))
    report(found.pointer, invalidValue(path, "repeated field", found.value));
};

const checkContentShape = (content: LocatedValue, path: string, report: ReportFinding): void => {
  if (!isObject(content.value)) {
    report(content.pointer, invalidValue(path, "Content", content.value));
    return;
  }
  const role = pick(content, "role");
  if (role !== undefined && typeof role.value !== "string")
    report(role.pointer, invalidValue(`${path}.role`, "TYPE_STRING", role.value));
  const parts = pick(content, "parts");
  if (parts === undefined) return;
  mustBeList(parts, `${path}.parts`, report);
  repeatedField(parts).forEach((part, index) => checkPartShape(part, `${path}.parts[${index}]`, report));
};

const checkPartShape = (part: LocatedValue, path: string, report: ReportFinding): void => {
  if (!isObject(part.value)) {
    report(part.pointer, invalidValue(path, "Part", part.value));
    return;
  }
  for (const field of dataFields) {
    const data = pick(part, field);
    if (data === undefined) continue;
    const fits = field === "text" ? typeof data.value === "string" : isObject(data.value);
    if (!fits)
      report(
        data.pointer,
        invalidValue(`${path}.${snakeCase(field)}`, field === "text" ? "TYPE_STRING" : "message", data.value),
      );
  }
};

const checkSystemShape = (system: LocatedValue | undefined, report: ReportFinding): void => {
  if (system === undefined) return;
  if (!isObject(system.value)) report(system.pointer, invalidValue("system_instruction", "Content", system.value));
  else if (repeatedField(pick(system, "parts")).length === 0)
    report(system.pointer, "* GenerateContentRequest.system_instruction.parts: contents.parts must not be empty.");
};

const invalidValue = (path: string, type: string, value: unknown): string =>
  `Invalid value at '${path}' (${type}), ${typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : typeof value}`;

/** A content has at least one part. */
export const checkEmptyContent: Check = (body, report, target) => {
  for (const content of contentsOf(body, target)) {
    const parts = pick(content, "parts");
    if (parts !== undefined && (!Array.isArray(parts.value) || parts.value.length > 0)) continue;
    report(parts?.pointer ?? content.pointer, emptyContent(content.index, target.provider));
  }
};

const emptyContent = (index: number, provider: string | undefined): string =>
  provider === "vertex" || provider === "code-assist"
    ? "Unable to submit request because it must include at least one parts field, which describes the prompt input."
    : `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.`;

/** A part has one data field. A part with only a thought, a signature or metadata is accepted too. */
export const checkEmptyPart: Check = (body, report, target) => {
  for (const part of partsOf(body, target)) {
    if (part.kind === undefined && !isDescribed(part))
      report(
        part.pointer,
        `* GenerateContentRequest.${part.path}.data: required oneof field 'data' must have one initialized field`,
      );
  }
};

const isDescribed = (part: LocatedValue): boolean => besideData.some((name) => pick(part, name) !== undefined);

const besideData = ["thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"];

/** A part without data is accepted when it has a thought, a signature or metadata; the model does not see it. */
export const checkDatalessPart: Check = (body, report, target) => {
  for (const part of partsOf(body, target)) {
    if (part.kind === undefined && isDescribed(part))
      report(part.pointer, "A part without a data field shows the model nothing: older validators refuse it.");
  }
};

/** A part has at most one data field. */
export const checkPartUnion: Check = (body, report, target) => {
  for (const part of partsOf(body, target)) {
    const second = Object.keys(part.value).filter((key) => kindsByField.has(key) && part.value[key] !== null)[1];
    if (second === undefined) continue;
    report(
      part.pointer,
      `Invalid value at '${part.path}' (oneof), oneof field 'data' is already set. Cannot set '${second}'`,
    );
  }
};

/** An empty text part is accepted today; earlier validators counted it as no data. */
export const checkEmptyText: Check = (body, report, target) => {
  for (const part of partsOf(body, target)) {
    if (part.kind !== "text" || part.data.value !== "" || pick(part, "thoughtSignature") !== undefined) continue;
    report(part.data.pointer, `${part.path}.text is empty: some versions of the API count it as a part without data.`);
  }
};

/** Roles are `user` and `model`; older models also take `function`. */
export const checkRole: Check = (body, report, target) => {
  const { endsWithUser } = geminiModel(body, target);
  for (const content of contentsOf(body, target)) {
    const role = pick(content, "role");
    const needed = target.provider === "vertex" || target.provider === "code-assist";
    if (role === undefined && needed) report(content.pointer, "Please use a valid role: user, model.");
    if (role === undefined || role.value === "" || role.value === "user" || role.value === "model") continue;
    if (typeof role.value !== "string" || (role.value === "function" && !endsWithUser)) continue;
    report(
      role.pointer,
      `${needed ? "" : `Role '${role.value}' is not supported. `}Please use a valid role: user, model.`,
    );
  }
};

/** Fields the API does not know are refused, in the request, in contents and in parts. */
export const checkUnknownField: Check = (body, report, target) => {
  const request = requestIn(body, target);
  knownOnly(request, knownFields.request, "", report);
  for (const content of contentsOf(body, target)) {
    knownOnly(content, knownFields.content, `contents[${content.index}]`, report);
    for (const part of content.parts) {
      knownOnly(part, knownFields.part, part.path, report);
      const inner = part.kind === undefined ? undefined : knownFields[part.kind];
      if (inner !== undefined) knownOnly(part.data, inner, `${part.path}.${snakeCase(part.kind ?? "")}`, report);
      nestedParts(part).forEach((nested, index) =>
        knownOnly(nested, knownFields.nested, `${part.path}.function_response.parts[${index}]`, report),
      );
    }
  }
  for (const name of ["toolConfig", "generationConfig"] as const) {
    const found = pick(request, name);
    if (found !== undefined) knownOnly(found, knownFields[name], snakeCase(name), report);
  }
};

const knownOnly = (from: LocatedValue, known: ReadonlySet<string>, path: string, report: ReportFinding): void => {
  if (!isObject(from.value)) return;
  for (const key of Object.keys(from.value)) {
    if (known.has(camelCase(key))) continue;
    const at = path === "" ? "" : ` at '${path}'`;
    report(
      `${from.pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`,
      `Invalid JSON payload received. Unknown name "${key}"${at}: Cannot find field.`,
    );
  }
};

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** From the vendor's protocol buffers and SDK, the Gemini API and Vertex together. */
const knownFields: Record<string, ReadonlySet<string>> &
  Record<"request" | "content" | "part" | "nested" | "toolConfig" | "generationConfig", ReadonlySet<string>> = {
  request: words(
    "model contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent labels modelArmorConfig serviceTier store " +
      "continuationToken outputConfig sessionId",
  ),
  content: words("role parts"),
  part: words(
    "text inlineData fileData functionCall functionResponse executableCode codeExecutionResult toolCall toolResponse audioTranscription thought " +
      "thoughtSignature videoMetadata partMetadata mediaResolution mediaProcessing speechMetadata",
  ),
  inlineData: words("mimeType data displayName"),
  fileData: words("mimeType fileUri displayName"),
  functionCall: words("id name args partialArgs willContinue"),
  functionResponse: words("id name response parts scheduling willContinue"),
  nested: words("inlineData fileData mediaProcessing"),
  toolConfig: words("functionCallingConfig retrievalConfig includeServerSideToolInvocations"),
  generationConfig: words(
    "candidateCount stopSequences maxOutputTokens temperature topP topK seed responseMimeType responseSchema responseJsonSchema " +
      "responseJsonSchemaOrdered presencePenalty frequencyPenalty responseLogprobs logprobs enableEnhancedCivicAnswers responseModalities speechConfig " +
      "thinkingConfig imageConfig mediaResolution routingConfig audioTimestamp modelConfig modelSelectionConfig audioTranscriptionConfig responseFormat " +
      "enableAffectiveDialog translationConfig",
  ),
};

/** Every call and response has a name. */
export const checkCallName: Check = (body, report, target) => {
  for (const part of partsOf(body, target)) {
    if ((part.kind !== "functionCall" && part.kind !== "functionResponse") || !isObject(part.data.value)) continue;
    if (textIn(part.data, "name") !== undefined) continue;
    report(
      part.data.pointer,
      `* GenerateContentRequest.${part.path}.${snakeCase(part.kind)}.name: Name cannot be empty.`,
    );
  }
};

/** The arguments of a call are an object. */
export const checkArgs: Check = (body, report, target) => {
  for (const part of partsOf(body, target)) {
    const args = part.kind === "functionCall" ? pick(part.data, "args") : undefined;
    if (args === undefined || isObject(args.value)) continue;
    report(
      args.pointer,
      invalidValue(`${part.path}.function_call.args`, "type.googleapis.com/google.protobuf.Struct", args.value),
    );
  }
};

/** The response of a function is an object; only media may replace it. */
export const checkResponseObject: Check = (body, report, target) => {
  for (const part of partsOf(body, target)) {
    if (part.kind !== "functionResponse" || !isObject(part.data.value)) continue;
    const response = pick(part.data, "response");
    if (isObject(response?.value) || (response === undefined && nestedParts(part).length > 0)) continue;
    const where = response?.pointer ?? part.data.pointer;
    report(
      where,
      invalidValue(
        `${part.path}.function_response.response`,
        "type.googleapis.com/google.protobuf.Struct",
        response?.value,
      ),
    );
  }
};

/** A signature is base64. */
export const checkSignatureText: Check = (body, report, target) => {
  for (const part of partsOf(body, target)) {
    const signature = pick(part, "thoughtSignature");
    if (signature === undefined || (typeof signature.value === "string" && looksBase64(signature.value))) continue;
    report(
      signature.pointer,
      `Invalid value at '${part.path}.thought_signature' (TYPE_BYTES), Base64 decoding failed for ${JSON.stringify(signature.value)?.slice(0, 60)}`,
    );
  }
};
