import { OpenRouter } from "@openrouter/sdk";
import type { EventStream } from "@openrouter/sdk/lib/event-streams.js";
import type {
  ChatAssistantMessage,
  ChatMessages,
  ChatRequest,
  ChatStreamChunk,
  ChatToolCall,
  ChatUsage,
  ReasoningDetailUnion,
} from "@openrouter/sdk/models";
import type { OpenClient, ClientTurn } from "./client.ts";
import { toCamelCaseKeys } from "./camel-case.ts";
import { maxTokens, measurement, picture, question, system, tools } from "./scene.ts";

/** OpenRouter's client. It validates every event of a stream and throws in the middle of it. */
export const openOpenRouter: OpenClient = ({ base }, model) => {
  const { chat } = new OpenRouter({ serverURL: base, apiKey: "key-1", retryConfig: { strategy: "none" } });
  const ask = async (messages: ChatMessages[]): Promise<Gathered> => {
    const chatRequest: ChatRequest & { stream: true } = {
      model,
      maxTokens,
      stream: true,
      reasoning: { effort: "medium" },
      tools: tools.map((tool) => ({ type: "function", function: tool })),
      messages,
    };
    return gathered((await chat.send({ chatRequest })) as EventStream<ChatStreamChunk>);
  };
  return {
    loop: async () => {
      const messages: ChatMessages[] = [
        { role: "system", content: system },
        { role: "user", content: question },
      ];
      const first = await ask(messages);
      messages.push(first.message, ...results(first.message.toolCalls ?? []));
      return [first.turn, (await ask(messages)).turn];
    },
    send: ({ body }) => chat.send({ chatRequest: toCamelCaseKeys(body) as unknown as ChatRequest }),
  };
};

type Gathered = { readonly message: ChatAssistantMessage & { role: "assistant" }; readonly turn: ClientTurn };

const gathered = async (stream: AsyncIterable<ChatStreamChunk>): Promise<Gathered> => {
  const calls: ChatToolCall[] = [];
  const details: ReasoningDetailUnion[] = [];
  let [text, thought, finish]: [string, string, unknown] = ["", "", undefined];
  let usage: ChatUsage | undefined;
  for await (const { choices, usage: counted, error } of stream) {
    if (error !== undefined) throw new Error(error.message);
    const { delta, finishReason } = choices[0] ?? {};
    text += delta?.content ?? "";
    thought += delta?.reasoning ?? "";
    for (const detail of delta?.reasoningDetails ?? []) addDetail(details, detail);
    for (const { index, id, function: called } of delta?.toolCalls ?? []) {
      const call = (calls[index] ??= { id: id ?? "", type: "function", function: { name: "", arguments: "" } });
      call.function.name ||= called?.name ?? "";
      call.function.arguments += called?.arguments ?? "";
    }
    finish = finishReason ?? finish;
    usage = counted ?? usage;
  }
  return {
    message: { role: "assistant", content: text, reasoningDetails: details, toolCalls: calls },
    turn: {
      thought,
      text,
      calls: calls.map((call) => ({ tool: call.function.name, input: JSON.parse(call.function.arguments) as unknown })),
      finish,
      usage: { input: usage?.promptTokens, output: usage?.completionTokens },
    },
  };
};

/** Deltas of one detail share an index: texts are joined, and the signature comes last. */
const addDetail = (details: ReasoningDetailUnion[], detail: ReasoningDetailUnion): void => {
  const last = details.at(-1);
  if (last?.type !== "reasoning.text" || detail.type !== "reasoning.text" || last.index !== detail.index) {
    details.push(detail);
    return;
  }
  const text = `${last.text ?? ""}${detail.text ?? ""}`;
  details[details.length - 1] = { ...last, ...detail, text };
};

/** Results may contain images here. */
const results = (calls: readonly ChatToolCall[]): ChatMessages[] =>
  calls.map((call) => ({
    role: "tool",
    toolCallId: call.id,
    content: call.function.name === "look" ? [{ type: "image_url", imageUrl: { url: picture.url } }] : measurement,
  }));
