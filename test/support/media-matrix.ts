import { call, done, text } from "../../src/conversation/builders.ts";
import type { Conversation } from "../../src/conversation/entry.ts";
import { Ledger } from "../../src/conversation/ledger.ts";
import { mediaAt, storeBytes } from "../../src/conversation/media.ts";
import type { Media, MediaKind } from "../../src/conversation/parts.ts";
import { destinationOf, findProvider } from "../../src/providers/find.ts";
import { render } from "../../src/transcript/render.ts";
import type { Transcript } from "../../src/transcript/step.ts";

/** How a file reaches a model: inside the result, after the batch, or only by name. */
export type Delivery = "inside" | "after" | "named";

/** The models whose rows the matrix shows: every provider's default, and the families that differ. */
export const rows: readonly string[] = [
  "google/gemini-3.8-flash",
  "google/gemini-2.5-flash",
  "vertex/gemini-3.8-flash",
  "code-assist/gemini-3.8-flash",
  "anthropic/claude-sonnet-5",
  "bedrock/us.anthropic.claude-sonnet-5-v1:0",
  "bedrock/us.amazon.nova-2-lite-v1:0",
  "bedrock/us.meta.llama4-maverick-17b-instruct-v1:0",
  "bedrock/mistral.pixtral-large-2502-v1:0",
  "bedrock/writer.palmyra-x5-v1:0",
  "openai/gpt-5.6",
  "openai-chat/gpt-5.6",
  "openai-chat/gpt-4o-audio-preview",
  "xai/grok-4.5",
  "groq/openai/gpt-oss-120b",
  "groq/meta-llama/llama-4-scout-17b-16e-instruct",
  "openrouter/anthropic/claude-sonnet-5",
  "kimi/kimi-k3",
  "mistral/mistral-large-latest",
  "mistral/voxtral-small-latest",
  "deepseek/deepseek-v4-flash",
  "deepseek/deepseek-v4-flash-vision-exp",
  "azure/gpt-5.6",
  "qwen/qwen3-max",
  "qwen/qwen3-vl-plus",
  "zai/glm-5.2",
  "zai/glm-4.5v",
  "minimax/MiniMax-M2.5",
  "cohere/command-a-03-2025",
  "local/qwen3",
  "local/llava",
  "offline/parley",
];

/** One file of each kind, as bytes and by address. */
const samples: Readonly<Record<MediaKind, { readonly mimeType: string; readonly address: string }>> = {
  image: { mimeType: "image/png", address: "https://example.com/a.png" },
  document: { mimeType: "application/pdf", address: "https://example.com/a.pdf" },
  audio: { mimeType: "audio/mpeg", address: "https://example.com/a.mp3" },
  video: { mimeType: "video/mp4", address: "https://example.com/a.mp4" },
};

/** The kinds, in the order people list them. */
export const kinds: readonly MediaKind[] = ["image", "document", "audio", "video"];

/** A sample file, and a conversation around it. */
export const sample = (
  kind: MediaKind,
  source: "bytes" | "address",
): { media: Media; blobs: Conversation["blobs"] } => {
  const { mimeType, address } = samples[kind];
  if (source === "address") return { media: mediaAt(address, { mimeType }), blobs: {} };
  const { media, blob } = storeBytes(new TextEncoder().encode(`${kind} sample`), { mimeType });
  return { media, blobs: { [blob.hash]: blob.base64 } };
};

/** A tool that returns a file: alone, or with words and a value around it. */
export const returning = (kind: MediaKind, source: "bytes" | "address", style: "alone" | "among"): Conversation => {
  const { media, blobs } = sample(kind, source);
  const ledger = new Ledger();
  ledger.user([text("fetch it")]);
  const [made] = ledger.model({ provider: "elsewhere", model: "m" }, [call("fetch")]);
  ledger.complete(
    made!.id,
    "fetch",
    style === "alone" ? done(media) : done("before", media, { type: "structured", value: { size: 1 } }),
  );
  return { version: 1, entries: ledger.entries, blobs };
};

/** A person who sends a file. */
const sending = (kind: MediaKind, source: "bytes" | "address"): Conversation => {
  const { media, blobs } = sample(kind, source);
  const ledger = new Ledger();
  ledger.user([text("look"), media]);
  return { version: 1, entries: ledger.entries, blobs };
};

