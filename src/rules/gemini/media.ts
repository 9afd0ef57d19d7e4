import { type LocatedValue, type GeminiBodyPart, nestedParts, partsOf, pick, requestIn, textIn } from "./body.ts";
import { geminiModel } from "./models.ts";
import type { RuleTarget } from "../rule.ts";
import { type Check, isObject, looksBase64, objectsIn } from "../walk.ts";

/** A blob or file of the body, with its place as the vendor's messages name it. */
type GeminiBodyMedia = {
  readonly at: LocatedValue;
  readonly path: string;
  readonly nested: boolean;
  readonly kind: "inlineData" | "fileData";
};

function* mediaOf(body: unknown, target: RuleTarget): Generator<GeminiBodyMedia> {
  for (const part of partsOf(body, target)) {
    if (part.kind === "inlineData" || part.kind === "fileData") yield* mediaIn(part, part.path, false);
    for (const [index, nested] of nestedParts(part).entries())
      yield* mediaIn(nested, `${part.path}.function_response.parts[${index}]`, true);
  }
}

function* mediaIn(from: LocatedValue, path: string, nested: boolean): Generator<GeminiBodyMedia> {
  for (const kind of ["inlineData", "fileData"] as const) {
    const at = pick(from, kind);
    if (at !== undefined && isObject(at.value))
      yield { at, path: `${path}.${kind === "inlineData" ? "inline_data" : "file_data"}`, nested, kind };
  }
}

/** Inline bytes are base64. */
export const checkBase64: Check = (body, report, target) => {
  for (const { at, path, kind } of mediaOf(body, target)) {
    if (kind !== "inlineData") continue;
    const data = pick(at, "data");
    if (typeof data?.value === "string" && looksBase64(data.value)) continue;
    const shown = typeof data?.value === "string" ? data.value.slice(0, 40) : "";
    report(
      data?.pointer ?? at.pointer,
      `Invalid value at '${path}.data' (TYPE_BYTES), Base64 decoding failed for ${JSON.stringify(shown)}`,
    );
  }
};

/** Media has a MIME type that the models read. */
export const checkMime: Check = (body, report, target) => {
  for (const { at, nested } of mediaOf(body, target)) {
    const mime = textIn(at, "mimeType");
    if (mime === undefined && pick(at, "fileUri") !== undefined) continue;
    if (mime === undefined) report(at.pointer, "Unable to submit request because it must have a mimeType parameter.");
    else if (!nested && unread.test(mime))
      report(pick(at, "mimeType")?.pointer ?? at.pointer, `Unsupported MIME type: ${mime}`);
  }
};

const unread =
  /^(application\/(octet-stream|zip|gzip|x-tar|msword|vnd\.(ms-(excel|powerpoint)|openxmlformats-officedocument|oasis\.opendocument).*)|image\/svg\+xml)$/;

/** A file part has a URI. */
export const checkFileUri: Check = (body, report, target) => {
  for (const { at, kind, path } of mediaOf(body, target)) {
    if (kind === "fileData" && textIn(at, "fileUri") === undefined)
      report(at.pointer, `* GenerateContentRequest.${path}.file_uri: File uri must not be empty.`);
  }
};

/** Image types outside the documented list may be refused. */
export const checkListedImage: Check = (body, report, target) => {
  for (const { at, nested } of mediaOf(body, target)) {
    const mime = textIn(at, "mimeType");
    if (nested || mime === undefined || !/^image\/(gif|bmp|tiff|avif|x-icon)$/.test(mime)) continue;
    report(
      pick(at, "mimeType")?.pointer ?? at.pointer,
      `${mime} is not among the listed image types (png, jpeg, webp, heic, heif): transcode it.`,
    );
  }
};

/** Function responses have no media for models that do not support it. */
export const checkNestedMedia: Check = (body, report, target) => {
  if (geminiModel(body, target).nested.length > 0) return;
  for (const part of partsOf(body, target)) {
    const parts = nestedParts(part).length > 0 ? pick(part.data, "parts") : undefined;
    if (parts !== undefined) report(parts.pointer, nestedText(target.provider));
  }
};

