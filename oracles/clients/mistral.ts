import { Mistral } from "@mistralai/mistralai";
import type {
  AssistantMessage,
  ChatCompletionStreamRequest,
  CompletionEvent,
  ContentChunk,
  ToolCall,
  UsageInfo,
} from "@mistralai/mistralai/models/components";
import type { OpenClient, ClientTurn, VendorClient } from "./client.ts";
import { toCamelCaseKeys } from "./camel-case.ts";
import { maxTokens, measurement, picture, pictureId, question, system, tools } from "./scene.ts";

type Message = ChatCompletionStreamRequest["messages"][number];

/** Mistral's client. It has its own field names, and rejects unknown fields. */
export const openMistral: OpenClient = (server, model) => openWith({}, server, model);

/** The same, with a setting that asks for thinking: models that always think need none. */
export const openMistralWithEffort: OpenClient = (server, model) =>
  openWith({ reasoningEffort: "medium" }, server, model);

const openWith = (
  settings: Pick<ChatCompletionStreamRequest, "reasoningEffort">,
  ...[{ origin }, model]: Parameters<OpenClient>
): VendorClient => {
  const { chat } = new Mistral({ serverURL: origin, apiKey: "key-1", retryConfig: { strategy: "none" } });
  const ask = async (messages: Message[]): Promise<Gathered> =>
    gathered(
      await chat.stream({
        model,
        maxTokens,
        ...settings,
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
      messages.push({ ...first.message, role: "assistant" }, ...results(first.message.toolCalls ?? []));
      return [first.turn, (await ask(messages)).turn];
    },
    send: ({ body }) => chat.complete(toCamelCaseKeys(body) as unknown as ChatCompletionStreamRequest),
  };
};

type Gathered = { readonly message: AssistantMessage; readonly turn: ClientTurn };

const gathered = async (stream: AsyncIterable<CompletionEvent>): Promise<Gathered> => {
  const calls: ToolCall[] = [];
  let [text, thought, finish]: [string, string, unknown] = ["", "", undefined];
  let usage: UsageInfo | undefined;
  for await (const { data } of stream) {
    const { delta, finishReason } = data.choices[0] ?? {};
    const content = delta?.content ?? "";
    text += typeof content === "string" ? content : content.map(wordsIn).join("");
    thought += typeof content === "string" ? "" : content.map(thoughtIn).join("");
    calls.push(...(delta?.toolCalls ?? []));
    finish = finishReason ?? finish;
    usage = data.usage ?? usage;
  }
  return {
    message: {
      content: [
        { type: "thinking", thinking: [{ type: "text", text: thought }] },
        { type: "text", text },
      ],
      toolCalls: calls,
    },
    turn: {
      thought,
      text,
      calls: calls.map(({ function: { name, arguments: given } }) => ({
        tool: name,
        input: typeof given === "string" ? (JSON.parse(given) as unknown) : given,
      })),
      finish,
      usage: { input: usage?.promptTokens, output: usage?.completionTokens },
    },
  };
};

const wordsIn = (chunk: ContentChunk): string => (chunk.type === "text" ? chunk.text : "");

const thoughtIn = (chunk: ContentChunk): string =>
  chunk.type === "thinking" ? chunk.thinking.map((part) => ("text" in part ? part.text : "")).join("") : "";

/** Results are text here; the image follows after all of them. */
const results = (calls: readonly ToolCall[]): Message[] => [
  ...calls.map(({ id, function: { name } }): Message => ({
    role: "tool",
    toolCallId: id ?? "",
    name,
    content: name === "look" ? `See file ${pictureId}` : measurement,
  })),
  {
    role: "user",
    content: [
      { type: "text", text: `This is file ${pictureId}:` },
      { type: "image_url", imageUrl: { url: picture.url } },
    ],
  },
];
