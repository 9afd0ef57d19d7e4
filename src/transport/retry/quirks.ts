import type { Quirk } from "../../providers/quirks.ts";
import type { ApiError } from "../../wire/decode/events.ts";
import type { WireId } from "../../wire/wire.ts";

/** Returns the quirk of an endpoint that an error response reveals, if it is one of the errors we can adapt to. */
export const quirkFromError = ({ message, code = "", param = "" }: ApiError, wire: WireId): Quirk | undefined => {
  // Some servers name the field in the message, others beside it.
  const complaint = param === "" ? message : `${param}: ${message}`;
  return quirkRules.find(
    ({ wires, sentences, codes }) =>
      (wires === undefined || wires.includes(wire)) &&
      (sentences.some((sentence) => sentence.test(complaint)) || (codes?.test(code) ?? false)),
  )?.quirk;
};

/** The message shown when a request is adapted to a quirk. */
export const quirkMessages: Readonly<Record<Quirk, string>> = {
  unsealed: "Rejects the encrypted thinking of earlier responses; sent without it.",
  "media-after": "Accepts no files in tool results; sent in a message after the results.",
  "alternate-roles": "Requires alternating roles; neighbouring messages of one role are merged.",
  "no-reasoning": "Rejects the reasoning field; sent without it.",
  "reasoning-demanded": "Requires reasoning in every assistant message; sent as a blank where there is none.",
  "no-effort": "Rejects the reasoning effort; sent without it.",
  "no-effort-with-tools": "Rejects the reasoning effort together with tools; sent without it.",
  "effort-none-with-tools": "Calls tools only with reasoning effort none; sent with none.",
  "max-tokens": "Expects max_tokens; renamed.",
  "max-completion-tokens": "Expects max_completion_tokens; renamed.",
  "no-stream-options": "Rejects stream_options; sent without it.",
  "no-sampling": "Rejects sampling parameters such as temperature; sent without them.",
  "short-answers": "Accepts at most 4,096 output tokens; lowered.",
  "no-thought-summaries": "Rejects thought summaries; sent without them, so none are shown.",
};

type QuirkRule = {
  readonly quirk: Quirk;
  readonly wires?: readonly WireId[];
  readonly sentences: readonly RegExp[];
  readonly codes?: RegExp;
};

const chat: readonly WireId[] = ["openai-chat"];

const quirkRules: readonly QuirkRule[] = [
  {
    quirk: "no-thought-summaries",
    wires: ["gemini", "anthropic", "bedrock", "openai-responses"],
    sentences: [
      // OpenAI: an unverified organisation, and models without summaries.
      /must be verified to generate reasoning summaries/i,
      /reasoning\.summary/i,
      // Google.
      /include_?thoughts is only enabled when thinking is enabled/i,
      /thinking is not (enabled|supported) (for|by)/i,
      // Anthropic, also behind Amazon.
      /thinking\.(\w+\.)?display: extra inputs are not permitted/i,
    ],
  },
  // OpenAI, and servers that pass its messages on.
  {
    quirk: "effort-none-with-tools",
    wires: chat,
    sentences: [/tools with reasoning_effort are not supported.*set reasoning_effort to 'none'/i],
  },
  {
    quirk: "no-effort-with-tools",
    wires: chat,
    sentences: [/tools with reasoning_effort are not supported/i],
  },
  {
    quirk: "no-effort",
    wires: ["openai-chat", "openai-responses"],
    sentences: [
      // xAI.
      /does not support parameter reasoning_?effort/i,
      // OpenAI, Azure, and servers that copy them.
      /(unsupported|unknown|unrecognized|extra|not permitted).{0,80}reasoning[._]effort\b/i,
      /reasoning[._]effort\b.{0,60}(unsupported|not supported|not permitted|unknown|unrecognized|must be one of)/i,
    ],
  },
  {
    quirk: "unsealed",
    sentences: [
      // OpenAI, and servers that pass its messages on.
      /encrypted content .*could not be (verified|decrypted)/i,
      /was provided without its required/i,
      /items are not persisted when `?store/i,
      // xAI.
      /could not (decrypt the provided encrypted_content|decode the compaction blob)/i,
      // Anthropic, also behind Amazon and OpenRouter.
      /invalid `?signature`? in `?thinking/i,
      /thinking\.signature: field required/i,
      /blocks in the latest assistant message cannot be modified/i,
      // Google.
      /(invalid|corrupted) thought.?signature/i,
      /thought_signature' \(TYPE_BYTES\), Base64 decoding failed/i,
      // Amazon.
      /doesn't support the reasoningcontent\S*signature/i,
    ],
    codes: /invalid_encrypted_content/,
  },
  {
    quirk: "media-after",
    sentences: [
      // Google.
      /function_response\.parts|multimodal function responses/i,
      // OpenAI's older API, and its imitators.
      /image.{0,60}\b(tool|function)\b.{0,40}(not|only|unsupported|invalid)/i,
      /(tool|function).{0,60}(does not|doesn't|cannot|only|not).{0,40}(image|media|multimodal|text)/i,
      /(image|file)_?(url)?.{0,40}(only|not).{0,40}(user|tool)/i,
      // Groq.
      /role:tool.*must be a string/i,
      // Amazon.
      /toolresult.{0,60}(image|document|video)|extraneous key \[toolresult\]/i,
      /doesn't support the (image|document|video) content block/i,
    ],
  },
  {
    quirk: "alternate-roles",
    wires: ["anthropic", "openai-chat", "openai-responses"],
    sentences: [
      // Amazon behind a gateway, Anthropic's older versions, Perplexity, and the templates of open models.
      /(conversation|roles|messages?\(s\)) (must|should) alternate/i,
      // DeepSeek.
      /does not support successive user or assistant messages/i,
    ],
  },
  {
    quirk: "reasoning-demanded",
    wires: chat,
    sentences: [
      /reasoning_content.{0,80}(must be passed|is missing|required|must not be empty)|must be passed back/i,
      /missing ['"`]?reasoning_content/i,
    ],
  },
  {
    quirk: "no-reasoning",
    wires: chat,
    sentences: [
      /reasoning(_content|_details)?['"`]?:? .{0,60}(unsupported|not supported|not permitted|unknown|unrecognized)/i,
      /(unsupported|unknown|unrecognized|extra|additional).{0,80}['"`.]reasoning(_content|_details)?\b/i,
    ],
  },
  { quirk: "max-completion-tokens", wires: chat, sentences: [/max_tokens.{0,80}max_completion_tokens/i] },
  {
    quirk: "max-tokens",
    wires: chat,
    sentences: [
      /(unsupported|unknown|unrecognized|extra|not permitted|not supported).{0,80}max_completion_tokens/i,
      /max_completion_tokens.{0,60}(unsupported|unknown|unrecognized|extra|not permitted|not supported)/i,
    ],
  },
  {
    quirk: "short-answers",
    wires: ["anthropic"],
    sentences: [
      /max_tokens: \d+ > \d+, which is the maximum allowed number of output tokens/i,
      /input length and `max_tokens` exceed context limit/i,
    ],
  },
  { quirk: "no-stream-options", wires: chat, sentences: [/stream_options/i] },
  {
    quirk: "no-sampling",
    sentences: [
      /temperature.{0,60}(unsupported|not support|deprecated|not permitted|does not)/i,
      /(unsupported|unknown|unrecognized|extra|doesn't support).{0,60}temperature/i,
      // Moonshot.
      /invalid temperature: only \S+ is allowed/i,
    ],
  },
];