/** How a returned file reaches a model. */
export const deliveryOfResult = (to: string, kind: MediaKind, source: "bytes" | "address"): Delivery =>
  whereIs(transcriptOf(to, returning(kind, source, "alone")));

/** How a file in a user message reaches a model. */
const deliveryOfMessage = (to: string, kind: MediaKind, source: "bytes" | "address"): Delivery =>
  whereIs(transcriptOf(to, sending(kind, source))) === "after" ? "inside" : "named";

const transcriptOf = (to: string, conversation: Conversation): Transcript =>
  render(conversation, destinationOf(to).target, { unsupportedMedia: "stub" }).transcript;

const whereIs = (transcript: Transcript): Delivery => {
  for (const step of transcript)
    for (const part of step.parts) {
      if (part.type === "file") return "after";
      if (part.type === "exchange" && part.result.content.some((content) => content.type === "file")) return "inside";
    }
  return "named";
};

/** The cells of an older, widely read matrix, by row. */
const older: Readonly<Record<string, readonly [Delivery, Delivery, Delivery, Delivery]>> = {
  "bedrock/us.anthropic.claude-sonnet-5-v1:0": ["inside", "inside", "named", "inside"],
  "bedrock/us.amazon.nova-2-lite-v1:0": ["inside", "inside", "named", "inside"],
  "anthropic/claude-sonnet-5": ["inside", "inside", "after", "after"],
  "google/gemini-3.8-flash": ["inside", "inside", "inside", "inside"],
  "google/gemini-2.5-flash": ["inside", "inside", "inside", "inside"],
  "vertex/gemini-3.8-flash": ["inside", "inside", "inside", "inside"],
  "openai-chat/gpt-5.6": ["after", "after", "after", "named"],
  "openai-chat/gpt-4o-audio-preview": ["after", "after", "after", "named"],
  "openai/gpt-5.6": ["inside", "inside", "inside", "named"],
  "xai/grok-4.5": ["after", "after", "named", "named"],
  "groq/openai/gpt-oss-120b": ["after", "named", "named", "named"],
  "groq/meta-llama/llama-4-scout-17b-16e-instruct": ["after", "named", "named", "named"],
  "openrouter/anthropic/claude-sonnet-5": ["after", "after", "after", "named"],
};

/** Why a cell is not what that matrix says. */
const reasons: Readonly<Record<string, string>> = {
  "bedrock/us.anthropic.claude-sonnet-5-v1:0 document":
    "A PDF alone inside a result gets a 200 and is not read; beside the results it is.",
  "bedrock/us.anthropic.claude-sonnet-5-v1:0 video": "Claude on Bedrock refuses video blocks.",
  "bedrock/us.amazon.nova-2-lite-v1:0 document": "Nova refuses a PDF inside a result and takes it beside the results.",
  "bedrock/us.amazon.nova-2-lite-v1:0 video": "Nova takes video beside the results, not inside.",
  "anthropic/claude-sonnet-5 audio": "No audio block exists anywhere in this API.",
  "anthropic/claude-sonnet-5 video": "No video block exists anywhere in this API.",
  "google/gemini-3.8-flash audio": "Nested audio is refused; a user message after the results takes it.",
  "google/gemini-3.8-flash video": "Nested video is refused; a user message after the results takes it.",
  "vertex/gemini-3.8-flash audio": "Nested audio is refused; a user message after the results takes it.",
  "vertex/gemini-3.8-flash video": "Nested video is refused; a user message after the results takes it.",
  "google/gemini-2.5-flash image": "Before Gemini 3 nothing nests in a function response.",
  "google/gemini-2.5-flash document": "Before Gemini 3 nothing nests in a function response.",
  "google/gemini-2.5-flash audio": "Before Gemini 3 nothing nests in a function response.",
  "google/gemini-2.5-flash video": "Before Gemini 3 nothing nests in a function response.",
  "openai-chat/gpt-5.6 audio": "Only audio models accept audio; others respond with 400.",
  "openai-chat/gpt-4o-audio-preview image": "Audio models accept text and audio.",
  "openai-chat/gpt-4o-audio-preview document": "Audio models accept text and audio.",
  "openai/gpt-5.6 audio": "The public API refuses audio in outputs and in messages.",
  "xai/grok-4.5 image": "Responses accepts images inside outputs; the older matrix is about Chat.",
  "xai/grok-4.5 document": "This API accepts documents only by URL, not as bytes.",
  "groq/openai/gpt-oss-120b image":
    "This model accepts only text; Groq's vision models accept images after the results.",
  "openrouter/anthropic/claude-sonnet-5 image":
    "OpenRouter takes every kind in tool messages and converts for the model behind it.",
  "openrouter/anthropic/claude-sonnet-5 document":
    "OpenRouter takes every kind in tool messages and converts for the model behind it.",
  "openrouter/anthropic/claude-sonnet-5 audio":
    "OpenRouter takes every kind in tool messages and converts for the model behind it.",
  "openrouter/anthropic/claude-sonnet-5 video":
    "OpenRouter takes every kind in tool messages and converts for the model behind it.",
};

