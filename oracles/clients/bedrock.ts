import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  type BedrockRuntimeClientConfig,
  type ContentBlock,
  type ConverseCommandInput,
  type ConverseStreamOutput,
  type Message,
  type TokenUsage,
  type ToolResultContentBlock,
} from "@aws-sdk/client-bedrock-runtime";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import type { ClientBody, OpenClient, ClientTurn } from "./client.ts";
import { maxTokens, measurement, picture, question, system, tools } from "./scene.ts";

/** The signing key. A server that has the secret verifies every signature. */
export const awsKeys = { id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" } as const;

/** Amazon's client with its defaults, which uses HTTP/2. */
export const openBedrock: OpenClient = ({ base }, model) => clientOf({ endpoint: base }, model);

/** Amazon's client over HTTP/1.1. */
export const openBedrockHttp1: OpenClient = ({ base }, model) =>
  clientOf({ endpoint: base, requestHandler: new NodeHttpHandler() }, model);

const clientOf = (config: BedrockRuntimeClientConfig, model: string): ReturnType<OpenClient> => {
  const client = new BedrockRuntimeClient({
    region: "us-east-1",
    credentials: { accessKeyId: awsKeys.id, secretAccessKey: awsKeys.secret },
    maxAttempts: 1,
    ...config,
  });
  const ask = async (messages: Message[]): Promise<Gathered> => {
    const { stream } = await client.send(new ConverseStreamCommand({ modelId: model, ...settings, messages }));
    return gathered(stream ?? []);
  };
  return {
    loop: async () => {
      const messages: Message[] = [{ role: "user", content: [{ text: question }] }];
      const first = await ask(messages);
      messages.push({ role: "assistant", content: first.content }, { role: "user", content: results(first.content) });
      return [first.turn, (await ask(messages)).turn];
    },
    send: (body) => client.send(new ConverseCommand(asInput(body))),
  };
};

const settings: Omit<ConverseCommandInput, "modelId"> = {
  system: [{ text: system }],
  inferenceConfig: { maxTokens },
  additionalModelRequestFields: { thinking: { type: "adaptive" }, output_config: { effort: "medium" } },
  toolConfig: {
    tools: tools.map(({ name, description, parameters }) => ({
      toolSpec: { name, description, inputSchema: { json: parameters } },
    })),
  },
};

/** A body in the client's form: `bytes` are bytes there, and base64 on the wire. */
const asInput = ({ model, body }: ClientBody): ConverseCommandInput => ({
  ...(withBytes(body) as object),
  modelId: model,
});

const withBytes = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withBytes);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => [
      name,
      name === "bytes" && typeof held === "string" ? Buffer.from(held, "base64") : withBytes(held),
    ]),
  );
};

type Gathered = { readonly content: ContentBlock[]; readonly turn: ClientTurn };

/** The content of a block so far. */
type Gathering = { text: string; thought: string; signature: string; json: string; toolUseId: string; name: string };

const gathered = async (stream: AsyncIterable<ConverseStreamOutput> | Iterable<never>): Promise<Gathered> => {
  const blocks: Gathering[] = [];
  let [finish, usage]: [unknown, Partial<TokenUsage>] = [undefined, {}];
  for await (const event of stream) {
    const { contentBlockIndex: index = 0 } = event.contentBlockStart ?? event.contentBlockDelta ?? {};
    const block = (blocks[index] ??= { text: "", thought: "", signature: "", json: "", toolUseId: "", name: "" });
    const { toolUse, text = "", reasoningContent } = event.contentBlockDelta?.delta ?? {};
    Object.assign(block, event.contentBlockStart?.start?.toolUse);
    block.text += text;
    block.json += toolUse?.input ?? "";
    block.thought += reasoningContent?.text ?? "";
    block.signature += reasoningContent?.signature ?? "";
    finish = event.messageStop?.stopReason ?? finish;
    usage = event.metadata?.usage ?? usage;
  }
  const calls = blocks.filter(({ name }) => name !== "");
  return {
    content: blocks.map(blockOf),
    turn: {
      thought: blocks.map(({ thought }) => thought).join(""),
      text: blocks.map(({ text }) => text).join(""),
      calls: calls.map(({ name, json }) => ({ tool: name, input: JSON.parse(json) as unknown })),
      finish,
      usage: { input: usage.inputTokens, output: usage.outputTokens },
    },
  };
};

const blockOf = ({ text, thought, signature, json, toolUseId, name }: Gathering): ContentBlock => {
  if (name !== "") return { toolUse: { toolUseId, name, input: JSON.parse(json) as string } };
  return signature === "" ? { text } : { reasoningContent: { reasoningText: { text: thought, signature } } };
};

const results = (content: readonly ContentBlock[]): ContentBlock[] =>
  content
    .flatMap(({ toolUse }) => toolUse ?? [])
    .map(({ toolUseId, name }) => ({
      toolResult: { toolUseId, content: [name === "look" ? image : { text: measurement }] },
    }));

const image: ToolResultContentBlock = {
  image: { format: "png", source: { bytes: Buffer.from(picture.base64, "base64") } },
};
