import type { MediaCell, MediaRows } from "../../transcript/target.ts";
import { gemini as wire, type GeminiDialect } from "../../wire/gemini/encode.ts";
import { defineProvider, type ModelFamily, type Provider, type Traits } from "../define.ts";
import { inlineOnly, pdfTypes, portableName, prefixedIds, userFirstAndLast } from "../traits.ts";

const nestedImageTypes = ["image/png", "image/jpeg", "image/webp"];
const audioTypes = [
  "audio/wav",
  "audio/x-wav",
  "audio/mp3",
  "audio/mpeg",
  "audio/aiff",
  "audio/aac",
  "audio/ogg",
  "audio/flac",
];
const videoTypes = [
  "video/mp4",
  "video/mpeg",
  "video/mpg",
  "video/mov",
  "video/quicktime",
  "video/avi",
  "video/x-flv",
  "video/webm",
  "video/wmv",
  "video/3gpp",
];

/** The media of user messages, given the URLs the backend fetches from. */
const userMedia = (address: Partial<MediaCell>): MediaRows["user"] => ({
  image: { types: [...nestedImageTypes, "image/heic", "image/heif"], ...address },
  document: { types: pdfTypes, ...address },
  audio: { types: audioTypes, ...address },
  video: { types: videoTypes, ...address },
});

/** The Gemini API fetches uploaded files and YouTube videos. */
const fromFilesApi: Partial<MediaCell> = {
  uri: ["https://"],
  uriPattern: /^https:\/\/(generativelanguage\.googleapis\.com\/|(www\.)?youtube\.com\/|youtu\.be\/)/,
};

const traits: Traits = {
  ids: prefixedIds("gemini", "call_", /^[A-Za-z0-9_-]{1,64}$/),
  toolName: portableName,
  media: { result: {}, errorResult: {}, user: userMedia(fromFilesApi), model: {} },
  thinking: { form: "seal", readers: [], bound: false, filler: "skip_thought_signature_validator" },
  order: userFirstAndLast,
  requiresTools: false,
  requiresThinkingInLoop: false,
};

const dialect: GeminiDialect = { envelope: "none", thinking: "level", summaries: "always", sampling: true };

/**
 * Model names are bare, `models/...` or a resource path; an alias such as `gemini-flash-latest` has no nested media.
 */
const families = (nested: MediaRows["result"]): readonly ModelFamily<GeminiDialect>[] => [
  { match: /gemini-([3-9]|\d\d)/, traits: { media: { result: nested, errorResult: nested } } },
  { match: /gemini-(3\.[7-9]|[4-9])/, dialect: { sampling: false } },
  {
    match: /gemini-[12](\.|-)|gemma/,
    // Signatures are optional here.
    traits: { thinking: { filler: undefined } },
    dialect: { thinking: "none" },
  },
  { match: /gemini-2\.5/, dialect: { thinking: "budget", budget: { least: 0, most: 24_576, off: true } } },
  { match: /gemini-2\.5-flash-lite/, dialect: { budget: { least: 512, most: 24_576, off: true } } },
  // These think only on request.
  { match: /gemini-(2\.5-)?flash-lite(-preview|-latest|-\d|$)/, dialect: { summaries: "with-thinking" } },
  { match: /gemini-2\.5-pro/, dialect: { budget: { least: 128, most: 32_768, off: false } } },
  // Image models neither call tools nor accept a history with calls.
  {
    match: /gemini-2\.5-flash-image|gemini-2\.0-flash.*image/,
    traits: { callsAsText: true },
    dialect: { thinking: "none" },
  },
  {
    match: /gemini-2\.5-computer-use/,
    traits: {
      media: { result: { image: inlineOnly(["image/png"]) }, errorResult: { image: inlineOnly(["image/png"]) } },
    },
  },
];

/** Models that can be held to a JSON Schema; before Gemini 3 only without tools. */
const schemaFamilies: readonly ModelFamily<GeminiDialect>[] = [
  { match: /gemini-2\.[05](?!.*(image|tts|live|audio|computer))/, dialect: { output: "without-tools" } },
  { match: /gemini-([3-9]|\d\d)(?!.*(image|tts|live|audio|computer))/, dialect: { output: "always" } },
];

/** The Gemini API accepts nested `fileData` and silently ignores it; only inline bytes reach the model. */
const nestedBytes = { image: inlineOnly(nestedImageTypes), document: inlineOnly(pdfTypes) };
const nestedFromBuckets = {
  image: inlineOnly(nestedImageTypes, { uri: ["gs://"] }),
  document: inlineOnly(pdfTypes, { uri: ["gs://"] }),
};

/** Gemini, from the Gemini API. */
export const google: Provider = defineProvider({
  id: "google",
  telemetryName: "gcp.gemini",
  label: "Google Gemini API",
  wire,
  endpoint: {
    url: "https://generativelanguage.googleapis.com",
    paths: {
      generate: "/v1beta/{model}:generateContent",
      stream: "/v1beta/{model}:streamGenerateContent?alt=sse",
      count: "/v1beta/{model}:countTokens",
      models: "/v1beta/models?pageSize=1000",
    },
    modelNames: { prefix: "models/", resourcePath: /^tunedModels\// },
    env: [{ name: "GOOGLE_GEMINI_BASE_URL" }],
  },
  auth: { type: "x-goog-api-key", env: ["GEMINI_API_KEY", "GOOGLE_API_KEY"] },
  defaultModel: "gemini-3.8-flash",
  traits,
  dialect: { ...dialect, serverToolSwitch: true },
  families: [...families(nestedBytes), ...schemaFamilies],
});

/** Gemini, from Google Cloud. Nested files may also come from a storage bucket. */
export const vertex: Provider = defineProvider({
  id: "vertex",
  telemetryName: "gcp.vertex_ai",
  label: "Google Cloud Vertex AI",
  wire,
  endpoint: {
    url: "https://{vertex-host}",
    paths: {
      generate: "/v1/{model}:generateContent",
      stream: "/v1/{model}:streamGenerateContent?alt=sse",
      count: "/v1/{model}:countTokens",
      models: "/v1beta1/publishers/google/models",
    },
    modelNames: { prefix: "{place}publishers/google/models/", resourcePath: /^projects\// },
    env: [{ name: "GOOGLE_VERTEX_BASE_URL" }],
  },
  auth: { type: "google" },
  defaultModel: "gemini-3.8-flash",
  traits: { ...traits, media: { ...traits.media, user: userMedia({ uri: ["gs://", "https://", "http://"] }) } },
  dialect,
  families: [...families(nestedFromBuckets), ...schemaFamilies],
});

/** Gemini, through the endpoint Gemini CLI signs in to. */
export const codeAssist: Provider = defineProvider({
  id: "code-assist",
  telemetryName: "gcp.gen_ai",
  label: "Gemini Code Assist",
  wire,
  endpoint: {
    url: "https://cloudcode-pa.googleapis.com",
    paths: {
      generate: "/v1internal:generateContent",
      stream: "/v1internal:streamGenerateContent?alt=sse",
      count: "/v1internal:countTokens",
    },
    env: [{ name: "CODE_ASSIST_ENDPOINT" }],
  },
  auth: { type: "code-assist" },
  defaultModel: "gemini-3.8-flash",
  traits: { ...traits, media: { ...traits.media, user: userMedia({}) } },
  dialect: { ...dialect, envelope: "code-assist" },
  families: families(nestedBytes),
});
