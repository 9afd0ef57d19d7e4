import type { Json, SimResponse, SimResponsePart } from "../family.ts";
import { callDetail, encodeDetails } from "./reasoning-details.ts";
import { createdSeconds, pseudoRandomHex } from "./ids.ts";
import type { ChatSimRequest, SimChatCall, ChatFinish } from "./quirks.ts";
import { nativeFinish } from "./upstream.ts";

/** A part of a response in this API's terms. Content a vendor cannot express has no part. */
export type ChatResponsePart =
  | { readonly type: "think"; readonly text: string; readonly index: number; readonly part: ChatThinkPart }
  | { readonly type: "say" | "refuse"; readonly text: string }
  | { readonly type: "call"; readonly call: SimChatCall; readonly detail: Json | undefined }
  | { readonly type: "note"; readonly fields: Json };

type ChatThinkPart = Extract<SimResponsePart, { type: "think" }>;

/** Converts a response to the parts of this API. */
export const responseParts = (response: SimResponse, request: ChatSimRequest): readonly ChatResponsePart[] => {
  const { quirks } = request.provider;
  const encoded: ChatResponsePart[] = [];
  let [thoughts, calls, written] = [0, 0, 0];
  for (const part of response.parts) {
    switch (part.type) {
      case "think":
        if (quirks.reasoning !== "hidden") encoded.push({ type: "think", text: part.text, index: thoughts++, part });
        break;
      case "say":
        encoded.push({
          type: response.finish === "refused" && quirks.refusalField ? "refuse" : "say",
          text: part.text,
        });
        written += part.text.length;
        break;
      case "call": {
        const call = encodeCall(part, calls++, { request, isBroken: response.finish === "malformed" });
        encoded.push({ type: "call", call, detail: call.index === 0 ? callDetail(part, call.id, request) : undefined });
        break;
      }
      case "cite":
        encoded.push({ type: "say", text: part.text });
        if (quirks.hasAnnotations) encoded.push({ type: "note", fields: { annotations: citations(part, written) } });
        written += part.text.length;
        break;
      case "file":
        encoded.push(...encodeFile(part, request));
    }
  }
  return encoded;
};

/** The finish reason of a response, in the vendor's terms. */
export const finishOf = ({ finish, parts }: SimResponse, request: ChatSimRequest): ChatFinish => {
  const calls = parts.some(({ type }) => type === "call");
  const usual = finish === "malformed" && calls ? "tool_calls" : finishReasons[finish];
  const reason = request.provider.quirks.finishReasons[finish] ?? usual;
  return { reason, native: nativeFinish(finish, reason, request.model) };
};

const finishReasons: { readonly [finish in SimResponse["finish"]]: string } = {
  stop: "stop",
  calls: "tool_calls",
  length: "length",
  filtered: "content_filter",
  refused: "stop",
  paused: "stop",
  malformed: "stop",
  context: "length",
};

const encodeCall = (
  { tool, input }: Extract<SimResponsePart, { type: "call" }>,
  index: number,
  { request, isBroken }: { readonly request: ChatSimRequest; readonly isBroken: boolean },
): SimChatCall => {
  const json = JSON.stringify(input ?? {});
  // A malformed call has truncated arguments.
  const given = isBroken ? json.slice(0, Math.ceil(json.length / 2)) : json;
  return { index, id: request.provider.quirks.callId({ index, tool }, request), name: tool, arguments: given };
};

const citations = ({ text, sources }: Extract<SimResponsePart, { type: "cite" }>, from: number): readonly Json[] =>
  sources.map(({ title, uri }) => ({
    type: "url_citation",
    url_citation: { start_index: from, end_index: from + text.length, title, url: uri },
  }));

const encodeFile = (
  { mimeType, data }: Extract<SimResponsePart, { type: "file" }>,
  request: ChatSimRequest,
): readonly Extract<ChatResponsePart, { type: "note" }>[] => {
  const { generates } = request.provider.quirks;
  if (!mimeType.startsWith(`${generates}/`)) return [];
  if (generates === "audio") {
    const id = `audio_${pseudoRandomHex(request, "audio", 32)}`;
    const audio = { id, data, expires_at: createdSeconds(request) + 3600, transcript: "" };
    return [{ type: "note", fields: { audio } }];
  }
  const image = { type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` }, index: 0 };
  return [{ type: "note", fields: { images: [image] } }];
};

/** The `reasoning_details` of a thinking part or a call. */
export const reasoningDetailsFor = (part: ChatResponsePart, request: ChatSimRequest): readonly Json[] => {
  if (request.provider.quirks.reasoning !== "details") return [];
  if (part.type === "think") return encodeDetails(part.part, part.index, request);
  return part.type === "call" && part.detail !== undefined ? [part.detail] : [];
};
