import { createHash } from "node:crypto";
import { type BedrockSimRequest, claudeVersion, familyOf } from "./providers.ts";
import { splitPrompt } from "./prompt.ts";
import { messageBlocks, thinkingConfig, blockText } from "./request.ts";
import type { Json, SimUsage, SimResponse, SimResponsePart } from "../family.ts";

/** One complete block of a response. */
export type BedrockResponseBlock =
  | { readonly kind: "text"; readonly text: string }
  /** Only Claude has a `signature`. */
  | { readonly kind: "reasoning"; readonly text: string; readonly signature?: string }
  | { readonly kind: "redacted"; readonly data: string }
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly input: string; readonly type: Json }
  | { readonly kind: "citations"; readonly text: string; readonly citations: readonly Json[] }
  | { readonly kind: "image"; readonly format: string; readonly data: string };

/** The blocks of a response. */
export const responseBlocks = (response: SimResponse, request: BedrockSimRequest): readonly BedrockResponseBlock[] =>
  response.parts.flatMap((part, place) => blockFor(part, place, request));

const blockFor = (
  part: SimResponsePart,
  place: number,
  request: BedrockSimRequest,
): readonly BedrockResponseBlock[] => {
  switch (part.type) {
    case "think":
      return [reasoningBlock(part.text, part.seal, request)];
    case "say":
      return [{ kind: "text", text: part.text }];
    case "call": {
      const input = JSON.stringify(part.input) ?? "{}";
      return [{ kind: "call", id: toolUseId(request, place), name: part.tool, input, type: callType(request) }];
    }
    case "cite":
      return [{ kind: "citations", text: part.text, citations: part.sources.map(citation) }];
    case "file": {
      const format = /^image\/(png|jpeg|gif|webp)$/.exec(part.mimeType)?.[1];
      return format === undefined ? [] : [{ kind: "image", format, data: part.data }];
    }
  }
};

const reasoningBlock = (text: string, seal: string, request: BedrockSimRequest): BedrockResponseBlock => {
  if (claudeVersion(request.model) === undefined) return { kind: "reasoning", text };
  if (asksForRedaction(request)) return { kind: "redacted", data: seal };
  return { kind: "reasoning", text: thinkingConfig(request)["display"] === "omitted" ? "" : text, signature: seal };
};

/** True if a message contains Anthropic's documented test string for redacted thinking. */
const asksForRedaction = (request: BedrockSimRequest): boolean =>
  messageBlocks(request).some((blocks) => blocks.some((block) => blockText(block).includes(redactionTrigger)));

const redactionTrigger = "ANTHROPIC_MAGIC_STRING_TRIGGER_REDACTED_THINKING_";

const toolUseId = ({ provider, model, ordinal, time }: BedrockSimRequest, place: number): string => {
  const seed = createHash("sha256").update(`${provider.id} ${model} ${ordinal} ${time} ${place}`);
  return `tooluse_${seed.digest("base64url").slice(0, 22)}`;
};

/** Newer Claude models include the type of the call. */
const callType = ({ model }: BedrockSimRequest): Json =>
  (claudeVersion(model) ?? 0) >= 405 ? { type: "tool_use" } : {};

const citation = ({ title, uri }: { readonly title: string; readonly uri: string }): Json => ({
  location: { web: { domain: /^https?:\/\/([^/]+)/.exec(uri)?.[1] ?? "", url: uri } },
  title,
});

/** Encodes a complete response. AWS sorts fields alphabetically. */
export const encodeResponse = (response: SimResponse, request: BedrockSimRequest): Json => ({
  metrics: metricsOf(response),
  output: { message: { content: responseBlocks(response, request).map(blockJson), role: "assistant" } },
  stopReason: stopReasons[response.finish],
  usage: usageOf(response.usage, request),
});

const blockJson = (block: BedrockResponseBlock): Json => {
  switch (block.kind) {
    case "text":
      return { text: block.text };
    case "reasoning": {
      const signature = block.signature === undefined ? {} : { signature: block.signature };
      return { reasoningContent: { reasoningText: { ...signature, text: block.text } } };
    }
    case "redacted":
      return { reasoningContent: { redactedContent: block.data } };
    case "call":
      return { toolUse: { input: JSON.parse(block.input), name: block.name, toolUseId: block.id, ...block.type } };
    case "citations":
      return { citationsContent: { citations: block.citations, content: [{ text: block.text }] } };
    case "image":
      return { image: { format: block.format, source: { bytes: block.data } } };
  }
};

/** Stop reasons. The service has none for a pause, and reports a refusal as filtered. */
export const stopReasons: { readonly [finish in SimResponse["finish"]]: string } = {
  stop: "end_turn",
  calls: "tool_use",
  length: "max_tokens",
  filtered: "content_filtered",
  refused: "content_filtered",
  paused: "end_turn",
  malformed: "malformed_tool_use",
  context: "model_context_window_exceeded",
};

/** A latency derived from the length of the output. */
export const metricsOf = ({ usage }: SimResponse): Json => ({ latencyMs: 180 + usage.output * 11 });

/** `inputTokens` excludes cached tokens. Only models with caching report it, each count under two names. */
export const usageOf = (usage: SimUsage, request: BedrockSimRequest): Json => {
  const { input, cachedRead, cachedWrite, output } = usage;
  const marks = splitPrompt(request).units.filter(({ isCachePoint }) => isCachePoint);
  const { id } = familyOf(request);
  const caches = id === "claude" || (id === "nova" && marks.length > 0);
  return {
    ...(id === "claude" && cachedWrite > 0
      ? { cacheDetails: [{ inputTokens: cachedWrite, ttl: marks.at(-1)?.ttlSeconds === 3600 ? "1h" : "5m" }] }
      : {}),
    ...(caches
      ? {
          cacheReadInputTokenCount: cachedRead,
          cacheReadInputTokens: cachedRead,
          cacheWriteInputTokenCount: cachedWrite,
          cacheWriteInputTokens: cachedWrite,
        }
      : {}),
    inputTokens: input - cachedRead - cachedWrite,
    outputTokens: output,
    serverToolUsage: {},
    totalTokens: input + output,
  };
};
