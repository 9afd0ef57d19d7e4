import type { Json, SimResponse, SimResponsePart } from "../family.ts";
import { asArray, asObject, asText } from "../json.ts";
import type { ReplyPart } from "../model/types.ts";
import { makeCallId, makeId, type ItemPosition } from "./ids.ts";
import type { ResponsesSimRequest } from "./providers.ts";
import { encrypt } from "./seals.ts";

/** A complete item of a response. */
export type OutputItem =
  | { readonly kind: "reasoning"; readonly id: string; readonly summary: readonly string[]; readonly sealed?: string }
  | {
      readonly kind: "message";
      readonly id: string;
      readonly text: string;
      readonly isRefusal: boolean;
      readonly phase: string | undefined;
      readonly annotations: readonly Json[];
      readonly isCut: boolean;
    }
  | {
      readonly kind: "call";
      readonly id: string;
      readonly callId: string;
      readonly name: string;
      readonly text: string;
      readonly isCut: boolean;
    }
  | { readonly kind: "search"; readonly id: string; readonly query: string; readonly sources: readonly Json[] }
  | { readonly kind: "image"; readonly id: string; readonly data: string; readonly format: string };

/** The items of a response. The last item of a truncated response is incomplete. */
export const itemsOf = (response: SimResponse, request: ResponsesSimRequest): readonly OutputItem[] => {
  const isCut = response.finish === "length" || response.finish === "filtered";
  const lastCall = response.parts.findLastIndex(({ type }) => type === "call");
  return response.parts.flatMap((part, place) =>
    itemsFor(part, {
      request,
      at: { position: place, ...reasoningBefore(response.parts, place) },
      isCut: isCut && place === response.parts.length - 1,
      isRefusal: response.finish === "refused",
      phase: place < lastCall ? "commentary" : "final_answer",
    }),
  );
};

/** Reasoning belongs to all items after it, up to the next reasoning. */
const reasoningBefore = (parts: readonly SimResponsePart[], position: number): Pick<ItemPosition, "reasoning"> => {
  const reasoning = parts.slice(0, position).findLastIndex(({ type }) => type === "think");
  return reasoning === -1 ? {} : { reasoning };
};

type ItemContext = {
  readonly request: ResponsesSimRequest;
  readonly at: ItemPosition;
  readonly isCut: boolean;
  readonly isRefusal: boolean;
  readonly phase: string;
};

const itemsFor = (
  part: SimResponsePart,
  { request, at, isCut, isRefusal, phase }: ItemContext,
): readonly OutputItem[] => {
  const message = (text: string, annotations: readonly Json[]): OutputItem => ({
    kind: "message",
    id: makeId(request, "msg_", at),
    text,
    isRefusal,
    phase: hasPhase(request) ? phase : undefined,
    annotations,
    isCut,
  });
  switch (part.type) {
    case "think":
      return [reasoning(part.text, part.seal, { request, place: at.position })];
    case "say":
      return [message(part.text, [])];
    case "call": {
      const text = JSON.stringify(part.input) ?? "{}";
      const id = makeId(request, "fc_", at);
      return [{ kind: "call", id, callId: makeCallId(request, at.position), name: part.tool, text, isCut }];
    }
    case "cite":
      return [...searchFor(part, request, at), message(part.text, citationsOf(part))];
    case "file": {
      const format = /^image\/(\w+)$/.exec(part.mimeType)?.[1];
      return format === undefined ? [] : [{ kind: "image", id: makeId(request, "ig_", at), data: part.data, format }];
    }
  }
};

/** From gpt-5.3 on, messages have a phase. */
const hasPhase = ({ model, provider }: ResponsesSimRequest): boolean =>
  provider.quirks.vendor !== "xai" && /^gpt-(5\.[3-9]|[6-9])/.test(model);

/** Creates a reasoning item. Its summary and its encrypted content are included only on request. */
const reasoning = (
  text: string,
  seal: string,
  { request, place }: { readonly request: ResponsesSimRequest; readonly place: number },
): OutputItem => {
  const { body, provider } = request;
  const id = makeId(request, "rs_", { position: place });
  const isAsked = provider.quirks.alwaysSummarizes || asText(asObject(body["reasoning"])["summary"]) !== "";
  const isSealed = asArray(body["include"]).includes("reasoning.encrypted_content");
  return {
    kind: "reasoning",
    id,
    summary: isAsked ? text.split(/\n\n(?=\*\*)/) : [],
    ...(isSealed ? { sealed: encrypt(seal, id, request) } : {}),
  };
};

