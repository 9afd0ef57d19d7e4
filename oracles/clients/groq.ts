import Groq from "groq-sdk";
import type { OpenClient, ClientTurn } from "./client.ts";
import { maxTokens, measurement, picture, pictureId, question, system, tools } from "./scene.ts";

type Message = Groq.Chat.ChatCompletionMessageParam;
type Call = Groq.Chat.ChatCompletionMessageToolCall;

/** The features of a Groq model: none of them has both thinking and vision. */
export type GroqModel = { readonly thinks: boolean; readonly sees: boolean };

/** Groq's client. It adds `/openai/v1` itself. */
export const openGroq =
  ({ thinks, sees }: GroqModel): OpenClient =>
  ({ origin }, model) => {
    const { completions } = new Groq({ baseURL: origin, apiKey: "key-1", maxRetries: 0 }).chat;
    const ask = async (messages: Message[]): Promise<Gathered> =>
      gathered(
        await completions.create({
          model,
          max_completion_tokens: maxTokens,
          stream: true,
          ...(thinks ? { reasoning_effort: "medium" } : {}),
          tools: tools.map((tool) => ({ type: "function", function: tool })),
          messages,
        }),
      );
    return {
      loop: async () => {
        const messages: Message[] = [
          { role: "system", content: system },
          { role: "user", content: question },
        ];
        const first = await ask(messages);
        messages.push(first.message, ...results(first.calls, sees));
        return [first.turn, (await ask(messages)).turn];
      },
      send: ({ body }) => completions.create(body as unknown as Parameters<typeof completions.create>[0]),
    };
  };

type Gathered = { readonly message: Message; readonly calls: readonly Call[]; readonly turn: ClientTurn };

const gathered = async (stream: AsyncIterable<Groq.Chat.ChatCompletionChunk>): Promise<Gathered> => {
  const calls: Call[] = [];
  let [text, thought, finish]: [string, string, unknown] = ["", "", undefined];
  let usage: Groq.CompletionUsage | undefined;
  for await (const chunk of stream) {
    const { delta, finish_reason } = chunk.choices[0] ?? {};
    text += delta?.content ?? "";
    thought += delta?.reasoning ?? "";
    for (const { index, id = "", function: called } of delta?.tool_calls ?? []) {
      const call = (calls[index] ??= { id, type: "function", function: { name: "", arguments: "" } });
      call.function.name ||= called?.name ?? "";
      call.function.arguments += called?.arguments ?? "";
    }
    finish = finish_reason ?? finish;
    usage = chunk.x_groq?.usage ?? usage;
  }
  return {
    message: {
      role: "assistant",
      content: text,
      ...(thought === "" ? {} : { reasoning: thought }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
    calls,
    turn: {
      thought,
      text,
      calls: calls.map((call) => ({ tool: call.function.name, input: JSON.parse(call.function.arguments) as unknown })),
      finish,
      usage: { input: usage?.prompt_tokens, output: usage?.completion_tokens },
    },
  };
};

/** Results are text here; the image follows after all of them. */
const results = (calls: readonly Call[], sees: boolean): Message[] => [
  ...calls.map((call): Message => ({
    role: "tool",
    tool_call_id: call.id,
    content: call.function.name === "look" ? (sees ? `See file ${pictureId}` : "A cat.") : measurement,
  })),
  ...(sees ? [image] : []),
];

const image: Message = {
  role: "user",
  content: [
    { type: "text", text: `This is file ${pictureId}:` },
    { type: "image_url", image_url: { url: picture.url } },
  ],
};
