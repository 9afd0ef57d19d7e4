import type { HttpRequest } from "../world/net.ts";
import type { Family, Route } from "./family.ts";
import { asObject } from "./json.ts";
import { wholeAnswer } from "./openai-chat-answer.ts";
import { judge, seals } from "./openai-chat-details.ts";
import { hear } from "./openai-chat-hear.ts";
import { requestNumber } from "./openai-chat-ids.ts";
import { prompt } from "./openai-chat-prompt.ts";
import { chatServers } from "./openai-chat-providers.ts";
import type { ChatQuirks } from "./openai-chat-quirks.ts";
import { refuseUnseen } from "./openai-chat-request.ts";
import { streamAnswer, streamFailure } from "./openai-chat-stream.ts";

/** Chat Completions as OpenAI serves it, and as ten others copy it. Nobody here counts tokens without an answer. */
export const openaiChatFamily: Family<ChatQuirks> = {
  wire: "openai-chat",
  providers: chatServers,
  route: (request, path, { base }) => routeOf(request, base === "" ? path.replace(/^\/(v1|beta)(?=\/)/, "") : path),
  refuse: (refusal, { id, quirks }) => {
    const number = requestNumber(id, refusal.ordinal ?? 0);
    return {
      ...quirks.errors(refusal, number),
      headers: { ...quirks.requestId(number), ...quirks.limits, ...refusal.headers },
    };
  },
  check: refuseUnseen,
  headers: ({ ordinal, provider: { id, quirks } }) => ({
    ...quirks.requestId(requestNumber(id, ordinal)),
    ...quirks.limits,
  }),
  hear,
  prompt,
  seals,
  judge,
  whole: wholeAnswer,
  stream: streamAnswer,
  streamType: "text/event-stream; charset=utf-8",
  streamError: streamFailure,
  count: () => ({}),
  models: (models, { quirks }) => ({ ...quirks.list(models.length), data: models.map((model) => quirks.model(model)) }),
  model: (model, { quirks }) => quirks.model(model),
};

/** DeepSeek, who has no base, answers under a version as well. */
const routeOf = (request: HttpRequest, path: string): Route | undefined => {
  const plain = path.split("?")[0] ?? "";
  if (request.method === "POST")
    return plain === "/chat/completions" ? { kind: wantsStream(request) ? "stream" : "generate" } : undefined;
  if (plain === "/models") return { kind: "models" };
  const model = /^\/models\/(.+)$/.exec(plain)?.[1];
  return model === undefined ? undefined : { kind: "model", model: decodeURIComponent(model) };
};

const wantsStream = ({ body }: HttpRequest): boolean => {
  try {
    return asObject(JSON.parse(Buffer.from(body ?? "").toString()))["stream"] === true;
  } catch {
    return false;
  }
};
