import type { HttpRequest } from "../../world/net.ts";
import type { SimFamily, ApiRoute } from "../family.ts";
import { asObject } from "../json.ts";
import { encodeResponse } from "./response.ts";
import { judgeSeal, findSeals } from "./reasoning-details.ts";
import { parseRequest } from "./parse-request.ts";
import { requestNumber } from "./ids.ts";
import { splitPrompt } from "./prompt.ts";
import { chatSimProviders } from "./providers/all.ts";
import { compatibleServer } from "./providers/compatible.ts";
import type { ChatQuirks } from "./quirks.ts";
import { checkFiles } from "./request.ts";
import { encodeStream, encodeStreamError } from "./stream.ts";

/** Chat Completions, as served by OpenAI and compatible vendors. The API has no token counting. */
export const openaiChatFamily: SimFamily<ChatQuirks> = {
  wire: "openai-chat",
  providers: chatSimProviders,
  generic: compatibleServer,
  route: (request, path, { base }) =>
    routeRequest(request, base === "" ? path.replace(/^\/(v1|beta)(?=\/)/, "") : path),
  encodeError: (refusal, { id, quirks }) => {
    const number = requestNumber(id, refusal.ordinal ?? 0);
    return {
      ...quirks.errors(refusal, number),
      headers: { ...quirks.requestId(number), ...quirks.limits, ...refusal.headers },
    };
  },
  checkRequest: checkFiles,
  responseHeaders: ({ ordinal, provider: { id, quirks } }) => ({
    ...quirks.requestId(requestNumber(id, ordinal)),
    ...quirks.limits,
  }),
  parseRequest,
  splitPrompt,
  findSeals,
  judgeSeal,
  encodeResponse: encodeResponse,
  encodeStream: encodeStream,
  streamType: "text/event-stream; charset=utf-8",
  encodeStreamError: encodeStreamError,
  encodeCount: () => ({}),
  encodeModels: (models, { quirks }) => ({
    ...quirks.list(models.length),
    data: models.map((model) => quirks.model(model)),
  }),
  encodeModel: (model, { quirks }) => quirks.model(model),
};

/** DeepSeek has no base path and also accepts a version prefix. */
const routeRequest = (request: HttpRequest, path: string): ApiRoute | undefined => {
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
