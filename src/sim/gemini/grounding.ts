import type { Json, SimResponse } from "../family.ts";
import { serverToolsOf } from "./parse-request.ts";
import type { GeminiSimRequest } from "./request.ts";
import { omitEmpty } from "./usage.ts";
import type { ReplyPart, CitedSource } from "../model/types.ts";
import { countTextTokens } from "../tokens.ts";

/** The sources of a response: what was searched and read, and which text is based on it. */
export type GeminiGrounding = {
  readonly groundingMetadata?: Json;
  readonly urlContextMetadata?: Json;
  /** Tokens of the pages that were read. */
  readonly tokens: number;
};

type GeminiCitation = Extract<ReplyPart, { type: "cite" }>;

/** Builds the metadata of server tools. Without such tools, cited text is plain text. */
export const groundingOf = ({ parts }: SimResponse, request: GeminiSimRequest): GeminiGrounding => {
  const tools = serverToolsOf(request);
  const cites = parts.filter((part) => part.type === "cite");
  if (tools.length === 0 || cites.length === 0) return { tokens: 0 };
  const read = tools.includes("url") ? cites.filter(({ query }) => query === undefined) : [];
  return {
    groundingMetadata: groundingMetadataOf(parts, cites),
    ...(read.length === 0
      ? {}
      : { urlContextMetadata: { urlMetadata: read.flatMap(({ sources }) => sources).map(encodeRetrieval) } }),
    tokens: read.reduce((sum, { text }) => sum + countTextTokens(text), 0),
  };
};

const encodeRetrieval = ({ uri }: CitedSource): Json => ({
  retrievedUrl: uri,
  urlRetrievalStatus: "URL_RETRIEVAL_STATUS_SUCCESS",
});

const groundingMetadataOf = (parts: SimResponse["parts"], cites: readonly GeminiCitation[]): Json => {
  const queries = cites.flatMap(({ query }) => query ?? []);
  const sources = [...new Map(cites.flatMap((cite) => cite.sources).map((source) => [source.uri, source])).values()];
  return omitEmpty({
    searchEntryPoint: queries.length === 0 ? undefined : { renderedContent: searchChips(queries) },
    groundingChunks: sources.map(({ uri, title }) => ({ web: { uri, title } })),
    groundingSupports: supportsOf(parts, sources),
    webSearchQueries: queries,
  });
};

/** The markup that Google requires to be shown with a search result. */
export const searchChips = (queries: readonly string[]): string =>
  `<div class="container">${queries.map((query) => `<a class="chip" href="https://www.google.com/search?q=${encodeURIComponent(query)}">${query}</a>`).join("")}</div>`;

/** Positions are byte offsets in the response text; a start of 0 is omitted. */
const supportsOf = (parts: SimResponse["parts"], sources: readonly CitedSource[]): readonly Json[] => {
  let at = 0;
  return parts.flatMap((part) => {
    if (part.type !== "say" && part.type !== "cite") return [];
    const startIndex = at;
    at += Buffer.byteLength(part.text);
    if (part.type === "say" || part.sources.length === 0) return [];
    return [
      {
        segment: omitEmpty({ startIndex, endIndex: at, text: part.text }),
        groundingChunkIndices: part.sources.map(({ uri }) => sources.findIndex((source) => source.uri === uri)),
      },
    ];
  });
};
