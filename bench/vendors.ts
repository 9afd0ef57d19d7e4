import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import type { WireId } from "../src/wire/wire.ts";

/** Counts of a stream: events, and characters of thinking, text and arguments in them. */
export type Heard = { readonly events: number; readonly letters: number };

/** Reads a whole stream. */
export type Reads = (chunks: readonly Uint8Array[]) => Promise<Heard>;

/** How to get the vendors' SDKs, where they are missing. */
export const howToInstall = "The vendors' SDKs are not installed: npm ci --prefix oracles";

/** How each vendor's own SDK reads its streams; undefined where they are not installed. */
export const vendorReads = (): Readonly<Record<WireId, Reads>> | undefined => {
  const folder = resolve("oracles");
  if (!existsSync(resolve(folder, "node_modules/openai"))) return undefined;
  const load = createRequire(resolve(folder, "package.json"));
  return {
    gemini: geminiReads(load("@google/genai") as Google),
    anthropic: anthropicReads(load("@anthropic-ai/sdk") as Anthropic),
    bedrock: bedrockReads(load("@aws-sdk/client-bedrock-runtime") as Amazon),
    "openai-chat": chatReads(load("openai") as OpenAI),
    "openai-responses": responsesReads(load("openai") as OpenAI),
  };
};

type Events<Event> = Promise<AsyncIterable<Event>>;
type Fetch = () => Promise<Response>;
type Client<Options, Sends> = new (options: Options) => Sends;

const heard = async <Event>(events: AsyncIterable<Event>, letters: (event: Event) => number): Promise<Heard> => {
  const total = { events: 0, letters: 0 };
  for await (const event of events) {
    total.events += 1;
    total.letters += letters(event);
  }
  return total;
};

const answering =
  (chunks: readonly Uint8Array[]): Fetch =>
  async () =>
    new Response(bodyOf(chunks), { headers: { "content-type": "text/event-stream" } });

const bodyOf = (chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> => {
  const rest = chunks.values();
  return new ReadableStream({
    pull: (controller) => {
      const next = rest.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
  });
};

type GooglePart = {
  readonly text?: string;
  readonly functionCall?: { readonly partialArgs?: readonly { readonly stringValue?: string }[] };
};
type GoogleEvent = {
  readonly candidates?: readonly { readonly content?: { readonly parts?: readonly GooglePart[] } }[];
};
type Google = {
  readonly GoogleGenAI: Client<
    { apiKey: string; httpOptions: { fetch: Fetch } },
    { models: { generateContentStream: (request: { model: string; contents: string }) => Events<GoogleEvent> } }
  >;
};

const geminiReads =
  ({ GoogleGenAI }: Google): Reads =>
  async (chunks) => {
    const client = new GoogleGenAI({ apiKey: "none", httpOptions: { fetch: answering(chunks) } });
    const events = await client.models.generateContentStream({ model: "gemini-3.8-flash", contents: "go" });
    return heard(events, (event) => {
      const part = event.candidates?.[0]?.content?.parts?.[0];
      return (part?.text ?? part?.functionCall?.partialArgs?.[0]?.stringValue ?? "").length;
    });
  };

type AnthropicEvent = {
  readonly delta?: { readonly text?: string; readonly thinking?: string; readonly partial_json?: string };
};
type Anthropic = {
  readonly Anthropic: Client<
    { apiKey: string; fetch: Fetch },
    { messages: { create: (request: Record<string, unknown>) => Events<AnthropicEvent> } }
  >;
};

const anthropicReads =
  ({ Anthropic }: Anthropic): Reads =>
  async (chunks) => {
    const client = new Anthropic({ apiKey: "none", fetch: answering(chunks) });
    const messages = [{ role: "user", content: "go" }];
    const request = { model: "claude-sonnet-5", max_tokens: 1024, messages, stream: true };
    const events = await client.messages.create(request);
    return heard(events, ({ delta }) => (delta?.text ?? delta?.thinking ?? delta?.partial_json ?? "").length);
  };

type AmazonDelta = {
  readonly text?: string;
  readonly reasoningContent?: { readonly text?: string };
  readonly toolUse?: { readonly input?: string };
};
type AmazonEvent = { readonly contentBlockDelta?: { readonly delta?: AmazonDelta } };
type Amazon = {
  readonly BedrockRuntimeClient: Client<
    Record<string, unknown>,
    { send: (command: object) => Promise<{ stream: AsyncIterable<AmazonEvent> }> }
  >;
  readonly ConverseStreamCommand: Client<Record<string, unknown>, object>;
};

const bedrockReads =
  ({ BedrockRuntimeClient, ConverseStreamCommand }: Amazon): Reads =>
  async (chunks) => {
    const headers = { "content-type": "application/vnd.amazon.eventstream" };
    const handle = async () => ({ response: { statusCode: 200, headers, body: Readable.from(chunks) } });
    const client = new BedrockRuntimeClient({
      region: "us-east-1",
      credentials: { accessKeyId: "none", secretAccessKey: "none" },
      requestHandler: { handle, metadata: { handlerProtocol: "http/1.1" } },
    });
    const messages = [{ role: "user", content: [{ text: "go" }] }];
    const { stream } = await client.send(new ConverseStreamCommand({ modelId: "anthropic.claude-sonnet-5", messages }));
    return heard(stream, ({ contentBlockDelta }) => {
      const { text, reasoningContent, toolUse } = contentBlockDelta?.delta ?? {};
      return (text ?? reasoningContent?.text ?? toolUse?.input ?? "").length;
    });
  };

type ChatDelta = {
  readonly content?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly { readonly function?: { readonly arguments?: string } }[];
};
type ChatEvent = { readonly choices: readonly { readonly delta: ChatDelta }[] };
type ResponsesEvent = { readonly delta?: string };
type OpenAI = {
  readonly OpenAI: Client<
    { apiKey: string; fetch: Fetch },
    {
      chat: { completions: { create: (request: Record<string, unknown>) => Events<ChatEvent> } };
      responses: { create: (request: Record<string, unknown>) => Events<ResponsesEvent> };
    }
  >;
};

const chatReads =
  ({ OpenAI }: OpenAI): Reads =>
  async (chunks) => {
    const client = new OpenAI({ apiKey: "none", fetch: answering(chunks) });
    const messages = [{ role: "user", content: "go" }];
    const events = await client.chat.completions.create({ model: "gpt-5.6", messages, stream: true });
    return heard(events, ({ choices }) => {
      const { content, reasoning_content, tool_calls } = choices[0]?.delta ?? {};
      return (content ?? reasoning_content ?? tool_calls?.[0]?.function?.arguments ?? "").length;
    });
  };

const responsesReads =
  ({ OpenAI }: OpenAI): Reads =>
  async (chunks) => {
    const client = new OpenAI({ apiKey: "none", fetch: answering(chunks) });
    const events = await client.responses.create({ model: "gpt-5.6", input: "go", stream: true });
    return heard(events, ({ delta }) => (delta ?? "").length);
  };
