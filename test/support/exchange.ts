import { type DecodedResponse, ResponseBuilder } from "../../src/wire/decode/response-builder.ts";
import type { Destination } from "../../src/wire/bind.ts";
import { RequestComposer } from "../../src/wire/compose.ts";
import type { RequestSettings } from "../../src/wire/wire.ts";
import type { Conversation, Origin } from "../../src/conversation/entry.ts";
import type { JsonObject } from "../../src/conversation/json.ts";
import { describeSimulated } from "../../src/cli/requests/simulated-providers.ts";
import { providers } from "../../src/providers/all.ts";
import type { Provider } from "../../src/providers/define.ts";
import { findProvider } from "../../src/providers/find.ts";
import { createSimulator, type Simulator, type SimulatorOptions } from "../../src/sim/simulator.ts";
import type { RetryPolicy } from "../../src/transport/retry/policy.ts";
import { createRequestSigner } from "../../src/transport/credentials/request-signer.ts";
import { ProviderError, type Failure } from "../../src/transport/failure.ts";
import type { TransportEvent } from "../../src/transport/events.ts";
import { openTransport, type Transport } from "../../src/transport/transport.ts";
import type { RenderReport } from "../../src/transcript/incremental-renderer.ts";
import { simulatedWorld, type SimulatedWorld } from "../../src/world/simulated/world.ts";

/** A marker in every key that must never appear anywhere else. */
export const canary = "canary-7f3a9d";

/** An environment with credentials for every provider. */
export const everyKey: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    providers.flatMap(({ id, auth }) => ("env" in auth ? [[auth.env[0] ?? id, `${canary}-${id}`]] : [])),
  ),
  GEMINI_API_KEY: `AIza-${canary}-google`,
  GOOGLE_OAUTH_ACCESS_TOKEN: `ya29.${canary}-cloud`,
  GOOGLE_CLOUD_PROJECT: "a-project",
  ANTHROPIC_API_KEY: `sk-ant-${canary}`,
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: `secret-${canary}`,
  AWS_REGION: "us-east-1",
  OPENAI_API_KEY: `sk-${canary}-openai`,
  XAI_API_KEY: `xai-${canary}`,
  GROQ_API_KEY: `gsk_${canary}`,
  OPENROUTER_API_KEY: `sk-or-${canary}`,
  MOONSHOT_API_KEY: `sk-${canary}-kimi`,
  MISTRAL_API_KEY: `mi-${canary}-key`,
  DEEPSEEK_API_KEY: `sk-${canary}-deepseek`,
  AZURE_OPENAI_API_KEY: `az-${canary}-key`,
  AZURE_OPENAI_RESOURCE: "a-resource",
  DASHSCOPE_API_KEY: `sk-${canary}-qwen`,
  ZAI_API_KEY: `zai-${canary}`,
  MINIMAX_API_KEY: `mm-${canary}-key`,
  COHERE_API_KEY: `co-${canary}-key`,
};

/** A provider's simulator in its own simulated world, and a transport that sends to it. */
export type SimulatedProvider = {
  readonly provider: Provider;
  readonly simulator: Simulator;
  readonly world: SimulatedWorld;
  readonly transport: Transport;
  /** The traffic received so far. */
  readonly traffic: { bytes: number; chunks: number };
};

/** Creates a simulated provider. The simulator uses the simulated clock too. */
export const simulateProvider = (
  name: string,
  {
    retryPolicy,
    ...options
  }: Omit<SimulatorOptions, "provider"> & { readonly retryPolicy?: Partial<RetryPolicy> } = {},
): SimulatedProvider => {
  let simulator: Simulator | undefined;
  const traffic = { bytes: 0, chunks: 0 };
  const world: SimulatedWorld = simulatedWorld({
    env: everyKey,
    start: 1_800_000_000_000,
    seed: options.seed ?? 1,
    answer: async (request, signal) => {
      const response = await simulator!.handle(request, signal);
      return { ...response, body: counted(response.body, traffic) };
    },
  });
  simulator = createSimulator({
    provider: describeSimulated(name),
    now: world.clock.now,
    sleep: world.clock.sleep,
    ...options,
  });
  const transport = openTransport({
    world,
    signer: createRequestSigner(world),
    ...(retryPolicy === undefined ? {} : { retryPolicy }),
  });
  return { provider: findProvider(name), simulator, world, transport, traffic };
};

const counted = async function* (
  body: AsyncIterable<Uint8Array>,
  traffic: SimulatedProvider["traffic"],
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    traffic.bytes += chunk.length;
    traffic.chunks += 1;
    yield chunk;
  }
};

/** The outcome of an exchange: every event, and either a response or a failure. */
export type ExchangeOutcome = {
  readonly events: readonly TransportEvent[];
  readonly response: DecodedResponse | undefined;
  readonly failure: Failure | undefined;
  readonly sent: SentRequest | undefined;
};

/** The last request sent: its report, and what a ledger needs for the response. */
type SentRequest = { readonly report: RenderReport; readonly origin: Origin; readonly prefix: string };

/** Options of an exchange. */
export type ExchangeOptions = {
  readonly model?: string;
  readonly settings?: RequestSettings;
  readonly signal?: AbortSignal;
};

/** Sends a conversation and waits, in simulated time, for the outcome. Anything but a typed failure is thrown. */
export const exchange = (
  { provider, transport, world }: SimulatedProvider,
  conversation: Conversation,
  asked: ExchangeOptions = {},
): Promise<ExchangeOutcome> => world.run(sendConversation(transport, provider, conversation, asked));

/** The same, with any transport and its clock. */
export const sendConversation = async (
  transport: Transport,
  provider: Provider,
  conversation: Conversation,
  { model = provider.defaultModel, settings = {}, signal }: ExchangeOptions = {},
): Promise<ExchangeOutcome> => {
  const events: TransportEvent[] = [];
  const builder = new ResponseBuilder();
  let sent: SentRequest | undefined;
  const encode = (destination: Destination): JsonObject => {
    const { system, tools, blobs, entries } = conversation;
    const composer = new RequestComposer({ destination, system, tools, blobs, policy: { unsupportedMedia: "stub" } });
    composer.add(entries);
    const prefix = composer.digest();
    const { body, report } = composer.compose({ stream: true, ...settings });
    const { account } = destination.target;
    const origin = { provider: provider.id, model, ...(account === undefined ? {} : { account }) };
    sent = { report, origin, prefix };
    return body;
  };
  try {
    const stream = settings.stream ?? true;
    const body = encode(transport.destination({ provider, model }));
    for await (const event of transport.send({ provider, model, body, rebuild: encode, stream }, signal)) {
      events.push(event);
      if (!isTransportEvent(event)) builder.add(event);
    }
    return { events, response: builder.build(), failure: undefined, sent };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return { events, response: undefined, failure: error.failure, sent };
  }
};

/** Whether an event is about sending and not part of the response. */
const isTransportEvent = (
  event: TransportEvent,
): event is Extract<TransportEvent, { type: "request" | "retrying" | "repaired" }> =>
  event.type === "request" || event.type === "retrying" || event.type === "repaired";
