import { toPath } from "./error-text.ts";
import { looksBase64 } from "../walk.ts";

/** A parsed `data:` URL; `mime` is lower case, and empty when the URL names none. */
export type DataUrl = { readonly mime: string; readonly isBase64: boolean; readonly payload: string };

/** The parts of a `data:` URL, or undefined for any other text. */
export const dataUrl = (text: string): DataUrl | undefined => {
  if (!/^data:/i.test(text)) return undefined;
  const comma = text.indexOf(",");
  const head = text.slice(5, comma < 0 ? undefined : comma).toLowerCase();
  return {
    mime: head.split(";")[0] ?? "",
    isBase64: /;\s*base64$/.test(head),
    payload: comma < 0 ? "" : text.slice(comma + 1),
  };
};

/** True for a URL a server could fetch. */
export const isWebUrl = (text: string): boolean => /^https?:\/\/\S/i.test(text);

/** The problem with the payload of a data URL, if any. */
export const payloadProblem = ({ isBase64, payload }: DataUrl): string | undefined => {
  if (!isBase64) return "Expected a base64-encoded data URL.";
  return looksBase64(payload) ? undefined : "The image data you provided does not represent a valid base64 string.";
};

/** Image types OpenAI and compatible servers decode. */
export const openaiImages: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/jpg",
  "image/gif",
  "image/webp",
]);

/** True for the extension of an audio or video file, which no document part accepts. */
export const namesSoundOrFilm = (url: string): boolean =>
  /\.(mp3|wav|m4a|ogg|oga|opus|flac|aac|aiff|mp4|mov|webm|mkv|avi|mpe?g|wmv|flv|3gp)$/i.test(
    url.split(/[?#]/, 1)[0] ?? "",
  );

/** True for an audio or video MIME type. */
export const isSoundOrFilm = (mime: string): boolean => /^(audio|video)\//.test(mime);

/** The message for text that is not a URL. */
export const noUrl = (pointer: string): string =>
  `Invalid '${toPath(pointer)}'. Expected a valid URL, but got a value with an invalid format.`;

/** The message for invalid file bytes; `problem` is the value found instead. */
export const noFileData = (pointer: string, problem: string): string =>
  `Invalid file data: '${toPath(pointer)}'. Expected a base64-encoded data URL with a valid file MIME type (e.g. 'data:application/pdf;base64,aW1nIGJ5dGVzIGhlcmU='), but ${problem}.`;

/** The problem with the bytes of a document, if any. */
export const fileProblem = (given: string): string | undefined => {
  const data = dataUrl(given);
  if (data === undefined) return "got a value without the 'data:' prefix";
  if (isSoundOrFilm(data.mime)) return `got unsupported MIME type '${data.mime}'`;
  return payloadProblem(data) === undefined ? undefined : "got a value that is not valid base64";
};
