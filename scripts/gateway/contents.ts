import { isObject } from "../../src/conversation/json.ts";
import type { ExchangeRecord } from "../../src/wire/exchange.ts";

/**
 * Compares the bodies of an exchange: every text, argument, result and tool description a client sent must be in the body for
 * the target, and so must every image where the target takes images. Returns the beginnings of what is missing. Thinking and
 * opaque state are not compared: they belong to one target.
 */
export const lostContents = ({ in: { body }, out }: ExchangeRecord, hasImage: boolean): readonly string[] => {
  if (out?.body === undefined) return [];
  const sent = contentsOf(out.body);
  const all = [...new Set(sent.texts)].join("\n\0");
  const images = sent.images.join("\n");
  const received = contentsOf(body);
  return [
    ...received.texts.filter((text) => !all.includes(text)),
    ...(hasImage ? received.images.filter((image) => !images.includes(image)) : []),
  ].map((text) => text.slice(0, 60));
};

type Contents = { readonly texts: string[]; readonly images: string[] };

/** The texts and images of a body of any API, without names of fields and values that only structure it. */
const contentsOf = (body: unknown): Contents => {
  const found: Contents = { texts: [], images: [] };
  collect(body, "", found);
  return found;
};

const collect = (value: unknown, field: string, found: Contents): void => {
  if (typeof value === "string") addText(value, field, found);
  else if (Array.isArray(value)) for (const item of value) collect(item, field, found);
  else if (isObject(value) && !isThinking(value) && !isServerTool(value))
    for (const [name, inner] of Object.entries(value))
      if (argumentFields.has(name)) collectValues(inner, found);
      else if (!structural.has(name)) collect(inner, name, found);
};

/** Every text in the arguments of a call, whose names are the tool's own. */
const collectValues = (value: unknown, { texts, images }: Contents): void => {
  const parsed = typeof value === "string" ? parseObject(value) : value;
  if (typeof parsed === "string") texts.push(parsed.trim());
  else if (typeof parsed === "object" && parsed !== null)
    for (const inner of Object.values(parsed)) collectValues(inner, { texts, images });
};

const parseObject = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : text;
  } catch {
    return text;
  }
};

const addText = (value: string, field: string, { texts, images }: Contents): void => {
  const image = /^data:image\/[^,]*,(.*)$/s.exec(value)?.[1] ?? (binary.has(field) ? value : undefined);
  if (image !== undefined) images.push(image);
  else if (value.trim() !== "" && !value.startsWith("x-anthropic-billing-header")) texts.push(value.trim());
};

/** Fields of a call's arguments. Responses also calls its list of messages `input`. */
const argumentFields = new Set(["arguments", "args"]);

/** Fields of bytes in base64. */
const binary = new Set(["data", "bytes"]);

/** Fields that hold no words of the conversation: ids, types, opaque state, settings. */
const structural = new Set(
  `type role id call_id tool_use_id tool_call_id toolUseId name namespace status phase model signature encrypted_content thoughtSignature reasoning_content reasoning_details reasoning thinking metadata client_metadata prompt_cache_key include media_type mimeType mime_type format detail betas anthropic_beta context_management output_config service_tier text_verbosity cache_control parameters parametersJsonSchema input_schema inputSchema generationConfig stream_options safetySettings tool_choice toolChoice functionCallingConfig session_id project user_prompt_id displayName reasoning_effort additionalModelRequestFields`.split(
    " ",
  ),
);

const isThinking = (value: object): boolean =>
  ("type" in value && /thinking|reasoning|^compaction/.test(String(value.type))) ||
  ("thought" in value && value.thought === true);

/** A tool that runs on the vendor's servers has no description of the client. */
const isServerTool = (value: object): boolean => "type" in value && String(value.type).startsWith("web_search");
