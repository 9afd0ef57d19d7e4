import type { Json, SimResponse } from "../family.ts";
import { responseParts, finishOf, reasoningDetailsFor, type ChatResponsePart } from "./response-parts.ts";
import type { ChatSimRequest } from "./quirks.ts";

/** A whole answer: everything of a kind gathered in one field, whatever the order it was said in. */
export const encodeResponse = (spoken: SimResponse, ask: ChatSimRequest): Json => {
  const { quirks } = ask.provider;
  const said = responseParts(spoken, ask);
  const refusal = textOf(said, "refuse");
  const message = quirks.message(messageCore(said, ask), { refusal: refusal === "" ? null : refusal });
  return quirks.envelope(
    {
      id: quirks.responseId(ask),
      kind: "chat.completion",
      choices: [quirks.choice(message, finishOf(spoken, ask))],
      usage: quirks.usage(spoken.usage, ask),
    },
    ask,
  );
};

/** The text a thought becomes where it stands between tags. */
export const thinkTags = (thought: string): string => `<think>\n${thought}\n</think>\n\n`;

/** A thought as MiniMax sets it apart for who asked. */
export const minimaxReasoning = (text: string): Json => ({
  type: "reasoning.text",
  id: "reasoning-text-1",
  format: "MiniMax-response-v1",
  index: 0,
  text,
});

/** Whether the thought was asked for apart from the words. */
export const isReasoningSplit = ({ body }: ChatSimRequest): boolean => body["reasoning_split"] === true;

/** A thought as Mistral puts it among the parts of the content. */
export const mistralThinking = (text: string): Json => ({ type: "thinking", thinking: [{ type: "text", text }] });

const messageCore = (said: readonly ChatResponsePart[], ask: ChatSimRequest): Json => {
  const { emptyContent: silence, call: write } = ask.provider.quirks;
  const calls = said.flatMap((part) => (part.type === "call" ? [write(part.call)] : []));
  const { content, ...thought } = contentOf(said, ask);
  const isSilent = content === "" && calls.length > 0;
  return {
    role: "assistant",
    ...(isSilent && silence === undefined ? {} : { content: isSilent ? silence : content }),
    ...thought,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...Object.assign({}, ...said.map((part) => (part.type === "note" ? part.fields : {}))),
  };
};

const contentOf = (said: readonly ChatResponsePart[], ask: ChatSimRequest): Json & { readonly content: unknown } => {
  const content = textOf(said, "say");
  const thought = textOf(said, "think");
  const details = said.flatMap((part) => reasoningDetailsFor(part, ask));
  const { reasoning } = ask.provider.quirks;
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
      return isReasoningSplit(ask)
        ? { content, reasoning_content: thought, reasoning_details: [minimaxReasoning(thought)] }
        : { content: thinkTags(thought) + content };
  }
};

const textOf = (said: readonly ChatResponsePart[], type: "say" | "refuse" | "think"): string =>
  said.map((part) => (part.type === type ? part.text : "")).join("");
