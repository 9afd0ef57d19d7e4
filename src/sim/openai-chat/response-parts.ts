import type { Json, SimResponse, SimResponsePart } from "../family.ts";
import { callDetail, encodeDetails } from "./reasoning-details.ts";
import { createdSeconds, pseudoRandomHex } from "./ids.ts";
import type { ChatSimRequest, SimChatCall, ChatFinish } from "./quirks.ts";
import { nativeFinish } from "./upstream.ts";

/** A part of an answer as this API writes it. Where a vendor has no place for something, there is no part. */
export type ChatResponsePart =
  | { readonly type: "think"; readonly text: string; readonly index: number; readonly part: ChatThinkPart }
  | { readonly type: "say" | "refuse"; readonly text: string }
  | { readonly type: "call"; readonly call: SimChatCall; readonly detail: Json | undefined }
  | { readonly type: "note"; readonly fields: Json };

type ChatThinkPart = Extract<SimResponsePart, { type: "think" }>;

/** An answer, part by part. */
export const responseParts = (spoken: SimResponse, ask: ChatSimRequest): readonly ChatResponsePart[] => {
  const { quirks } = ask.provider;
  const said: ChatResponsePart[] = [];
  let [thoughts, calls, written] = [0, 0, 0];
  for (const part of spoken.parts) {
    switch (part.type) {
      case "think":
        if (quirks.reasoning !== "hidden") said.push({ type: "think", text: part.text, index: thoughts++, part });
        break;
      case "say":
        said.push({ type: spoken.finish === "refused" && quirks.refusalField ? "refuse" : "say", text: part.text });
        written += part.text.length;
        break;
      case "call": {
        const call = encodeCall(part, calls++, { ask, isBroken: spoken.finish === "malformed" });
        said.push({ type: "call", call, detail: call.index === 0 ? callDetail(part, call.id, ask) : undefined });
        break;
      }
      case "cite":
        said.push({ type: "say", text: part.text });
        if (quirks.hasAnnotations) said.push({ type: "note", fields: { annotations: citations(part, written) } });
        written += part.text.length;
        break;
      case "file":
        said.push(...encodeFile(part, ask));
    }
  }
  return said;
};

/** How the answer ended, in the vendor's word. */
export const finishOf = ({ finish, parts }: SimResponse, ask: ChatSimRequest): ChatFinish => {
  const calls = parts.some(({ type }) => type === "call");
  const usual = finish === "malformed" && calls ? "tool_calls" : finishReasons[finish];
  const reason = ask.provider.quirks.finishReasons[finish] ?? usual;
  return { reason, native: nativeFinish(finish, reason, ask.model) };
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
  { ask, isBroken }: { readonly ask: ChatSimRequest; readonly isBroken: boolean },
): SimChatCall => {
  const json = JSON.stringify(input ?? {});
  // A model that fails at a call leaves its arguments unfinished.
  const given = isBroken ? json.slice(0, Math.ceil(json.length / 2)) : json;
  return { index, id: ask.provider.quirks.callId({ index, tool }, ask), name: tool, arguments: given };
};

const citations = ({ text, sources }: Extract<SimResponsePart, { type: "cite" }>, from: number): readonly Json[] =>
  sources.map(({ title, uri }) => ({
    type: "url_citation",
    url_citation: { start_index: from, end_index: from + text.length, title, url: uri },
  }));

const encodeFile = (
  { mimeType, data }: Extract<SimResponsePart, { type: "file" }>,
  ask: ChatSimRequest,
): readonly Extract<ChatResponsePart, { type: "note" }>[] => {
  const { generates: makes } = ask.provider.quirks;
  if (!mimeType.startsWith(`${makes}/`)) return [];
  if (makes === "audio") {
    const id = `audio_${pseudoRandomHex(ask, "audio", 32)}`;
    const audio = { id, data, expires_at: createdSeconds(ask) + 3600, transcript: "" };
    return [{ type: "note", fields: { audio } }];
  }
  const image = { type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` }, index: 0 };
  return [{ type: "note", fields: { images: [image] } }];
};

/** The sealed list that goes beside a thought or a call. */
export const reasoningDetailsFor = (said: ChatResponsePart, ask: ChatSimRequest): readonly Json[] => {
  if (ask.provider.quirks.reasoning !== "details") return [];
  if (said.type === "think") return encodeDetails(said.part, said.index, ask);
  return said.type === "call" && said.detail !== undefined ? [said.detail] : [];
};
