import { datedModelName, hidesThoughts } from "./models.ts";
import { splitPrompt } from "./prompt.ts";
import type { SimRequest, Json, SimUsage, SimResponse, SimResponsePart } from "../family.ts";
import { asArray, asText } from "../json.ts";
import { digest } from "../seal.ts";
import { splitIntoDeltas, splitBySize } from "../split-text.ts";

/** Encodes a complete message. */
export const encodeResponse = (response: SimResponse, request: SimRequest): Json => ({
  ...messageHeader(request),
  content: responseBlocks(response, request),
  ...stopFields(response),
  usage: { ...usageOf(response.usage, request), ...usageDetails(response) },
  ...inputTransformations(response, request),
});

/** Encodes the message as events. A ping follows the start of the first block. */
export const encodeStream = (response: SimResponse, request: SimRequest): readonly string[] => {
  const content = responseBlocks(response, request).map(blockEvents);
  const start = {
    ...messageHeader(request),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: { ...usageOf(response.usage, request), output_tokens: 1 },
  };
  const events: readonly Json[] = [
    { type: "message_start", message: start },
    ...content.flatMap((events, index) => events.map(({ type, ...event }) => ({ type, index, ...event }))),
    {
      type: "message_delta",
      delta: { ...stopFields(response), ...inputTransformations(response, request) },
      usage: { ...totalUsage(response.usage), ...usageDetails(response) },
    },
    { type: "message_stop" },
  ];
  return events.flatMap((event, place) => [encodeEvent(event, place), ...(place === 1 ? [ping] : [])]);
};

const ping = 'event: ping\ndata: {"type": "ping"}\n\n';

/** Encodes one event. Padding before the last brace hides the length of the content. */
const encodeEvent = (event: Json, place: number): string => {
  const data = JSON.stringify(event);
  return `event: ${asText(event["type"])}\ndata: ${data.slice(0, -1)}${" ".repeat((place * 7) % 16)}}\n\n`;
};

/** Encodes an error after the headers have been sent. */
export const encodeErrorEvent = (envelope: unknown): string => `event: error\ndata: ${JSON.stringify(envelope)}\n\n`;

const messageHeader = (request: SimRequest): Json => ({
  model: datedModelName(request.model),
  id: idOf("msg", request, 0),
  type: "message",
  role: "assistant",
});

/** Derives an id: the same for the same request and position, and unique in a conversation. */
export const idOf = (kind: string, { ordinal, body }: Pick<SimRequest, "ordinal" | "body">, place: number): string => {
  const letters = digest(`${kind} ${ordinal} ${asArray(body["messages"]).length} ${place}`).replaceAll(/[-_]/g, "x");
  return `${kind}_01${letters}`;
};

const stopFields = ({ finish }: SimResponse): Json => ({
  stop_reason: stopReasons[finish],
  stop_sequence: null,
  stop_details: stopReasons[finish] === "refusal" ? { type: "refusal", category: null, explanation: null } : null,
});

const stopReasons: { readonly [finish in SimResponse["finish"]]: string } = {
  calls: "tool_use",
  stop: "end_turn",
  length: "max_tokens",
  filtered: "refusal",
  refused: "refusal",
  paused: "pause_turn",
  malformed: "end_turn",
  context: "model_context_window_exceeded",
};

/** `input_tokens` excludes tokens read from or written to the cache. */
const totalUsage = ({ input, cachedRead, cachedWrite, output }: SimUsage): Json => ({
  input_tokens: input - cachedRead - cachedWrite,
  cache_creation_input_tokens: cachedWrite,
  cache_read_input_tokens: cachedRead,
  output_tokens: output,
});

const usageOf = (usage: SimUsage, request: SimRequest): Json => {
  const { output_tokens: output, ...input } = totalUsage(usage);
  const isLong = splitPrompt(request).findLast(({ isCachePoint }) => isCachePoint)?.ttlSeconds === 3600;
  return {
    ...input,
    cache_creation: {
      ephemeral_5m_input_tokens: isLong ? 0 : usage.cachedWrite,
      ephemeral_1h_input_tokens: isLong ? usage.cachedWrite : 0,
    },
    output_tokens: output,
    service_tier: "standard",
    inference_geo: "global",
  };
};

const usageDetails = ({ usage, parts }: SimResponse): Json => {
  const cites = parts.filter((part) => part.type === "cite");
  const searches = cites.filter(({ query }) => query !== undefined).length;
  return {
    output_tokens_details: { thinking_tokens: usage.reasoning },
    ...(cites.length === 0
      ? {}
      : { server_tool_use: { web_search_requests: searches, web_fetch_requests: cites.length - searches } }),
  };
};

