import { isKnownPart } from "./shape.ts";
import { messagesOf, partsOf, type ChatMessage, type ChatPart } from "./walk.ts";
import {
  dataUrl,
  fileProblem,
  isSoundOrFilm,
  isWebUrl,
  noFileData,
  noUrl,
  openaiImages,
  payloadProblem,
} from "../openai/media.ts";
import { acceptsAudio, modelOf, isTextOnly } from "../openai/models.ts";
import { chatFacts, isOpenaiChat, type ChatFacts, type AllowedParts } from "../openai/providers.ts";
import {
  toDottedPath,
  isOneOf,
  missingParameter,
  unknownParameter,
  invalidValue,
  toPath,
  tooLong,
} from "../openai/error-text.ts";
import type { Rule, RuleTarget } from "../rule.ts";
import {
  adviceRule,
  asObject,
  asString,
  isObject,
  join,
  looksBase64,
  ignoredRule,
  rejectedRule,
  type Check,
} from "../walk.ts";

const takes = (parts: AllowedParts, type: string): boolean => parts === "any" || parts.includes(type);

/** Calls back for every part of a known type, with its message. */
const eachPart = (
  body: unknown,
  look: (part: ChatPart & { readonly type: string }, message: ChatMessage) => void,
): void => {
  for (const message of messagesOf(body)) {
    for (const part of partsOf(message)) {
      if (part.type !== undefined && isKnownPart(part.type)) look({ ...part, type: part.type }, message);
    }
  }
};

/** Reports media inside a tool message where the provider refuses it. */
const toolMedia: Check = (body, report, target) => {
  const facts = chatFacts(target);
  if (!facts.toolPartsClosed) return;
  eachPart(body, (part, message) => {
    if (message.role === "tool" && !takes(facts.tool, part.type)) report(part.at, misplacedText(part, message, facts));
  });
};

/** Reports media inside a tool message where the vendor's types allow it but no recorded response shows it working. */
const toolMediaUnproven: Check = (body, report, target) => {
  const facts = chatFacts(target);
  if (facts.toolPartsClosed) return;
  eachPart(body, (part, message) => {
    if (message.role !== "tool" || takes(facts.tool, part.type)) return;
    report(
      part.at,
      `'${part.type}' in a tool message is not known to work here; a user message after the results carries it.`,
    );
  });
};

/** Reports media in assistant and system messages. */
const mediaRole: Check = (body, report, target) => {
  const facts = chatFacts(target);
  eachPart(body, (part, message) => {
    const parts = message.role === "assistant" ? facts.assistant : isInstruction(message) ? facts.system : "any";
    if (!takes(parts, part.type)) report(part.at, misplacedText(part, message, facts));
  });
};

const isInstruction = ({ role }: ChatMessage): boolean => role === "system" || role === "developer";

const misplacedText = (part: ChatPart, { role, index, at }: ChatMessage, { errorStyle }: ChatFacts): string => {
  const closed = listOf(errorStyle);
  if (errorStyle === "deepseek") return deepseekText(part, index);
  if (errorStyle === "groq") return groqText(at, role);
  if (part.type === "image_url") {
    return `Invalid '${toPath(at)}'. Image URLs are only allowed for messages with role 'user', but this message with role '${role}' contains an image URL.`;
  }
  return invalidValue(part.type, closed);
};

const listOf = (errorStyle: ChatFacts["errorStyle"]): readonly string[] =>
  errorStyle === "kimi" ? ["text", "image_url", "video_url"] : ["text", "refusal"];

const deepseekText = ({ type }: ChatPart, index: number): string =>
  `Failed to deserialize the JSON body into the target type: messages[${index}]: unknown variant \`${type}\`, expected \`text\``;

const groqText = (at: string, role: string | undefined): string =>
  `'${toDottedPath(at)}' : for 'role:${role}' the following must be satisfied[('${toDottedPath(at)}.content' : one of the following must be satisfied[('${toDottedPath(at)}.content' : value must be a string)])]`;

/** Reports a user part the provider does not support. */
const userPart: Check = (body, report, target) => {
  const facts = chatFacts(target);
  const { user } = facts;
  if (user === "any") return;
  eachPart(body, (part, message) => {
    if (message.role !== "user" || user.includes(part.type)) return;
    report(part.at, userPartText(part, message, { facts, user }));
  });
};

