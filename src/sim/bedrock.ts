import { wholeAnswer } from "./bedrock-answer.ts";
import { hearBedrock } from "./bedrock-hear.ts";
import { promptOf } from "./bedrock-prompt.ts";
import { bedrockProviders, type BedrockQuirks, describeModel, listModels, listProfiles } from "./bedrock-providers.ts";
import { refuseBedrock, requestHeaders } from "./bedrock-refusal.ts";
import { checkBedrock, judgeSeal, sealsOf } from "./bedrock-seals.ts";
import { streamBedrock, streamError } from "./bedrock-stream.ts";
import type { Family, Route, SimProvider } from "./family.ts";
import { asObject } from "./json.ts";

/** Amazon's Converse, and as much of its control plane as lists models. */
export const bedrockFamily: Family<BedrockQuirks> = {
  wire: "bedrock",
  providers: bedrockProviders,
  route: (request, path, provider) => (request.method === "GET" ? controlRoute(path, provider) : runtimeRoute(path)),
  refuse: refuseBedrock,
  check: checkBedrock,
  headers: ({ ordinal }) => requestHeaders(ordinal),
  counted: (body) => asObject(asObject(body["input"])["converse"]),
  hear: hearBedrock,
  prompt: (ask) => promptOf(ask).units,
  seals: sealsOf,
  judge: judgeSeal,
  whole: wholeAnswer,
  stream: streamBedrock,
  streamType: "application/vnd.amazon.eventstream",
  streamError,
  count: ({ input }) => ({ inputTokens: input }),
  models: listModels,
  model: describeModel,
};

const controlRoute = (path: string, provider: SimProvider<BedrockQuirks>): Route | undefined => {
  if (path === "/inference-profiles") return { kind: "fixed", body: listProfiles(provider) };
  if (path === "/foundation-models") return { kind: "models" };
  const model = /^\/foundation-models\/([^/]+)$/.exec(path)?.[1];
  return model === undefined ? undefined : { kind: "model", model: readable(model) };
};

/** The model stands in the path, its colons and slashes escaped. */
const runtimeRoute = (path: string): Route | undefined => {
  const [, name, operation] = /^\/model\/([^/]+)\/(converse|converse-stream|count-tokens)$/.exec(path) ?? [];
  if (name === undefined) return undefined;
  const model = readable(name);
  switch (operation) {
    case "converse":
      return { kind: "generate", model };
    case "converse-stream":
      return { kind: "stream", model };
    default:
      return { kind: "count", model };
  }
};

const readable = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
