import type { JsonObject } from "../conversation/index.ts";
import type { Provider } from "../providers/define.ts";
import { loadProvider } from "../providers/late.ts";
import type { World } from "../world/index.ts";
import { fieldIn } from "./credentials-http.ts";
import { findCredentials } from "./credentials.ts";
import { resolveEndpoint } from "./endpoint.ts";
import { Asker, unreadable } from "./question.ts";

/** An answer Google's models gave with its own tools: its words, and which bytes of them come from which sources. */
export type GroundedAnswer = {
  readonly text: string;
  readonly sources: readonly { readonly title: string; readonly uri: string }[];
  /** `end` counts bytes. */
  readonly supports: readonly { readonly end: number; readonly sources: readonly number[] }[];
  /** Addresses that could not be read. */
  readonly failed: readonly string[];
};

/** The providers that have such tools. */
const served = ["google", "vertex"];

/** The first provider with Google's tools that can be used from here. */
export const findGrounding = async (world: World): Promise<Provider | undefined> => {
  for (const id of served) {
    const provider = await loadProvider(id);
    if ((await findCredentials(provider, world)).found) return provider;
  }
  return undefined;
};

/** Asks with Google's search, or with its reader of addresses. Throws a `ProviderError`. */
export const askGrounded = async (
  provider: Provider,
  { prompt, tool }: { readonly prompt: string; readonly tool: "search" | "url" },
  world: World,
  signal: AbortSignal,
): Promise<GroundedAnswer> => {
  const resolved = resolveEndpoint(provider, provider.defaultModel, world.env, "generate");
  if (!resolved.found) throw unreadable(provider, "Its address is not known");
  const body: JsonObject = {
    contents: [{ role: "user", parts: [{ text: prompt }] }],
    tools: [tool === "search" ? { googleSearch: {} } : { urlContext: {} }],
  };
  const asked = { method: "POST", url: resolved.url, body: JSON.stringify(body) } as const;
  return answerIn(await new Asker(provider, world, signal).ask(asked));
};

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
