import {
  dataUrl,
  fileProblem,
  isWebUrl,
  namesSoundOrFilm,
  noFileData,
  noUrl,
  openaiImages,
  payloadProblem,
} from "../openai/media.ts";
import { isOutput, itemsOf, partsOf, type ResponsesPart } from "./walk.ts";
import { isOpenaiResponses, responsesFacts } from "../openai/providers.ts";
import { isOneOf, missingParameter, invalidValue, toPath, tooLong } from "../openai/error-text.ts";
import type { Rule } from "../rule.ts";
import { adviceRule, asObject, asString, join, rejectedRule, type Check } from "../walk.ts";

const partsOfType = (body: unknown, type: string): readonly ResponsesPart[] =>
  partsOf(body).filter((part) => part.type === type);

const mediaParts: ReadonlySet<string> = new Set(["input_text", "input_image", "input_file", "input_audio"]);

/** Reports a part that outputs do not support here. */
const outputPart: Check = (body, report, target) => {
  if (!isOpenaiResponses(target) && target.provider !== "openrouter") return;
  eachForeignOutput(body, responsesFacts(target).output, (part, taken) =>
    report(join(part.at, "type"), invalidValue(part.type, taken)),
  );
};

const outputPartUnproven: Check = (body, report, target) => {
  if (target.provider !== "xai" && target.provider !== "deepseek") return;
  eachForeignOutput(body, responsesFacts(target).output, (part) =>
    report(
      part.at,
      `'${part.type}' in an output is not known to work here; a user message after the outputs carries it.`,
    ),
  );
};

const eachForeignOutput = (
  body: unknown,
  taken: readonly string[] | "any",
  look: (part: ResponsesPart, taken: readonly string[]) => void,
): void => {
  if (taken === "any") return;
  for (const part of partsOf(body)) {
    if (part.owner === "output" && mediaParts.has(part.type ?? "") && !taken.includes(part.type ?? ""))
      look(part, taken);
  }
};

/** The public API has no audio input. */
const audioPart: Check = (body, report, target) => {
  if (!isOpenaiResponses(target)) return;
  for (const { at, owner } of partsOfType(body, "input_audio")) {
    if (owner !== "output")
      report(join(at, "type"), invalidValue("input_audio", ["input_text", "input_image", "input_file"]));
  }
};

const imageSource: Check = (body, report) => {
  for (const { at, value } of partsOfType(body, "input_image")) {
    if (typeof value["image_url"] === "string" || typeof value["file_id"] === "string") continue;
    report(at, missingParameter(join(at, "image_url")));
  }
};

/** Calls back for every image URL of the body. */
const eachImage = (body: unknown, look: (url: string, at: string) => void): void => {
  for (const { at, value } of partsOfType(body, "input_image")) {
    const url = asString(value["image_url"]);
    if (url !== undefined) look(url, join(at, "image_url"));
  }
};

const imageUrl: Check = (body, report) =>
  eachImage(body, (url, at) => {
    if (dataUrl(url) !== undefined || isWebUrl(url)) return;
    report(at, noUrl(at));
  });

const imageType: Check = (body, report, target) =>
  eachImage(body, (url, at) => {
    const data = dataUrl(url);
    const isTaken = (mime: string): boolean =>
      isOpenaiResponses(target) ? openaiImages.has(mime) : mime.startsWith("image/");
    if (data === undefined || isTaken(data.mime)) return;
    report(
      at,
      `Invalid '${toPath(at)}'. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got unsupported MIME type '${data.mime}'.`,
    );
  });

const imageData: Check = (body, report) =>
  eachImage(body, (url, at) => {
    const data = dataUrl(url);
    const problem = data === undefined ? undefined : payloadProblem(data);
    if (problem !== undefined) report(at, `Invalid '${toPath(at)}'. ${problem}`);
  });

const details = ["low", "high", "auto", "original"];

const imageDetail: Check = (body, report, target) => {
  if (!isOpenaiResponses(target)) return;
  for (const { at, value } of partsOfType(body, "input_image")) {
    const { detail } = value;
    if (detail === undefined || detail === null || isOneOf(detail, details)) continue;
    report(join(at, "detail"), invalidValue(detail, details));
  }
};

const fileSource: Check = (body, report) => {
  for (const { at, value } of partsOfType(body, "input_file")) {
    if (["file_id", "file_data", "file_url"].some((field) => typeof value[field] === "string")) continue;
    report(at, missingParameter(join(at, "file_id")));
  }
};

/** File bytes are a data URL of a readable type. */
const fileData: Check = (body, report, target) => {
  const { filesByReference } = responsesFacts(target);
  if (!isOpenaiResponses(target) && !filesByReference) return;
  for (const { at, value } of partsOfType(body, "input_file")) {
    const given = asString(value["file_data"]);
    if (given === undefined) continue;
    const where = join(at, "file_data");
    const problem = filesByReference ? "files are taken by 'file_id' or 'file_url' only" : fileProblem(given);
    if (problem !== undefined) report(where, noFileData(where, problem));
  }
};

/** Reports the URL of an audio or video file, which is not a document. */
const fileUrl: Check = (body, report, target) => {
  if (!isOpenaiResponses(target)) return;
  for (const { at, value } of partsOfType(body, "input_file")) {
    const url = asString(value["file_url"]);
    if (url === undefined || !namesSoundOrFilm(url)) continue;
    report(join(at, "file_url"), "The file type you uploaded is not supported. Please try again with a pdf");
  }
};

const limits: ReadonlyMap<string, number> = new Map([
  ["text", 10_485_760],
  ["image_url", 20_971_520],
  ["file_data", 73_400_320],
]);

const longContent: Check = (body, report, target) => {
  if (!isOpenaiResponses(target)) return;
  const look = (text: unknown, at: string, limit: number): void => {
    if (typeof text === "string" && text.length > limit) report(at, tooLong(at, limit, text.length));
  };
  for (const item of itemsOf(body)) {
    const field = isOutput(item) ? "output" : "content";
    look(item.value[field], join(item.at, field), 10_485_760);
  }
  for (const { at, value } of partsOf(body))
    for (const [field, limit] of limits) look(value[field], join(at, field), limit);
};

/** xAI may fail on a stored request with an image. */
const storedImage: Check = (body, report, target) => {
  if (target.provider !== "xai" || asObject(body)["store"] === false) return;
  const [first] = partsOfType(body, "input_image");
  if (first !== undefined) report(first.at, "A request with images should be sent with 'store': false.");
};

/** Rules about what a message or an output may contain, and how media is encoded. */
export const responsesMediaRules: readonly Rule<unknown>[] = [
  rejectedRule("openai-responses/output-part", outputPart),
  adviceRule("openai-responses/output-part-unproven", outputPartUnproven),
  rejectedRule("openai-responses/audio-part", audioPart),
  rejectedRule("openai-responses/image-source", imageSource),
  rejectedRule("openai-responses/image-url", imageUrl),
  rejectedRule("openai-responses/image-type", imageType),
  rejectedRule("openai-responses/image-data", imageData),
  rejectedRule("openai-responses/image-detail", imageDetail),
  rejectedRule("openai-responses/file-source", fileSource),
  rejectedRule("openai-responses/file-data", fileData),
  rejectedRule("openai-responses/file-url", fileUrl),
  rejectedRule("openai-responses/long-content", longContent),
  adviceRule("openai-responses/stored-image", storedImage),
];
