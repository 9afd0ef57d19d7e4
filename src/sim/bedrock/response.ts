import { createHash } from "node:crypto";
import { type BedrockSimRequest, claudeVersion, familyOf } from "./providers.ts";
import { splitPrompt } from "./prompt.ts";
import { messageBlocks, thinkingConfig, blockText } from "./request.ts";
import type { Json, SimUsage, SimResponse, SimResponsePart } from "../family.ts";

/** One block of an answer, finished. */
export type BedrockResponseBlock =
  | { readonly kind: "text"; readonly text: string }
  /** `signature` only from Claude. */
  | { readonly kind: "thought"; readonly text: string; readonly signature?: string }
  | { readonly kind: "redacted"; readonly data: string }
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly input: string; readonly type: Json }
  | { readonly kind: "citing"; readonly text: string; readonly citations: readonly Json[] }
  | { readonly kind: "picture"; readonly format: string; readonly data: string };

/** The blocks of an answer. */
export const responseBlocks = (spoken: SimResponse, ask: BedrockSimRequest): readonly BedrockResponseBlock[] =>
  spoken.parts.flatMap((part, place) => blockFor(part, place, ask));

const blockFor = (part: SimResponsePart, place: number, ask: BedrockSimRequest): readonly BedrockResponseBlock[] => {
  switch (part.type) {
    case "think":
      return [reasoningBlock(part.text, part.seal, ask)];
    case "say":
      return [{ kind: "text", text: part.text }];
    case "call": {
      const input = JSON.stringify(part.input) ?? "{}";
      return [{ kind: "call", id: toolUseId(ask, place), name: part.tool, input, type: callType(ask) }];
    }
    case "cite":
      return [{ kind: "citing", text: part.text, citations: part.sources.map(citation) }];
    case "file": {
      const format = /^image\/(png|jpeg|gif|webp)$/.exec(part.mimeType)?.[1];
      return format === undefined ? [] : [{ kind: "picture", format, data: part.data }];
    }
  }
};

const reasoningBlock = (text: string, seal: string, ask: BedrockSimRequest): BedrockResponseBlock => {
  if (claudeVersion(ask.model) === undefined) return { kind: "thought", text };
  if (asksForRedaction(ask)) return { kind: "redacted", data: seal };
  return { kind: "thought", text: thinkingConfig(ask)["display"] === "omitted" ? "" : text, signature: seal };
};

/** The words by which Anthropic lets anyone try out a thought that is kept back. */
const asksForRedaction = (ask: BedrockSimRequest): boolean =>
  messageBlocks(ask).some((blocks) => blocks.some((block) => blockText(block).includes(redactionTrigger)));

const redactionTrigger = "ANTHROPIC_MAGIC_STRING_TRIGGER_REDACTED_THINKING_";

const toolUseId = ({ provider, model, ordinal, time }: BedrockSimRequest, place: number): string => {
  const seed = createHash("sha256").update(`${provider.id} ${model} ${ordinal} ${time} ${place}`);
  return `tooluse_${seed.digest("base64url").slice(0, 22)}`;
};

/** Newer Claude models say what kind of call it is. */
const callType = ({ model }: BedrockSimRequest): Json =>
  (claudeVersion(model) ?? 0) >= 405 ? { type: "tool_use" } : {};

const citation = ({ title, uri }: { readonly title: string; readonly uri: string }): Json => ({
  location: { web: { domain: /^https?:\/\/([^/]+)/.exec(uri)?.[1] ?? "", url: uri } },
  title,
});

/** A whole answer. AWS writes its fields in the order of the alphabet. */
export const encodeResponse = (spoken: SimResponse, ask: BedrockSimRequest): Json => ({
  metrics: metricsOf(spoken),
  output: { message: { content: responseBlocks(spoken, ask).map(blockJson), role: "assistant" } },
  stopReason: stopReasons[spoken.finish],
  usage: usageOf(spoken.usage, ask),
});

const blockJson = (block: BedrockResponseBlock): Json => {
  switch (block.kind) {
    case "text":
      return { text: block.text };
    case "thought": {
      const signature = block.signature === undefined ? {} : { signature: block.signature };
      return { reasoningContent: { reasoningText: { ...signature, text: block.text } } };
    }
    case "redacted":
      return { reasoningContent: { redactedContent: block.data } };
    case "call":
      return { toolUse: { input: JSON.parse(block.input), name: block.name, toolUseId: block.id, ...block.type } };
    case "citing":
      return { citationsContent: { citations: block.citations, content: [{ text: block.text }] } };
    case "picture":
      return { image: { format: block.format, source: { bytes: block.data } } };
  }
};

/** Why an answer ended. The service has no word for a pause, and calls a refusal filtered. */
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

/** How long it took, by the length of what was said. */
export const metricsOf = ({ usage }: SimResponse): Json => ({ latencyMs: 180 + usage.output * 11 });

/** `inputTokens` is what the cache did not spare. Only models that cache speak of it, each count under two names. */
export const usageOf = (usage: SimUsage, ask: BedrockSimRequest): Json => {
  const { input, cachedRead, cachedWrite, output } = usage;
  const marks = splitPrompt(ask).units.filter(({ isCachePoint: marked }) => marked);
  const { id } = familyOf(ask);
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
