import type { Json, SimProvider } from "../../family.ts";
import { openaiErrors } from "../errors.ts";
import { asUuid, createdSeconds, pseudoRandomLetters } from "../ids.ts";
import type { ChatSimRequest, ChatResponseBody, SimChatCall, ChatQuirks, StreamQuirks } from "../quirks.ts";
import { detailedUsage } from "../usage.ts";

type ChatServerData = Omit<SimProvider<ChatQuirks>, "wire" | "auth" | "quirks"> & {
  readonly auth?: "none";
  readonly quirks: Partial<ChatQuirks> & Pick<ChatQuirks, "responseId" | "callId">;
  readonly stream?: Partial<StreamQuirks>;
};

/** Defines a simulated Chat Completions provider by its differences from a typical compatible server. */
export const defineChatServer = ({ quirks, stream, ...own }: ChatServerData): SimProvider<ChatQuirks> => ({
  auth: "bearer",
  ...own,
  wire: "openai-chat",
  quirks: { ...compatible, ...quirks, stream: { ...compatibleStream, ...stream } },
});

/** Encodes a call as most vendors do. */
export const plainCall = ({ id, name, arguments: given }: SimChatCall): Json => ({
  id,
  type: "function",
  function: { name, arguments: given },
});

/** Encodes a call with its index first. */
export const indexedCall = (call: SimChatCall): Json => ({ index: call.index, ...plainCall(call) });

/** The first fields of every response. */
export const envelopeHead = ({ id, kind }: ChatResponseBody, request: ChatSimRequest): Json => ({
  id,
  object: kind,
  created: createdSeconds(request),
  model: servedModel(request),
});

/** The model name in a response. */
const servedModel = ({ model, provider }: ChatSimRequest): string => provider.quirks.servedModel?.(model) ?? model;

/** The creation time of every simulated model. */
export const modelCreated = 1_767_225_600;

const compatible: Omit<ChatQuirks, "responseId" | "callId" | "stream"> = {
  reasoning: "reasoning_content",
  rereadFields: ["reasoning_content"],
  finishReasons: {},
  emptyContent: "",
  refusalField: false,
  hasAnnotations: false,
  generates: "nothing",
  acceptsFile: () => false,
  fetchesUrls: true,
  message: (core) => core,
  call: plainCall,
  choice: (message, { reason }) => ({ index: 0, message, finish_reason: reason }),
  envelope: (body, request) => ({ ...envelopeHead(body, request), choices: body.choices, usage: body.usage }),
  usage: detailedUsage,
  errors: openaiErrors,
  requestId: (number) => ({ "x-request-id": asUuid(number) }),
  limits: {},
  model: ({ id }) => ({ id, object: "model", created: modelCreated, owned_by: "system" }),
  list: () => ({ object: "list" }),
};

const compatibleStream: StreamQuirks = {
  calls: "pieces",
  call: indexedCall,
  sendsCallsLast: false,
  hasOpeningChunk: true,
  delta: (core, { kind }) => (kind === "open" ? { role: "assistant", content: "" } : core),
  choice: (delta, finish) => ({ index: 0, delta, finish_reason: finish?.reason ?? null }),
  usage: "on-request",
  pendingUsage: "absent",
  failure: "plain",
};

/** A compatible server of an unknown vendor. */
export const compatibleServer: SimProvider<ChatQuirks> = defineChatServer({
  id: "compatible",
  host: /(?!)/,
  base: "/v1",
  models: [],
  knownModels: /./,
  cache: { mode: "none", minTokens: 0, stepTokens: 1 },
  quirks: {
    responseId: (request) => `chatcmpl-${pseudoRandomLetters(request, "answer", 29)}`,
    callId: ({ index }, request) => `call_${pseudoRandomLetters(request, `call ${index}`, 24)}`,
    acceptsFile: (_kind, place) => place === "user",
  },
});