const nestedText = (provider: string | undefined): string =>
  provider === "vertex" || provider === "code-assist"
    ? "Unable to submit request because `function_response.parts` is not supported for this model."
    : "Multimodal function responses are not supported for this model";

/** Inside a function response only a few types are read. */
export const checkNestedMime: Check = (body, report, target) => {
  const { nested: allowed } = geminiModel(body, target);
  if (allowed.length === 0) return;
  for (const { at, nested } of mediaOf(body, target)) {
    const mime = textIn(at, "mimeType")?.toLowerCase();
    if (!nested || mime === undefined || allowed.includes(mime)) continue;
    report(
      pick(at, "mimeType")?.pointer ?? at.pointer,
      `Unable to submit request because the mime_type: ${mime} is not supported in function_response.parts`,
    );
  }
};

/** A part of a function response is a blob or a file. */
export const checkNestedKind: Check = (body, report, target) => {
  if (geminiModel(body, target).nested.length === 0) return;
  for (const part of partsOf(body, target)) {
    nestedParts(part).forEach((nested, index) => {
      if (pick(nested, "inlineData") !== undefined || pick(nested, "fileData") !== undefined) return;
      report(
        nested.pointer,
        `* GenerateContentRequest.${part.path}.function_response.parts[${index}].data: required oneof field 'data' must have one initialized field`,
      );
    });
  }
};

/** The Gemini API accepts a file inside a function response and does not show it to the model. */
export const checkNestedFile: Check = (body, report, target) => {
  if ((target.provider ?? "google") !== "google" || geminiModel(body, target).nested.length === 0) return;
  for (const { at, nested, kind } of mediaOf(body, target)) {
    if (nested && kind === "fileData")
      report(
        at.pointer,
        "A file inside function_response.parts is accepted but never reaches the model: send it inline, or in a content of its own.",
      );
  }
};

/** Names of nested media are unique, and each is referenced once. */
export const checkNestedNames: Check = (body, report, target) => {
  for (const part of partsOf(body, target)) {
    const names = new Set<string>();
    for (const nested of nestedParts(part)) {
      for (const { at } of mediaIn(nested, part.path, true)) {
        const name = textIn(at, "displayName");
        if (name === undefined) continue;
        if (names.has(name))
          report(
            at.pointer,
            `The display name ${JSON.stringify(name)} is used by more than one part of the function response.`,
          );
        names.add(name);
      }
    }
    if (names.size > 0) checkReferences(part, names, report);
  }
};

const checkReferences = (
  part: GeminiBodyPart,
  names: ReadonlySet<string>,
  report: (pointer: string, message: string) => void,
): void => {
  const response = pick(part.data, "response");
  const used = new Set<string>();
  for (const { value, pointer } of objectsIn(response?.value, response?.pointer ?? "")) {
    const reference = value["$ref"];
    if (typeof reference !== "string" || !names.has(reference)) continue;
    if (used.has(reference))
      report(
        `${pointer}/$ref`,
        `The display name ${JSON.stringify(reference)} is referenced more than once in the function response.`,
      );
    used.add(reference);
  }
};

/** All inline bytes of a request stay under the payload limit. */
export const checkPayload: Check = (body, report, target) => {
  const total = inlineLength(body, target);
  if (total > refusedAbove)
    report(requestIn(body, target).pointer, `Request payload size exceeds the limit: ${refusedAbove} bytes.`);
};

/** Every backend and version accepts twenty megabytes of inline bytes. */
export const checkPortablePayload: Check = (body, report, target) => {
  const total = inlineLength(body, target);
  if (total > portableUpTo && total <= refusedAbove)
    report(
      requestIn(body, target).pointer,
      `Request payload size exceeds ${portableUpTo} bytes: older limits and Vertex refuse it.`,
    );
};

const refusedAbove = 104_857_600;
const portableUpTo = 20_971_520;

const inlineLength = (body: unknown, target: RuleTarget): number => {
  let total = 0;
  for (const { at, kind } of mediaOf(body, target)) if (kind === "inlineData") total += textIn(at, "data")?.length ?? 0;
  return total;
};
