import { createHash } from "node:crypto";
import { type BedrockAsk, claudeVersion, familyOf } from "./bedrock-providers.ts";
import { promptOf } from "./bedrock-prompt.ts";
import { messageBlocks, thinkingOf, wordsOf } from "./bedrock-request.ts";
import type { Json, SimUsage, Spoken, SpokenPart } from "./family.ts";

/** One block of an answer, finished. */
export type AnswerBlock =
  | { readonly kind: "text"; readonly text: string }
  /** `signature` only from Claude. */
  | { readonly kind: "thought"; readonly text: string; readonly signature?: string }
  | { readonly kind: "redacted"; readonly data: string }
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly input: string; readonly type: Json }
  | { readonly kind: "citing"; readonly text: string; readonly citations: readonly Json[] }
  | { readonly kind: "picture"; readonly format: string; readonly data: string };

/** The blocks of an answer. */
export const blocksOf = (spoken: Spoken, ask: BedrockAsk): readonly AnswerBlock[] =>
  spoken.parts.flatMap((part, place) => blockFor(part, place, ask));

const blockFor = (part: SpokenPart, place: number, ask: BedrockAsk): readonly AnswerBlock[] => {
  switch (part.type) {
    case "think":
      return [thought(part.text, part.seal, ask)];
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

const thought = (text: string, seal: string, ask: BedrockAsk): AnswerBlock => {
  if (claudeVersion(ask.model) === undefined) return { kind: "thought", text };
  if (asksForRedaction(ask)) return { kind: "redacted", data: seal };
  return { kind: "thought", text: thinkingOf(ask)["display"] === "omitted" ? "" : text, signature: seal };
};

/** The words by which Anthropic lets anyone try out a thought that is kept back. */
const asksForRedaction = (ask: BedrockAsk): boolean =>
  messageBlocks(ask).some((blocks) => blocks.some((block) => wordsOf(block).includes(redactionTrigger)));

const redactionTrigger = "ANTHROPIC_MAGIC_STRING_TRIGGER_REDACTED_THINKING_";

const toolUseId = ({ provider, model, ordinal, time }: BedrockAsk, place: number): string => {
  const seed = createHash("sha256").update(`${provider.id} ${model} ${ordinal} ${time} ${place}`);
  return `tooluse_${seed.digest("base64url").slice(0, 22)}`;
};

/** Newer Claude models say what kind of call it is. */
const callType = ({ model }: BedrockAsk): Json => ((claudeVersion(model) ?? 0) >= 405 ? { type: "tool_use" } : {});

const citation = ({ title, uri }: { readonly title: string; readonly uri: string }): Json => ({
  location: { web: { domain: /^https?:\/\/([^/]+)/.exec(uri)?.[1] ?? "", url: uri } },
  title,
});

/** A whole answer. AWS writes its fields in the order of the alphabet. */
export const wholeAnswer = (spoken: Spoken, ask: BedrockAsk): Json => ({
  metrics: metricsOf(spoken),
  output: { message: { content: blocksOf(spoken, ask).map(blockJson), role: "assistant" } },
  stopReason: stopReasons[spoken.finish],
  usage: usageOf(spoken.usage, ask),
});

const blockJson = (block: AnswerBlock): Json => {
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
export const stopReasons: { readonly [finish in Spoken["finish"]]: string } = {
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
export const metricsOf = ({ usage }: Spoken): Json => ({ latencyMs: 180 + usage.output * 11 });

/** `inputTokens` is what the cache did not spare. Only models that cache speak of it, each count under two names. */
export const usageOf = (usage: SimUsage, ask: BedrockAsk): Json => {
  const { input, cachedRead, cachedWrite, output } = usage;
  const marks = promptOf(ask).units.filter(({ marked }) => marked);
  const { id } = familyOf(ask);
  const caches = id === "claude" || (id === "nova" && marks.length > 0);
  return {
    ...(id === "claude" && cachedWrite > 0
      ? { cacheDetails: [{ inputTokens: cachedWrite, ttl: marks.at(-1)?.keep === 3600 ? "1h" : "5m" }] }
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
