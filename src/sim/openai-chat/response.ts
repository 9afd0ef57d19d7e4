import type { Json, SimResponse } from "../family.ts";
import { responseParts, finishOf, reasoningDetailsFor, type ChatResponsePart } from "./response-parts.ts";
import type { ChatSimRequest } from "./quirks.ts";

/** Encodes a complete response: content of one kind is collected in one field, regardless of order. */
export const encodeResponse = (response: SimResponse, request: ChatSimRequest): Json => {
  const { quirks } = request.provider;
  const parts = responseParts(response, request);
  const refusal = textOf(parts, "refuse");
  const message = quirks.message(messageCore(parts, request), { refusal: refusal === "" ? null : refusal });
  return quirks.envelope(
    {
      id: quirks.responseId(request),
      kind: "chat.completion",
      choices: [quirks.choice(message, finishOf(response, request))],
      usage: quirks.usage(response.usage, request),
    },
    request,
  );
};

/** Thinking as text between tags. */
export const thinkTags = (thought: string): string => `<think>\n${thought}\n</think>\n\n`;

/** MiniMax's separate reasoning entry. */
export const minimaxReasoning = (text: string): Json => ({
  type: "reasoning.text",
  id: "reasoning-text-1",
  format: "MiniMax-response-v1",
  index: 0,
  text,
});

/** True if the request asks for separate reasoning. */
export const isReasoningSplit = ({ body }: ChatSimRequest): boolean => body["reasoning_split"] === true;

/** Mistral's thinking part of the content. */
export const mistralThinking = (text: string): Json => ({ type: "thinking", thinking: [{ type: "text", text }] });

const messageCore = (parts: readonly ChatResponsePart[], request: ChatSimRequest): Json => {
  const { emptyContent, call: write } = request.provider.quirks;
  const calls = parts.flatMap((part) => (part.type === "call" ? [write(part.call)] : []));
  const { content, ...thought } = contentOf(parts, request);
  const isSilent = content === "" && calls.length > 0;
  return {
    role: "assistant",
    ...(isSilent && emptyContent === undefined ? {} : { content: isSilent ? emptyContent : content }),
    ...thought,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...Object.assign({}, ...parts.map((part) => (part.type === "note" ? part.fields : {}))),
  };
};

const contentOf = (
  parts: readonly ChatResponsePart[],
  request: ChatSimRequest,
): Json & { readonly content: unknown } => {
  const content = textOf(parts, "say");
  const thought = textOf(parts, "think");
  const details = parts.flatMap((part) => reasoningDetailsFor(part, request));
  const { reasoning } = request.provider.quirks;
  if (reasoning === "details")
    return {
      content,
      reasoning: thought === "" ? null : thought,
      ...(details.length === 0 ? {} : { reasoning_details: details }),
    };
  if (thought === "") return { content };
  switch (reasoning) {
    case "hidden":
      return { content };
    case "reasoning":
    case "reasoning_content":
      return { content, [reasoning]: thought };
    case "chunks":
      return { content: [mistralThinking(thought), ...(content === "" ? [] : [{ type: "text", text: content }])] };
    case "tags":
      return isReasoningSplit(request)
        ? { content, reasoning_content: thought, reasoning_details: [minimaxReasoning(thought)] }
        : { content: thinkTags(thought) + content };
  }
};

const textOf = (parts: readonly ChatResponsePart[], type: "say" | "refuse" | "think"): string =>
  parts.map((part) => (part.type === type ? part.text : "")).join("");
