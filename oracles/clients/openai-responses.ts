import OpenAI from "openai";
import { toResponseInputItems } from "openai/lib/responses/ResponseInputItems";
import type { OpenClient, ClientTurn } from "./client.ts";
import { maxTokens, measurement, picture, question, system, tools } from "./scene.ts";

type Input = OpenAI.Responses.ResponseInputItem[];

/** OpenAI's client at the Responses API. Its own helpers collect streams and convert output to input. */
export const openResponses: OpenClient = ({ base }, model) => clientOf(base, model, { instructions: system }, []);

/** OpenAI's client at xAI, which has no instructions field. */
export const openXai: OpenClient = ({ base }, model) =>
  clientOf(base, model, {}, [{ role: "system", content: system }]);

const clientOf = (
  base: string,
  model: string,
  settings: { readonly instructions?: string },
  opening: Input,
): ReturnType<OpenClient> => {
  const { responses } = new OpenAI({ baseURL: base, apiKey: "key-1", maxRetries: 0 });
  const ask = async (input: Input): Promise<Heard> => {
    const stream = responses.stream({
      model,
      ...settings,
      max_output_tokens: maxTokens,
      store: false,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "medium", summary: "auto" },
      tools: tools.map((tool) => ({ type: "function", ...tool, strict: false })),
      input,
    });
    let output: OpenAI.Responses.ResponseOutputItem[] = [];
    for await (const event of stream) if (event.type === "response.completed") ({ output } = event.response);
    return { output, response: await stream.finalResponse() };
  };
  return {
    loop: async () => {
      const input: Input = [...opening, { role: "user", content: question }];
      const first = await ask(input);
      input.push(...toResponseInputItems(first.output), ...results(first.output));
      return [turnOf(first.response), turnOf((await ask(input)).response)];
    },
    send: ({ body }) => responses.create(body as OpenAI.Responses.ResponseCreateParamsNonStreaming),
  };
};

/**
 * The response as the client collected it, and the output as the server sent it: the client's copy has extra fields
 * that the API refuses.
 */
type Heard = {
  readonly response: OpenAI.Responses.Response;
  readonly output: OpenAI.Responses.ResponseOutputItem[];
};

const results = (output: OpenAI.Responses.ResponseOutputItem[]): Input =>
  output
    .filter((item) => item.type === "function_call")
    .map(({ call_id, name }) => ({
      type: "function_call_output",
      call_id,
      output: name === "look" ? [{ type: "input_image", image_url: picture.url, detail: "auto" }] : measurement,
    }));

const turnOf = ({ output, output_text, status, usage }: OpenAI.Responses.Response): ClientTurn => ({
  thought: output
    .flatMap((item) => (item.type === "reasoning" ? item.summary : []))
    .map(({ text }) => text)
    .join(""),
  text: output_text,
  calls: output
    .filter((item) => item.type === "function_call")
    .map((call) => ({ tool: call.name, input: JSON.parse(call.arguments) as unknown })),
  finish: status,
  usage: { input: usage?.input_tokens, output: usage?.output_tokens },
});
