import type { SimFamily, Json, SealUse, SimResponsePart } from "../family.ts";
import { asArray, asObject, asText } from "../json.ts";
import { pseudoRandomLetters } from "./ids.ts";
import { unitsBefore } from "./prompt.ts";
import type { ChatSimRequest, ChatQuirks } from "./quirks.ts";
import { upstreamOf, type Upstream } from "./upstream.ts";

type ThinkPart = Extract<SimResponsePart, { type: "think" }>;
type CallPart = Extract<SimResponsePart, { type: "call" }>;

/** Encodes thinking as `reasoning_details`: the text and its seal. */
export const encodeDetails = (thought: ThinkPart, index: number, request: ChatSimRequest): readonly Json[] => {
  const upstream = upstreamOf(request.model);
  switch (upstream) {
    case "anthropic":
      return [{ ...textDetail(thought.text, index, upstream), signature: thought.seal }];
    case "openai":
      return [textDetail(thought.text, index, upstream), encryptedDetail(thought, index, request)];
    case "google":
    case "other":
      return [textDetail(thought.text, index, upstream)];
  }
};

/** Encodes thinking as deltas of `reasoning_details`; the seal follows the text. */
export const encodeDetailDeltas = (
  thought: ThinkPart,
  {
    pieces,
    index,
    request,
  }: { readonly pieces: readonly string[]; readonly index: number; readonly request: ChatSimRequest },
): readonly { readonly text: string | null; readonly detail: Json }[] => {
  const upstream = upstreamOf(request.model);
  const words = pieces.map((text) => ({ text, detail: textDetail(text, index, upstream) }));
  if (upstream === "openai") return [...words, { text: null, detail: encryptedDetail(thought, index, request) }];
  if (upstream !== "anthropic") return words;
  const { type, format } = textDetail("", index, upstream);
  return [...words, { text: null, detail: { type, signature: thought.seal, format, index } }];
};

/** The seal that Google attaches to the first call of a response. Other upstreams seal thinking, not calls. */
export const callDetail = (call: CallPart, id: string, request: ChatSimRequest): Json | undefined =>
  upstreamOf(request.model) === "google"
    ? { type: "reasoning.encrypted", data: call.seal, id, format: formats.google, index: 0 }
    : undefined;

const formats: { readonly [upstream in Upstream]: string } = {
  anthropic: "anthropic-claude-v1",
  openai: "openai-responses-v1",
  google: "google-gemini-v1",
  other: "unknown",
};

const textDetail = (text: string, index: number, upstream: Upstream): Json =>
  upstream === "openai"
    ? { type: "reasoning.summary", summary: text, format: formats.openai, index }
    : { type: "reasoning.text", text, format: formats[upstream], index };

const encryptedDetail = (thought: ThinkPart, index: number, request: ChatSimRequest): Json => ({
  type: "reasoning.encrypted",
  data: thought.seal,
  id: `rs_${pseudoRandomLetters(request, `thought ${index}`, 32)}`,
  format: formats.openai,
  index,
});

/**
 * Finds every seal in the `reasoning_details` of a request. Claude's thinking without a signature counts as an empty
 * seal.
 */
export const findSeals = (request: ChatSimRequest): readonly SealUse[] => {
  if (request.provider.quirks.reasoning !== "details") return [];
  const before = unitsBefore(request);
  return asArray(request.body["messages"]).flatMap((message, at) =>
    asArray(asObject(message)["reasoning_details"]).flatMap((item, index): readonly SealUse[] => {
      const { type, text, signature, data, format } = asObject(item);
      const place = { pointer: `/messages/${at}/reasoning_details/${index}`, unitsBefore: before[at] ?? 0 };
      if (type === "reasoning.encrypted") return [{ ...place, value: asText(data) }];
      if (type !== "reasoning.text") return [];
      if (asText(signature) === "" && format !== formats.anthropic) return [];
      return [{ ...place, value: asText(signature), text: asText(text) }];
    }),
  );
};

/**
 * Decides what the upstream does with a seal that is not genuine. Only the newest Claude models check the prompt before
 * it.
 */
export const judgeSeal: SimFamily<ChatQuirks>["judgeSeal"] = (use, verdict, request) => {
  if (verdict === "prefix" && !bindsThoughts.test(request.model)) return "accepted";
  const [, message = ""] = /^\/messages\/(\d+)/.exec(use.pointer) ?? [];
  return {
    status: 400,
    kind: "bad-request",
    message: upstreamMessage(use, { message, isBound: verdict === "prefix", upstream: upstreamOf(request.model) }),
    pointer: use.pointer,
  };
};

/** From Fable 5.1 on, thinking is bound to its exact conversation. */
const bindsThoughts = /^anthropic\/claude-[a-z]+-(5[.-][1-9]|[6-9])/;

const upstreamMessage = (
  { value }: SealUse,
  { message, isBound, upstream }: { readonly message: string; readonly isBound: boolean; readonly upstream: Upstream },
): string => {
  switch (upstream) {
    case "anthropic": {
      const block = `messages.${message}.content.0`;
      if (value === "") return `${block}.thinking.signature: Field required`;
      const sentence = `${block}: Invalid \`signature\` in \`thinking\` block`;
      return isBound
        ? `${sentence}. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`
        : sentence;
    }
    case "openai":
      return `The encrypted content ${value.slice(0, 8)}... could not be verified. Reason: Encrypted content could not be decrypted or parsed.`;
    case "google":
      return "Corrupted thought signature.";
    case "other":
      return "Invalid `reasoning_details`.";
  }
};