type ResponsesCitation = Extract<ReplyPart, { type: "cite" }>;

const searchFor = (
  { query, sources }: ResponsesCitation,
  request: ResponsesSimRequest,
  at: ItemPosition,
): readonly OutputItem[] => {
  if (query === undefined) return [];
  const isAsked = asArray(request.body["include"]).includes("web_search_call.action.sources");
  const shown = isAsked ? sources.map(({ uri }) => ({ type: "url", url: uri })) : [];
  return [{ kind: "search", id: makeId(request, "ws_", at), query, sources: shown }];
};

const citationsOf = ({ text, sources }: ResponsesCitation): readonly Json[] =>
  sources.map(({ title, uri }) => ({ type: "url_citation", end_index: text.length, start_index: 0, title, url: uri }));

/** Encodes a finished item. */
export const itemJson = (item: OutputItem, request: ResponsesSimRequest): Json =>
  request.provider.quirks.vendor === "xai" ? xaiOrder(doneJson(item)) : doneJson(item);

const doneJson = (item: OutputItem): Json => {
  switch (item.kind) {
    case "reasoning":
      return {
        id: item.id,
        type: "reasoning",
        ...(item.sealed === undefined ? {} : { encrypted_content: item.sealed }),
        summary: item.summary.map(summaryPart),
      };
    case "message":
      return { ...messageJson(item, statusOf(item)), content: [contentPart(item, item.text)] };
    case "call":
      return callJson(item, statusOf(item), argumentsOf(item));
    case "search":
      return {
        id: item.id,
        type: "web_search_call",
        status: "completed",
        action: {
          type: "search",
          queries: [item.query],
          query: item.query,
          ...(item.sources.length === 0 ? {} : { sources: item.sources }),
        },
      };
    case "image":
      return {
        id: item.id,
        type: "image_generation_call",
        status: "completed",
        background: "opaque",
        output_format: item.format,
        quality: "high",
        result: item.data,
        size: "1024x1024",
      };
  }
};

/** Encodes an item in the `added` event, before its content. Its encrypted content is still partial. */
export const addedItemJson = (item: OutputItem, request: ResponsesSimRequest): Json => {
  const { vendor } = request.provider.quirks;
  const json = pendingJson(item, vendor !== "xai");
  return vendor === "xai" ? xaiOrder({ ...json, status: "in_progress" }) : json;
};

const pendingJson = (item: OutputItem, showsSeal: boolean): Json => {
  switch (item.kind) {
    case "reasoning":
      return {
        id: item.id,
        type: "reasoning",
        ...(item.sealed === undefined || !showsSeal
          ? {}
          : { encrypted_content: item.sealed.slice(0, item.sealed.length / 2) }),
        summary: [],
      };
    case "message":
      return messageJson(item, "in_progress");
    case "call":
      return callJson(item, "in_progress", "");
    case "search":
      return { id: item.id, type: "web_search_call", status: "in_progress" };
    case "image":
      return { id: item.id, type: "image_generation_call", status: "in_progress" };
  }
};

const statusOf = ({ isCut }: { readonly isCut: boolean }): string => (isCut ? "incomplete" : "completed");

const messageJson = (item: Extract<OutputItem, { kind: "message" }>, status: string): Json => ({
  id: item.id,
  type: "message",
  status,
  content: [],
  ...(item.phase === undefined ? {} : { phase: item.phase }),
  role: "assistant",
});

const callJson = (item: Extract<OutputItem, { kind: "call" }>, status: string, text: string): Json => ({
  id: item.id,
  type: "function_call",
  status,
  arguments: text,
  call_id: item.callId,
  name: item.name,
});

/** The arguments of a call; a truncated call has truncated arguments. */
export const argumentsOf = ({ text, isCut }: Extract<OutputItem, { kind: "call" }>): string =>
  isCut ? text.slice(0, Math.floor(text.length / 2)) : text;

/** One part of a summary. */
export const summaryPart = (text: string): Json => ({ type: "summary_text", text });

/** The content part of a message with the text so far. */
export const contentPart = (item: Extract<OutputItem, { kind: "message" }>, text: string): Json =>
  item.isRefusal
    ? { type: "refusal", refusal: text }
    : { type: "output_text", annotations: text === "" ? [] : item.annotations, logprobs: [], text };

/** xAI's field order: every item has a status, and its type comes late. */
const xaiOrder = ({ id, type, status = "completed", encrypted_content: sealed, ...rest }: Json): Json => ({
  id,
  ...rest,
  type,
  status,
  ...(sealed === undefined ? {} : { encrypted_content: sealed }),
});