const userPartText = (
  part: ChatPart,
  { at, index }: ChatMessage,
  { facts, user }: { readonly facts: ChatFacts; readonly user: readonly string[] },
): string => {
  if (facts.errorStyle === "deepseek") return deepseekText(part, index);
  if (facts.errorStyle === "groq") return groqText(at, "user");
  return invalidValue(part.type, user);
};

/** Reports audio for an OpenAI model without audio input. */
const audioModel: Check = (body, report, target) => {
  if (!isOpenaiChat(target) || acceptsAudio(modelOf(target))) return;
  eachPart(body, (part, message) => {
    if (message.role !== "user" || part.type !== "input_audio") return;
    report(
      part.at,
      `Invalid '${toPath(message.at)}'. Content blocks are expected to be either text or image_url type.`,
    );
  });
};

/** Reports an image for a text-only OpenAI model. */
const imageModel: Check = (body, report, target) => {
  if (!isOpenaiChat(target) || !isTextOnly(modelOf(target))) return;
  eachPart(body, (part, message) => {
    if (message.role !== "user" || part.type !== "image_url") return;
    report(part.at, "Invalid content type. image_url is only supported by certain models.");
  });
};

/** Calls back for every image URL of the body: `image_url.url`, or the short form some vendors accept. */
const eachImage = (body: unknown, look: (url: string, at: string, part: ChatPart) => void): void =>
  eachPart(body, (part) => {
    if (part.type !== "image_url") return;
    const image = part.value["image_url"];
    const url = asString(asObject(image)["url"]) ?? asString(image);
    if (url !== undefined) look(url, join(part.at, "image_url", ...(isObject(image) ? ["url"] : [])), part);
  });

const imageUrl: Check = (body, report, target) =>
  eachImage(body, (url, at) => {
    if (dataUrl(url) !== undefined || isWebUrl(url) || isVendorUrl(url, target)) return;
    report(at, noUrl(at));
  });

/**
 * True for URLs of files uploaded to the vendor: Kimi's `ms://`, DashScope's `oss://`; local servers also read files.
 */
const isVendorUrl = (url: string, { provider }: RuleTarget): boolean => {
  if (provider === "kimi") return url.startsWith("ms://");
  if (provider === "qwen") return url.startsWith("oss://");
  if (provider === "openrouter") return /^[a-z][a-z0-9+.-]*:\/\//i.test(url);
  return provider === "local" && (url.startsWith("file://") || looksBase64(url));
};

const imageType: Check = (body, report, target) => {
  const isOpenai = isOpenaiChat(target);
  eachImage(body, (url, at) => {
    const data = dataUrl(url);
    if (data === undefined || (isOpenai ? openaiImages.has(data.mime) : data.mime.startsWith("image/"))) return;
    report(
      at,
      data.mime.startsWith("image/") ? unsupportedImage : "Invalid MIME type. Only image types are supported.",
    );
  });
};

const unsupportedImage =
  "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].";

const imageData: Check = (body, report) =>
  eachImage(body, (url, at) => {
    const data = dataUrl(url);
    const problem = data === undefined ? undefined : payloadProblem(data);
    if (problem !== undefined) report(at, problem);
  });

const imageDetail: Check = (body, report, target) => {
  if (!isOpenaiChat(target)) return;
  const details = ["auto", "low", "high", "original"];
  eachImage(body, (_url, _at, part) => {
    const { detail } = asObject(part.value["image_url"]);
    if (detail === undefined || detail === null || isOneOf(detail, details)) return;
    report(join(part.at, "image_url", "detail"), invalidValue(detail, details.slice(0, 3)));
  });
};

/** Ollama accepts no URLs, and no recorded response shows Kimi fetching one. */
const remoteImage: Check = (body, report, target) => {
  if (target.provider !== "local" && target.provider !== "kimi") return;
  eachImage(body, (url, at) => {
    if (isWebUrl(url)) report(at, "image URLs are not currently supported, please use base64 encoded data instead");
  });
};

