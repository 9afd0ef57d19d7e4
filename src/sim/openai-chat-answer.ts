import type { Json, Spoken } from "./family.ts";
import { draftOf, finishOf, sealedOf, type ChatSaid } from "./openai-chat-draft.ts";
import type { ChatAsk } from "./openai-chat-quirks.ts";

/** A whole answer: everything of a kind gathered in one field, whatever the order it was said in. */
export const wholeAnswer = (spoken: Spoken, ask: ChatAsk): Json => {
  const { quirks } = ask.provider;
  const said = draftOf(spoken, ask);
  const refusal = textOf(said, "refuse");
  const message = quirks.message(coreOf(said, ask), { refusal: refusal === "" ? null : refusal });
  return quirks.envelope(
    {
      id: quirks.answerId(ask),
      kind: "chat.completion",
      choices: [quirks.choice(message, finishOf(spoken, ask))],
      usage: quirks.usage(spoken.usage, ask),
    },
    ask,
  );
};

/** The text a thought becomes where it stands between tags. */
export const tagged = (thought: string): string => `<think>\n${thought}\n</think>\n\n`;

/** A thought as MiniMax sets it apart for who asked. */
export const splitThought = (text: string): Json => ({
  type: "reasoning.text",
  id: "reasoning-text-1",
  format: "MiniMax-response-v1",
  index: 0,
  text,
});

/** Whether the thought was asked for apart from the words. */
export const isSplit = ({ body }: ChatAsk): boolean => body["reasoning_split"] === true;

/** A thought as Mistral puts it among the parts of the content. */
export const thinkingChunk = (text: string): Json => ({ type: "thinking", thinking: [{ type: "text", text }] });

const coreOf = (said: readonly ChatSaid[], ask: ChatAsk): Json => {
  const { silence, call: write } = ask.provider.quirks;
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

const contentOf = (said: readonly ChatSaid[], ask: ChatAsk): Json & { readonly content: unknown } => {
  const content = textOf(said, "say");
  const thought = textOf(said, "think");
  const details = said.flatMap((part) => sealedOf(part, ask));
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
      return { content: [thinkingChunk(thought), ...(content === "" ? [] : [{ type: "text", text: content }])] };
    case "tags":
      return isSplit(ask)
        ? { content, reasoning_content: thought, reasoning_details: [splitThought(thought)] }
        : { content: tagged(thought) + content };
  }
};

const textOf = (said: readonly ChatSaid[], type: "say" | "refuse" | "think"): string =>
  said.map((part) => (part.type === type ? part.text : "")).join("");