/** Ignored blocks are listed if the request enables the beta header. */
const inputTransformations = ({ droppedSeals = [] }: SimResponse, { headers }: SimRequest): Json =>
  droppedSeals.length === 0 || !(headers["anthropic-beta"] ?? "").includes("thinking-binding-controls")
    ? {}
    : {
        input_transformations: droppedSeals.map(({ pointer, verdict }) => ({
          type: "thinking_block_dropped",
          path: pointer.slice(1).replaceAll("/", "."),
          reason: verdict === "prefix" ? "prefix_mismatch" : "unreadable_by_model",
        })),
      };

const responseBlocks = ({ parts }: SimResponse, request: SimRequest): readonly Json[] =>
  parts.flatMap((part, place) => blocksOf(part, request, place + 1));

const blocksOf = (part: SimResponsePart, request: SimRequest, place: number): readonly Json[] => {
  switch (part.type) {
    case "think": {
      const thinking = hidesThoughts(request.body, request.model) ? "" : part.text;
      if (part.redacted === true) return [{ type: "redacted_thinking", data: part.seal }];
      return [{ type: "thinking", thinking, signature: part.seal }];
    }
    case "say":
      return [{ type: "text", text: part.text }];
    case "call": {
      const { tool: name, input } = part;
      return [{ type: "tool_use", id: idOf("toolu", request, place), name, input, caller: { type: "direct" } }];
    }
    case "cite":
      return citedBlocks(part, idOf("srvtoolu", request, place));
    // The API has no block for generated files.
    case "file":
      return [];
  }
};

const citedBlocks = (
  { text, query, sources }: Extract<SimResponsePart, { type: "cite" }>,
  id: string,
): readonly Json[] => {
  const results = sources.map(({ title, uri }) => ({
    type: "web_search_result",
    title,
    url: uri,
    encrypted_content: opaqueText(uri),
    page_age: null,
  }));
  const fetched = sources.map(({ title, uri }) => ({
    type: "web_fetch_result",
    url: uri,
    retrieved_at: null,
    content: { type: "document", title, source: { type: "text", media_type: "text/plain", data: text } },
  }));
  const citations = sources.map(({ title, uri }) => ({
    type: "web_search_result_location",
    cited_text: text,
    url: uri,
    title,
    encrypted_index: opaqueText(`${uri} ${text}`),
  }));
  return query === undefined
    ? [
        { type: "server_tool_use", id, name: "web_fetch", input: { url: sources[0]?.uri ?? "" } },
        { type: "web_fetch_tool_result", tool_use_id: id, content: fetched[0] },
        { type: "text", text },
      ]
    : [
        { type: "server_tool_use", id, name: "web_search", input: { query } },
        { type: "web_search_tool_result", tool_use_id: id, content: results },
        { type: "text", text, citations },
      ];
};

const opaqueText = (text: string): string => Buffer.from(digest(text)).toString("base64");

/** The events of one block: start with an empty block, deltas, stop. */
const blockEvents = (block: Json): readonly (Json & { readonly type: string })[] => {
  const { type } = block;
  const [empty, filling] = splitBlock(block, asText(type));
  return [
    { type: "content_block_start", content_block: empty },
    ...filling.map((delta) => ({ type: "content_block_delta", delta })),
    { type: "content_block_stop" },
  ];
};

const splitBlock = (block: Json, type: string): readonly [Json, readonly Json[]] => {
  switch (type) {
    case "text":
      return [
        { type, text: "", ...("citations" in block ? { citations: [] } : {}) },
        [
          ...asArray(block["citations"]).map((citation) => ({ type: "citations_delta", citation })),
          ...splitIntoDeltas(asText(block["text"])).map((text) => ({ type: "text_delta", text })),
        ],
      ];
    case "thinking":
      return [
        { type, thinking: "", signature: "" },
        [
          ...splitIntoDeltas(asText(block["thinking"])).map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: block["signature"] },
        ],
      ];
    case "tool_use":
    case "server_tool_use":
      return [
        { ...block, input: {} },
        ["", ...inputPieces(block["input"])].map((json) => ({ type: "input_json_delta", partial_json: json })),
      ];
    default:
      return [block, []];
  }
};

/** A call without arguments sends no JSON at all, not even `{}`. */
const inputPieces = (input: unknown): readonly string[] => {
  const json = JSON.stringify(input ?? {});
  return json === "{}" ? [] : splitBySize(json, 12);
};