/** Reports a file part that is empty, or has the URL field that only the Responses API accepts. */
const fileSource: Check = (body, report, target) => {
  if (!isOpenaiChat(target)) return;
  eachPart(body, (part, message) => {
    if (part.type !== "file" || message.role !== "user") return;
    const at = join(part.at, "file");
    const { file } = part.value;
    if (!isObject(file)) return report(part.at, missingParameter(at));
    if (file["file_url"] !== undefined) return report(join(at, "file_url"), unknownParameter(join(at, "file_url")));
    if (typeof file["file_id"] !== "string" && typeof file["file_data"] !== "string")
      report(at, missingParameter(join(at, "file_id")));
  });
};

const fileData: Check = (body, report, target) => {
  if (!isOpenaiChat(target)) return;
  eachPart(body, (part, message) => {
    const given = asObject(part.value["file"])["file_data"];
    if (part.type !== "file" || message.role !== "user" || typeof given !== "string") return;
    const at = join(part.at, "file", "file_data");
    const problem = fileProblem(given);
    if (problem !== undefined) report(at, noFileData(at, problem));
  });
};

/** PDF is the only document type every model of this API reads. */
const fileType: Check = (body, report, target) => {
  if (!isOpenaiChat(target)) return;
  eachPart(body, (part) => {
    const data = dataUrl(asString(asObject(part.value["file"])["file_data"]) ?? "");
    if (part.type !== "file" || data === undefined || data.mime === "application/pdf" || isSoundOrFilm(data.mime))
      return;
    report(join(part.at, "file", "file_data"), `'${data.mime}' is not known to be read here; a PDF is.`);
  });
};

/** OpenAI accepts bare base64 in wav or mp3; other vendors accept more formats. */
const audioData: Check = (body, report, target) => {
  if (!isOpenaiChat(target)) return;
  eachPart(body, (part, message) => {
    if (part.type !== "input_audio" || message.role !== "user") return;
    const at = join(part.at, "input_audio");
    const { data, format } = asObject(part.value["input_audio"]);
    if (format !== "wav" && format !== "mp3") report(join(at, "format"), invalidValue(format, ["wav", "mp3"]));
    if (typeof data !== "string" || !looksBase64(data)) {
      report(join(at, "data"), `Invalid '${toPath(join(at, "data"))}'. Expected base64 encoded audio data.`);
    }
  });
};

/** Ollama splits a tool message whose content is a list, and loses its id. */
const toolContentText: Check = (body, report, target) => {
  if (target.provider !== "local") return;
  for (const { role, at, value } of messagesOf(body)) {
    if (role !== "tool" || !Array.isArray(value["content"])) continue;
    report(
      join(at, "content"),
      "A tool message with a list as content loses its tool_call_id on Ollama; send one string.",
    );
  }
};

const longestText = 10_485_760;

const longText: Check = (body, report, target) => {
  if (!isOpenaiChat(target)) return;
  const look = (text: unknown, at: string): void => {
    if (typeof text === "string" && text.length > longestText) report(at, tooLong(at, longestText, text.length));
  };
  for (const { at, value } of messagesOf(body)) look(value["content"], join(at, "content"));
  eachPart(body, (part) => look(part.value["text"], join(part.at, "text")));
};

/** Rules about what a message may contain, and how media is encoded. */
export const chatMediaRules: readonly Rule<unknown>[] = [
  rejectedRule("openai-chat/tool-media", toolMedia),
  adviceRule("openai-chat/tool-media-unproven", toolMediaUnproven),
  rejectedRule("openai-chat/media-role", mediaRole),
  rejectedRule("openai-chat/user-part", userPart),
  rejectedRule("openai-chat/audio-model", audioModel),
  rejectedRule("openai-chat/image-model", imageModel),
  rejectedRule("openai-chat/image-url", imageUrl),
  rejectedRule("openai-chat/image-type", imageType),
  rejectedRule("openai-chat/image-data", imageData),
  rejectedRule("openai-chat/image-detail", imageDetail),
  adviceRule("openai-chat/remote-image", remoteImage),
  rejectedRule("openai-chat/file-source", fileSource),
  rejectedRule("openai-chat/file-data", fileData),
  adviceRule("openai-chat/file-type", fileType),
  rejectedRule("openai-chat/audio-data", audioData),
  ignoredRule("openai-chat/tool-content-text", toolContentText),
  rejectedRule("openai-chat/long-text", longText),
];
