import Anthropic from "@anthropic-ai/sdk";
import Anthropic2023 from "anthropic-sdk-2023";
import type { OpenClient, ClientTurn } from "./client.ts";
import { maxTokens, measurement, picture, question, system, tools } from "./scene.ts";

/** Anthropic's current client, which uses API version 2026-10-21 and sends its key as a bearer token. */
export const openAnthropic: OpenClient = ({ base }, model) =>
  clientOf(new Anthropic({ baseURL: base, apiKey: "key-1", maxRetries: 0 }), model);

/** The last client with API version 2023-06-01. The parts used here have the same types. */
export const openAnthropic2023: OpenClient = ({ base }, model) =>
  clientOf(
    new Anthropic2023({ baseURL: base, apiKey: "key-1", maxRetries: 0 }) as unknown as Pick<Anthropic, "messages">,
    model,
  );

const clientOf = ({ messages: api }: Pick<Anthropic, "messages">, model: string): ReturnType<OpenClient> => {
  const ask = (messages: Anthropic.MessageParam[]): Promise<Anthropic.Message> =>
    api
      .stream({
        model,
        max_tokens: maxTokens,
        system,
        thinking: { type: "adaptive", display: "summarized" },
        output_config: { effort: "medium" },
        tools: tools.map(({ name, description, parameters }) => ({
          name,
          description,
          input_schema: parameters,
        })),
        messages,
      })
      .finalMessage();
  return {
    loop: async () => {
      const messages: Anthropic.MessageParam[] = [{ role: "user", content: question }];
      const first = await ask(messages);
      messages.push({ role: "assistant", content: first.content }, { role: "user", content: results(first) });
      return [turnOf(first), turnOf(await ask(messages))];
    },
    send: ({ body }) => api.create({ ...body, stream: true } as unknown as Anthropic.MessageCreateParamsStreaming),
  };
};

const results = ({ content }: Anthropic.Message): Anthropic.ToolResultBlockParam[] =>
  content
    .filter((block) => block.type === "tool_use")
    .map(({ id, name }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: name === "look" ? [image] : measurement,
    }));

const image: Anthropic.ImageBlockParam = {
  type: "image",
  source: { type: "base64", media_type: picture.mimeType, data: picture.base64 },
};

const turnOf = ({ content, stop_reason, usage }: Anthropic.Message): ClientTurn => ({
  thought: content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
  text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
  calls: content.filter((block) => block.type === "tool_use").map(({ name: tool, input }) => ({ tool, input })),
  finish: stop_reason,
  usage: { input: usage.input_tokens, output: usage.output_tokens },
});
