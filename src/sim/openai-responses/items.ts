import type { Json, SimResponse, SimResponsePart } from "../family.ts";
import { asArray, asObject, asText } from "../json.ts";
import type { ReplyPart } from "../model/types.ts";
import { makeCallId, makeId, type ItemPosition } from "./ids.ts";
import type { ResponsesSimRequest } from "./providers.ts";
import { encrypt } from "./seals.ts";

/** An item of an answer, finished. `part` of a message is its one content part. */
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
  | { readonly kind: "picture"; readonly id: string; readonly data: string; readonly format: string };

/** The items of an answer. Of a cut one the last item is incomplete. */
export const itemsOf = (spoken: SimResponse, ask: ResponsesSimRequest): readonly OutputItem[] => {
  const isCut = spoken.finish === "length" || spoken.finish === "filtered";
  const lastCall = spoken.parts.findLastIndex(({ type }) => type === "call");
  return spoken.parts.flatMap((part, place) =>
    itemsFor(part, {
      ask,
      at: { position: place, ...reasoningBefore(spoken.parts, place) },
      isCut: isCut && place === spoken.parts.length - 1,
      isRefusal: spoken.finish === "refused",
      phase: place < lastCall ? "commentary" : "final_answer",
    }),
  );
};

/** A thought leads to all that follows it, up to the next one. */
const reasoningBefore = (parts: readonly SimResponsePart[], place: number): { readonly thought?: number } => {
  const thought = parts.slice(0, place).findLastIndex(({ type }) => type === "think");
  return thought === -1 ? {} : { thought };
};

type ItemContext = {
  readonly ask: ResponsesSimRequest;
  readonly at: ItemPosition;
  readonly isCut: boolean;
  readonly isRefusal: boolean;
  readonly phase: string;
};

const itemsFor = (part: SimResponsePart, { ask, at, isCut, isRefusal, phase }: ItemContext): readonly OutputItem[] => {
  const message = (text: string, annotations: readonly Json[]): OutputItem => ({
    kind: "message",
    id: makeId(ask, "msg_", at),
    text,
    isRefusal,
    phase: hasPhase(ask) ? phase : undefined,
    annotations,
    isCut,
  });
  switch (part.type) {
    case "think":
      return [reasoning(part.text, part.seal, { ask, place: at.position })];
    case "say":
      return [message(part.text, [])];
    case "call": {
      const text = JSON.stringify(part.input) ?? "{}";
      const id = makeId(ask, "fc_", at);
      return [{ kind: "call", id, callId: makeCallId(ask, at.position), name: part.tool, text, isCut }];
    }
    case "cite":
      return [...searchFor(part, ask, at), message(part.text, citationsOf(part))];
    case "file": {
      const format = /^image\/(\w+)$/.exec(part.mimeType)?.[1];
      return format === undefined ? [] : [{ kind: "picture", id: makeId(ask, "ig_", at), data: part.data, format }];
    }
  }
};

/** From gpt-5.3 on a message says whether it is the answer. */
const hasPhase = ({ model, provider }: ResponsesSimRequest): boolean =>
  provider.quirks.vendor !== "xai" && /^gpt-(5\.[3-9]|[6-9])/.test(model);

/** What was thought stays sealed. A summary is given to those who ask for one, the seal to those who ask for that. */
const reasoning = (
  text: string,
  seal: string,
  { ask, place }: { readonly ask: ResponsesSimRequest; readonly place: number },
): OutputItem => {
  const { body, provider } = ask;
  const id = makeId(ask, "rs_", { position: place });
  const isAsked = provider.quirks.alwaysSummarizes || asText(asObject(body["reasoning"])["summary"]) !== "";
  const isSealed = asArray(body["include"]).includes("reasoning.encrypted_content");
  return {
    kind: "reasoning",
    id,
    summary: isAsked ? text.split(/\n\n(?=\*\*)/) : [],
    ...(isSealed ? { sealed: encrypt(seal, id, ask) } : {}),
  };
};

type ResponsesCitation = Extract<ReplyPart, { type: "cite" }>;

const searchFor = (
  { query, sources }: ResponsesCitation,
  ask: ResponsesSimRequest,
  at: ItemPosition,
): readonly OutputItem[] => {
  if (query === undefined) return [];
  const isAsked = asArray(ask.body["include"]).includes("web_search_call.action.sources");
  const shown = isAsked ? sources.map(({ uri }) => ({ type: "url", url: uri })) : [];
  return [{ kind: "search", id: makeId(ask, "ws_", at), query, sources: shown }];
};

const citationsOf = ({ text, sources }: ResponsesCitation): readonly Json[] =>
  sources.map(({ title, uri }) => ({ type: "url_citation", end_index: text.length, start_index: 0, title, url: uri }));

/** An item as it stands in the output once it is done. */
export const itemJson = (item: OutputItem, ask: ResponsesSimRequest): Json =>
  ask.provider.quirks.vendor === "xai" ? xaiOrder(doneJson(item)) : doneJson(item);

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
    case "picture":
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

/** An item as it is announced, before anything of it is said. Its sealed thought is not whole yet. */
export const addedItemJson = (item: OutputItem, ask: ResponsesSimRequest): Json => {
  const { vendor: manner } = ask.provider.quirks;
  const json = pendingJson(item, manner !== "xai");
  return manner === "xai" ? xaiOrder({ ...json, status: "in_progress" }) : json;
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
    case "picture":
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

/** Arguments as far as they came: a cut call is cut in its arguments. */
export const argumentsOf = ({ text, isCut }: Extract<OutputItem, { kind: "call" }>): string =>
  isCut ? text.slice(0, Math.floor(text.length / 2)) : text;

/** One part of a summary. */
export const summaryPart = (text: string): Json => ({ type: "summary_text", text });

/** The content part of a message with as much of its text as was said. */
export const contentPart = (item: Extract<OutputItem, { kind: "message" }>, text: string): Json =>
  item.isRefusal
    ? { type: "refusal", refusal: text }
    : { type: "output_text", annotations: text === "" ? [] : item.annotations, logprobs: [], text };

/** xAI writes the state of every item, and what kind it is towards the end. */
const xaiOrder = ({ id, type, status = "completed", encrypted_content: sealed, ...rest }: Json): Json => ({
  id,
  ...rest,
  type,
  status,
  ...(sealed === undefined ? {} : { encrypted_content: sealed }),
});
