import type { Json, SimProvider } from "./family.ts";
import { openaiErrors } from "./openai-chat-errors.ts";
import { asUuid, createdAt } from "./openai-chat-ids.ts";
import type { ChatAsk, ChatBody, ChatCall, ChatQuirks, StreamQuirks } from "./openai-chat-quirks.ts";
import { detailedUsage } from "./openai-chat-usage.ts";

type Own = Omit<SimProvider<ChatQuirks>, "wire" | "auth" | "quirks"> & {
  readonly auth?: "none";
  readonly quirks: Partial<ChatQuirks> & Pick<ChatQuirks, "answerId" | "callId">;
  readonly stream?: Partial<StreamQuirks>;
};

/** A server of Chat Completions, by what it does differently from most copies of it. */
export const chatServer = ({ quirks, stream, ...own }: Own): SimProvider<ChatQuirks> => ({
  auth: "bearer",
  ...own,
  wire: "openai-chat",
  quirks: { ...compatible, ...quirks, stream: { ...compatibleStream, ...stream } },
});

/** A call as most vendors write it. */
export const plainCall = ({ id, name, arguments: given }: ChatCall): Json => ({
  id,
  type: "function",
  function: { name, arguments: given },
});

/** The same with its place among the calls, which comes first. */
export const numberedCall = (call: ChatCall): Json => ({ index: call.index, ...plainCall(call) });

/** The fields that every answer begins with. */
export const headOf = ({ id, kind }: ChatBody, ask: ChatAsk): Json => ({
  id,
  object: kind,
  created: createdAt(ask),
  model: servedAs(ask),
});

/** The name an answer gives its model. */
const servedAs = ({ model, provider }: ChatAsk): string => provider.quirks.answersAs?.(model) ?? model;

/** When every simulated model was made. */
export const modelCreated = 1_767_225_600;

const compatible: Omit<ChatQuirks, "answerId" | "callId" | "stream"> = {
  reasoning: "reasoning_content",
  rereads: ["reasoning_content"],
  finishes: {},
  silence: "",
  refusalField: false,
  annotates: false,
  makes: "nothing",
  sees: () => false,
  fetches: true,
  message: (core) => core,
  call: plainCall,
  choice: (message, { reason }) => ({ index: 0, message, finish_reason: reason }),
  envelope: (body, ask) => ({ ...headOf(body, ask), choices: body.choices, usage: body.usage }),
  usage: detailedUsage,
  errors: openaiErrors,
  requestId: (number) => ({ "x-request-id": asUuid(number) }),
  limits: {},
  model: ({ id }) => ({ id, object: "model", created: modelCreated, owned_by: "system" }),
  list: () => ({ object: "list" }),
};

const compatibleStream: StreamQuirks = {
  calls: "pieces",
  call: numberedCall,
  endsWithCalls: false,
  opens: true,
  delta: (core, { kind }) => (kind === "open" ? { role: "assistant", content: "" } : core),
  choice: (delta, finish) => ({ index: 0, delta, finish_reason: finish?.reason ?? null }),
  usage: "asked",
  noUsage: "absent",
  failure: "plain",
};
