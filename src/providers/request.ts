import type { Conversation, Origin } from "../conversation/entry.ts";
import { isObject } from "../conversation/json.ts";
import type { Note } from "../conversation/notes.ts";
import type { Target } from "../transcript/target.ts";
import { composeRequest, type ComposedRequest, type ComposeOptions } from "../wire/compose.ts";
import { isForTarget, lossNotes } from "../wire/provider-fields.ts";
import type { DecodedRequest, WireId } from "../wire/wire.ts";
import { anyUserMedia } from "./traits.ts";
import { destinationOf, findProvider, homeProviders, wireIds } from "./find.ts";

/** Options of a request. `account` is a digest that identifies an account, never a key. */
export type RequestOptions = ComposeOptions & { readonly account?: string };

/**
 * Renders a conversation as the request body for `provider/model`, with the report of what was repaired, renamed or
 * left out.
 */
export const renderRequest = (conversation: Conversation, to: string, options: RequestOptions = {}): ComposedRequest =>
  composeRequest(conversation, destinationOf(to, options.account), options);

/** The source of a body: an API family, or more exactly a `provider/model`. */
export type RequestSource = { readonly wire: WireId; readonly origin: Origin };

/** Parses `gemini`, `anthropic`, ..., a provider or `provider/model` as a source. */
export const parseSource = (name: string): RequestSource => {
  const wire = wireIds.find((id) => id === name);
  if (wire !== undefined) return { wire, origin: { provider: homeProviders[wire], model: "" } };
  const { target, wire: bound } = destinationOf(name);
  return { wire: bound.id, origin: { provider: target.provider, model: name.includes("/") ? target.model : "" } };
};

/** Reads a body of one API family, however broken, as a conversation. */
export const readRequest = (body: unknown, { wire, origin }: RequestSource): DecodedRequest =>
  findProvider(homeProviders[wire]).destination("").wire.read(body, origin);

/** Converts a request body of one API, however broken, to a valid one of another. */
export const convertRequest = (
  body: unknown,
  from: string,
  to: string,
  options: RequestOptions = {},
): ComposedRequest => {
  const destination = destinationOf(to, options.account);
  const { target, wire } = destination;
  const source = fallbackSource(body, parseSource(from), from === wire.id ? target : undefined);
  const reading = readRequest(body, source);
  const { extra } = reading.settings;
  const isChanged =
    reading.notes.some(isStateNote) ||
    (extra !== undefined && !isForTarget(extra, target) && lossNotes(extra).some(isStateNote));
  const model = reading.model ?? source.origin.model;
  const isOwn = source.origin.provider === target.provider && model === target.model;
  const media = isOwn && target.mediaUnknown === true ? { ...target.media, user: anyUserMedia } : target.media;
  const composed = composeRequest(
    reading.conversation,
    { ...destination, target: { ...target, media } },
    {
      ...options,
      settings: { ...reading.settings, ...options.settings },
      unverified: isChanged ? "drop" : "keep",
    },
  );
  return { ...composed, report: { ...composed.report, notes: [...reading.notes, ...composed.report.notes] } };
};

/**
 * A family alone does not name the provider of a body. A body for the receiving model, or one that names no model,
 * counts as the receiving provider's own.
 */
const fallbackSource = (body: unknown, from: RequestSource, target: Target | undefined): RequestSource => {
  const named = isObject(body) ? (body["model"] ?? body["modelId"]) : undefined;
  if (target === undefined || (named !== undefined && named !== target.model)) return from;
  if (named === undefined && from.wire !== "gemini" && from.wire !== "bedrock") return from;
  return { wire: from.wire, origin: { provider: target.provider, model: from.origin.model } };
};

/** True for notes that mean the body is damaged, so that it cannot be the original; an unread field is not damage. */
const isStateNote = (made: Note): boolean => made.class === "state" && made.kind !== "unread-field";

/** Infers the API family of a body; undefined when it could be several. */
export const inferWire = (body: unknown): WireId | undefined => {
  const request = isObject(body) && isObject(body["request"]) ? body["request"] : body;
  const messages = Array.isArray(request)
    ? request
    : isObject(request)
      ? (request["messages"] ?? request["contents"] ?? request["input"])
      : [];
  if (isObject(request)) {
    if ("contents" in request || "systemInstruction" in request || "system_instruction" in request) return "gemini";
    if ("input" in request || "instructions" in request) return "openai-responses";
    if ("toolConfig" in request || "inferenceConfig" in request || "additionalModelRequestFields" in request)
      return "bedrock";
  }
  const found = new Set((Array.isArray(messages) ? messages : []).flatMap((message) => wireHints(message)));
  const [only] = found;
  if (found.size === 1) return only;
  if (found.size === 0 && isObject(request) && "messages" in request) {
    if ("max_tokens" in request && "system" in request) return "anthropic";
    if (Array.isArray(request["messages"]) && request["messages"].length > 0) return "openai-chat";
  }
  return undefined;
};

const anthropicBlocks = new Set(["tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"]);
const chatParts = new Set(["image_url", "input_audio", "file", "video_url", "refusal", "document_url"]);
const responsesItems = new Set(["function_call", "function_call_output", "reasoning", "message", "item_reference"]);
const bedrockBlocks = ["toolUse", "toolResult", "reasoningContent", "cachePoint", "image", "document", "video"];

const wireHints = (message: unknown): readonly WireId[] => {
  if (!isObject(message)) return [];
  if ("parts" in message) return ["gemini"];
  if (typeof message["type"] === "string" && responsesItems.has(message["type"])) return ["openai-responses"];
  if (message["role"] === "tool" || "tool_calls" in message || message["role"] === "function") return ["openai-chat"];
  const blocks = Array.isArray(message["content"]) ? message["content"].filter(isObject) : [];
  return blocks.flatMap((block): readonly WireId[] => {
    const type = block["type"];
    if (typeof type !== "string")
      return "text" in block || bedrockBlocks.some((key) => key in block) ? ["bedrock"] : [];
    if (anthropicBlocks.has(type)) return ["anthropic"];
    if (chatParts.has(type)) return ["openai-chat"];
    return type.startsWith("input_") || type.startsWith("output_") ? ["openai-responses"] : [];
  });
};
