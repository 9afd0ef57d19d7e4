import OpenAI from "openai";
import type { OpenClient, ClientTurn } from "./client.ts";
import { maxTokens, measurement, picture, pictureId, question, system, tools } from "./scene.ts";

type Message = OpenAI.ChatCompletionMessageParam;

/** OpenAI's client at Chat Completions. Its own helper collects streams. */
export const openChat: OpenClient = ({ base }, model) => {
  const { completions } = clientAt(base);
  const ask = (messages: Message[]): Promise<OpenAI.ChatCompletion> =>
    completions
      .stream({
        model,
        max_completion_tokens: maxTokens,
        reasoning_effort: "medium",
        stream_options: { include_usage: true },
        tools: declared,
        messages,
      })
      .finalChatCompletion();
  return {
    loop: async () => {
      const messages: Message[] = [
        { role: "developer", content: system },
        { role: "user", content: question },
      ];
      const first = await ask(messages);
      const [{ message } = { message: undefined }] = first.choices;
      messages.push(...(message === undefined ? [] : [message]), ...results(message?.tool_calls ?? []));
      return [turnOf(first), turnOf(await ask(messages))];
    },
    send: ({ body }) => completions.create(body as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming),
  };
};

/**
 * OpenAI's client at another vendor's Chat Completions, as that vendor's guide shows it: extra settings, and the
 * reasoning field collected by hand and sent back.
 */
export const openCompatible =
  (
    thoughtField: "reasoning_content" | "reasoning" | undefined,
    settings: { readonly [name: string]: unknown } = {},
  ): OpenClient =>
  ({ base }, model) => {
    const { completions } = clientAt(base);
    const ask = async (messages: Message[]): Promise<Gathered> =>
      gathered(
        await completions.create({
          model,
          max_tokens: maxTokens,
          stream: true,
          stream_options: { include_usage: true },
          tools: declared,
          messages,
          ...settings,
        }),
        thoughtField,
      );
    return {
      loop: async () => {
        const messages: Message[] = [
          { role: "system", content: system },
          { role: "user", content: question },
        ];
        const first = await ask(messages);
        messages.push(first.message, ...results(first.message.tool_calls ?? []));
        return [first.turn, (await ask(messages)).turn];
      },
      send: ({ body }) => completions.create(body as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming),
    };
  };

const clientAt = (baseURL: string): OpenAI.Chat => new OpenAI({ baseURL, apiKey: "key-1", maxRetries: 0 }).chat;

const declared: OpenAI.ChatCompletionTool[] = tools.map((tool) => ({ type: "function", function: tool }));

const turnOf = ({ choices: [choice], usage }: OpenAI.ChatCompletion): ClientTurn => ({
  thought: "",
  text: choice?.message.content ?? "",
  calls: callsOf(choice?.message.tool_calls ?? []),
  finish: choice?.finish_reason,
  usage: { input: usage?.prompt_tokens, output: usage?.completion_tokens },
});

const callsOf = (calls: readonly OpenAI.ChatCompletionMessageToolCall[]): ClientTurn["calls"] =>
  calls
    .filter((call) => call.type === "function")
    .map((call) => ({ tool: call.function.name, input: JSON.parse(call.function.arguments) as unknown }));

type Gathered = { readonly message: OpenAI.ChatCompletionAssistantMessageParam; readonly turn: ClientTurn };

const gathered = async (
  stream: AsyncIterable<OpenAI.ChatCompletionChunk>,
  thoughtField: string | undefined,
): Promise<Gathered> => {
  const calls: OpenAI.ChatCompletionMessageFunctionToolCall[] = [];
  let [text, thought, finish]: [string, string, unknown] = ["", "", undefined];
  let usage: OpenAI.CompletionUsage | null | undefined;
  for await (const chunk of stream) {
    const { delta, finish_reason } = chunk.choices[0] ?? {};
    text += delta?.content ?? "";
    thought += ((delta ?? {}) as { readonly [name: string]: string | null })[thoughtField ?? ""] ?? "";
    for (const { index, id, function: called } of delta?.tool_calls ?? []) {
      const call = (calls[index] ??= { id: id ?? "", type: "function", function: { name: "", arguments: "" } });
      call.function.name ||= called?.name ?? "";
      call.function.arguments += called?.arguments ?? "";
    }
    finish = finish_reason ?? finish;
    usage = chunk.usage ?? usage;
  }
  return {
    message: {
      role: "assistant",
      content: text,
      ...(thoughtField === undefined || thought === "" ? {} : { [thoughtField]: thought }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
    turn: {
      thought,
      text,
      calls: callsOf(calls),
      finish,
      usage: { input: usage?.prompt_tokens, output: usage?.completion_tokens },
    },
  };
};

/** Results are text here; the image follows after all of them. */
const results = (calls: readonly OpenAI.ChatCompletionMessageToolCall[]): Message[] => [
  ...calls
    .filter((call) => call.type === "function")
    .map((call): Message => ({
      role: "tool",
      tool_call_id: call.id,
      content: call.function.name === "look" ? `See file ${pictureId}` : measurement,
    })),
  {
    role: "user",
    content: [
      { type: "text", text: `This is file ${pictureId}:` },
      { type: "image_url", image_url: { url: picture.url } },
    ],
  },
];
