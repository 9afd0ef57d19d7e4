import type { JsonObject } from "../../conversation/json.ts";
import type { Provider } from "../../providers/define.ts";
import { loadProvider } from "../../providers/lazy.ts";
import type { World } from "../../world/world.ts";
import { getField } from "../credentials/http.ts";
import { createCodeAssistEnvelope } from "../credentials/request-signer.ts";
import { toProviderError, findCredentials, openCredentials } from "../credentials/credentials.ts";
import { resolveEndpoint } from "../endpoint.ts";
import { ProviderQuery } from "./provider-query.ts";

/** A response of a Google model with Google's server tools: its text, and which bytes of it come from which sources. */
type GroundedResponse = {
  readonly text: string;
  readonly sources: readonly { readonly title: string; readonly uri: string }[];
  /** `end` is a byte offset. */
  readonly supports: readonly { readonly end: number; readonly sources: readonly number[] }[];
  /** URLs that could not be read. */
  readonly failed: readonly string[];
};

/** A prompt, and the server tool to use. */
type GroundedPrompt = { readonly prompt: string; readonly tool: "search" | "url" };

/** Sends a prompt to a Google model with a server tool. */
export type GroundedSearch = (prompt: GroundedPrompt, signal: AbortSignal) => Promise<GroundedResponse | undefined>;

/** The providers with such tools. A Code Assist sign-in is used where there is no key. */
const providers = ["google", "vertex", "code-assist"];

/**
 * Creates a function for Google's web search and URL reader. It returns undefined if no provider that has them is
 * configured, and throws a `ProviderError`.
 */
export const createGroundedSearch = (world: World, session?: string): GroundedSearch => {
  const complete = createCodeAssistEnvelope(openCredentials(world));
  return async (prompt, signal) => {
    const found = await findProvider(world);
    if (found === undefined) return undefined;
    const { provider, url } = found;
    const model = provider.defaultModel;
    const to = { provider, model, ...(session === undefined ? {} : { session }) };
    try {
      const body = JSON.stringify(await complete(to, bodyFor(provider, prompt), signal));
      const response = await new ProviderQuery(provider, world, signal).send({ method: "POST", url, body });
      return parseGroundedResponse(isEnveloped(provider) ? getField(response, "response") : response);
    } catch (error) {
      throw toProviderError(error, provider);
    }
  };
};

/** Finds the first of the providers that has credentials and a URL. */
const findProvider = async (world: World): Promise<{ provider: Provider; url: string } | undefined> => {
  for (const id of providers) {
    const provider = await loadProvider(id);
    if (!(await findCredentials(provider, world)).found) continue;
    const resolved = resolveEndpoint(provider, provider.defaultModel, world.env, "generate");
    if (resolved.found) return { provider, url: resolved.url };
  }
  return undefined;
};

const bodyFor = (provider: Provider, { prompt, tool }: GroundedPrompt): JsonObject => {
  const request: JsonObject = {
    contents: [{ role: "user", parts: [{ text: prompt }] }],
    tools: [tool === "search" ? { googleSearch: {} } : { urlContext: {} }],
  };
  return isEnveloped(provider) ? { model: provider.defaultModel, request } : request;
};

/** Whether requests and responses are wrapped, as by Code Assist. */
const isEnveloped = ({ auth }: Provider): boolean => auth.type === "code-assist";

const parseGroundedResponse = (response: unknown): GroundedResponse => {
  const candidate = listIn(response, "candidates")[0];
  const parts = listIn(getField(candidate, "content"), "parts");
  const grounding = getField(candidate, "groundingMetadata");
  return {
    text: parts.map((part) => (getField(part, "thought") === true ? "" : textIn(part, "text"))).join(""),
    sources: listIn(grounding, "groundingChunks").map((chunk) => {
      const web = getField(chunk, "web");
      const uri = textIn(web, "uri");
      return { uri, title: textIn(web, "title") || uri };
    }),
    supports: listIn(grounding, "groundingSupports").map((support) => ({
      end: numberIn(getField(support, "segment"), "endIndex"),
      sources: listIn(support, "groundingChunkIndices").filter((each) => typeof each === "number"),
    })),
    failed: listIn(getField(candidate, "urlContextMetadata"), "urlMetadata")
      .filter((each) => textIn(each, "urlRetrievalStatus") !== "URL_RETRIEVAL_STATUS_SUCCESS")
      .map((each) => textIn(each, "retrievedUrl")),
  };
};

const listIn = (value: unknown, name: string): readonly unknown[] => {
  const list = getField(value, name);
  return Array.isArray(list) ? list : [];
};

const textIn = (value: unknown, name: string): string => {
  const text = getField(value, name);
  return typeof text === "string" ? text : "";
};

const numberIn = (value: unknown, name: string): number => {
  const number = getField(value, name);
  return typeof number === "number" ? number : 0;
};
