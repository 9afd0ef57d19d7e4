import { encodeResponse } from "./response.ts";
import { parseRequest } from "./parse-request.ts";
import { splitPrompt } from "./prompt.ts";
import { bedrockProviders, type BedrockQuirks, describeModel, listModels, listProfiles } from "./providers.ts";
import { encodeError, requestIdHeaders } from "./errors.ts";
import { checkRequest, judgeSeal, findSeals } from "./seals.ts";
import { encodeStream, encodeStreamError } from "./stream.ts";
import type { SimFamily, ApiRoute, SimProvider } from "../family.ts";
import { asObject } from "../json.ts";

/** Amazon's Converse API, and the part of the control plane that lists models. */
export const bedrockFamily: SimFamily<BedrockQuirks> = {
  wire: "bedrock",
  providers: bedrockProviders,
  route: (request, path, provider) => (request.method === "GET" ? controlRoute(path, provider) : runtimeRoute(path)),
  encodeError: encodeError,
  checkRequest: checkRequest,
  responseHeaders: ({ ordinal }) => requestIdHeaders(ordinal),
  countedBody: (body) => asObject(asObject(body["input"])["converse"]),
  parseRequest: parseRequest,
  splitPrompt: (request) => splitPrompt(request).units,
  findSeals: findSeals,
  judgeSeal: judgeSeal,
  encodeResponse: encodeResponse,
  encodeStream: encodeStream,
  streamType: "application/vnd.amazon.eventstream",
  encodeStreamError,
  encodeCount: ({ input }) => ({ inputTokens: input }),
  encodeModels: listModels,
  encodeModel: describeModel,
};

const controlRoute = (path: string, provider: SimProvider<BedrockQuirks>): ApiRoute | undefined => {
  if (path === "/inference-profiles") return { kind: "fixed", body: listProfiles(provider) };
  if (path === "/foundation-models") return { kind: "models" };
  const model = /^\/foundation-models\/([^/]+)$/.exec(path)?.[1];
  return model === undefined ? undefined : { kind: "model", model: decodePath(model) };
};

/** The model is in the path, with colons and slashes escaped. */
const runtimeRoute = (path: string): ApiRoute | undefined => {
  const [, name, operation] = /^\/model\/([^/]+)\/(converse|converse-stream|count-tokens)$/.exec(path) ?? [];
  if (name === undefined) return undefined;
  const model = decodePath(name);
  switch (operation) {
    case "converse":
      return { kind: "generate", model };
    case "converse-stream":
      return { kind: "stream", model };
    default:
      return { kind: "count", model };
  }
};

const decodePath = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