/** Cells that differ without a reason, and reasons without a difference. */
export const unexplained = (): readonly string[] => {
  const differing = Object.entries(older).flatMap(([row, cells]) =>
    kinds.flatMap((kind, index) => (deliveryOfResult(row, kind, "bytes") === cells[index] ? [] : [`${row} ${kind}`])),
  );
  return [
    ...differing.filter((cell) => reasons[cell] === undefined).map((cell) => `no reason for ${cell}`),
    ...Object.keys(reasons)
      .filter((cell) => !differing.includes(cell))
      .map((cell) => `no difference at ${cell}`),
  ];
};

/** The page people read. */
export const page = (): string => {
  const notes: string[] = [];
  const mark = (row: string, kind: MediaKind): string => {
    const reason = reasons[`${row} ${kind}`];
    if (reason === undefined) return "";
    if (!notes.includes(reason)) notes.push(reason);
    return ` [${notes.indexOf(reason) + 1}]`;
  };
  const cell = (bytes: Delivery, address: Delivery): string =>
    bytes === address ? bytes : `${bytes}, by address ${address}`;
  const results = rows.map((row) =>
    table(
      row,
      kinds.map(
        (kind) => cell(deliveryOfResult(row, kind, "bytes"), deliveryOfResult(row, kind, "address")) + mark(row, kind),
      ),
    ),
  );
  const messages = rows.map((row) =>
    table(
      row,
      kinds.map((kind) => cell(deliveryOfMessage(row, kind, "bytes"), deliveryOfMessage(row, kind, "address"))),
    ),
  );
  const head = [
    "| model | wire | image (png) | document (pdf) | audio (mp3) | video (mp4) |",
    "| --- | --- | --- | --- | --- | --- |",
  ];
  return [
    "# Where media goes",
    "",
    "Generated from the provider data with `npx vitest run test/requests/media-matrix.test.ts -u`.",
    "",
    "- **inside**: in the tool result, or in the message it was sent with.",
    "- **after**: the result says `See file ID`, and a user message after the whole batch shows the file.",
    '- **named**: the model does not accept it. A text stub gives kind, type, size and reason; under `unsupportedMedia: "error"` it is an error.',
    "- Text files (text, CSV, Markdown, JSON, HTML, SVG and the like) are shown as text everywhere.",
    "- Where a URL (https) is treated differently from bytes, the cell says so. `gs://`, `s3://`, `ms://` and uploaded files are in the provider data.",
    "- Settings (`models.NAME.input`), and for `local` the server, may say which kinds a model accepts; this page shows the defaults.",
    "",
    "## Files in tool results",
    "",
    ...head,
    ...results,
    "",
    "A number marks a cell that differs from an older matrix many projects follow:",
    "",
    ...notes.map((reason, index) => `${index + 1}. ${reason}`),
    "",
    "## Files in user messages",
    "",
    ...head,
    ...messages,
    "",
  ].join("\n");
};

const table = (row: string, cells: readonly string[]): string =>
  `| ${row} | ${findProvider(row.slice(0, row.indexOf("/"))).wire} | ${cells.join(" | ")} |`;
