import type { JsonObject } from "../conversation/json.ts";
import type { Provider } from "../providers/define.ts";
import { loadProvider } from "../providers/late.ts";
import type { World } from "../world/world.ts";
import { fieldIn } from "./credentials-http.ts";
import { openEnvelope } from "./credentials-gate.ts";
import { asProviderError, findCredentials, openCredentials } from "./credentials.ts";
import { resolveEndpoint } from "./endpoint.ts";
import { Asker } from "./question.ts";

/** An answer Google's models gave with its own tools: its words, and which bytes of them come from which sources. */
type GroundedAnswer = {
  readonly text: string;
  readonly sources: readonly { readonly title: string; readonly uri: string }[];
  /** `end` counts bytes. */
  readonly supports: readonly { readonly end: number; readonly sources: readonly number[] }[];
  /** Addresses that could not be read. */
  readonly failed: readonly string[];
};

/** What a model is asked, and with which of Google's tools. */
type GroundedQuestion = { readonly prompt: string; readonly tool: "search" | "url" };

/** Asks one of Google's models with Google's own tools. */
export type AskGrounded = (question: GroundedQuestion, signal: AbortSignal) => Promise<GroundedAnswer | undefined>;

/** The providers with such tools. A sign-in to Code Assist is used where there is no key. */
const providers = ["google", "vertex", "code-assist"];

/**
 * Opens Google's search and its reader of addresses. An answer is undefined where no provider that has them can be
 * used from here. Asking throws a `ProviderError`.
 */
export const openGrounding = (world: World, session?: string): AskGrounded => {
  const complete = openEnvelope(openCredentials(world));
  return async (question, signal) => {
    const found = await findProvider(world);
    if (found === undefined) return undefined;
    const { provider, url } = found;
    const model = provider.defaultModel;
    const to = { provider, model, ...(session === undefined ? {} : { session }) };
    try {
      const body = JSON.stringify(await complete(to, bodyFor(provider, question), signal));
      const answer = await new Asker(provider, world, signal).ask({ method: "POST", url, body });
      return answerIn(isEnveloped(provider) ? fieldIn(answer, "response") : answer);
    } catch (error) {
      throw asProviderError(error, provider);
    }
  };
};

/** The first of the providers that has credentials and an address. */
const findProvider = async (world: World): Promise<{ provider: Provider; url: string } | undefined> => {
  for (const id of providers) {
    const provider = await loadProvider(id);
    if (!(await findCredentials(provider, world)).found) continue;
    const resolved = resolveEndpoint(provider, provider.defaultModel, world.env, "generate");
    if (resolved.found) return { provider, url: resolved.url };
  }
  return undefined;
};

const bodyFor = (provider: Provider, { prompt, tool }: GroundedQuestion): JsonObject => {
  const request: JsonObject = {
    contents: [{ role: "user", parts: [{ text: prompt }] }],
    tools: [tool === "search" ? { googleSearch: {} } : { urlContext: {} }],
  };
  return isEnveloped(provider) ? { model: provider.defaultModel, request } : request;
};

/** Code Assist wraps both the request and the answer. */
const isEnveloped = ({ auth }: Provider): boolean => auth.type === "code-assist";

const answerIn = (answer: unknown): GroundedAnswer => {
  const candidate = listIn(answer, "candidates")[0];
  const parts = listIn(fieldIn(candidate, "content"), "parts");
  const grounding = fieldIn(candidate, "groundingMetadata");
  return {
    text: parts.map((part) => (fieldIn(part, "thought") === true ? "" : textIn(part, "text"))).join(""),
    sources: listIn(grounding, "groundingChunks").map((chunk) => {
      const web = fieldIn(chunk, "web");
      const uri = textIn(web, "uri");
      return { uri, title: textIn(web, "title") || uri };
    }),
    supports: listIn(grounding, "groundingSupports").map((support) => ({
      end: numberIn(fieldIn(support, "segment"), "endIndex"),
      sources: listIn(support, "groundingChunkIndices").filter((each) => typeof each === "number"),
    })),
    failed: listIn(fieldIn(candidate, "urlContextMetadata"), "urlMetadata")
      .filter((each) => textIn(each, "urlRetrievalStatus") !== "URL_RETRIEVAL_STATUS_SUCCESS")
      .map((each) => textIn(each, "retrievedUrl")),
  };
};

const listIn = (value: unknown, name: string): readonly unknown[] => {
  const list = fieldIn(value, name);
  return Array.isArray(list) ? list : [];
};

const textIn = (value: unknown, name: string): string => {
  const text = fieldIn(value, name);
  return typeof text === "string" ? text : "";
};

const numberIn = (value: unknown, name: string): number => {
  const number = fieldIn(value, name);
  return typeof number === "number" ? number : 0;
};
