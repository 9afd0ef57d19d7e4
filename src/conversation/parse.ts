import * as z from "zod";
import type { Conversation } from "./entry.ts";
import { isCallId } from "./call-ids.ts";
import { isObject } from "./json.ts";

/** Thrown for a file that is no conversation this version can read; the message says where and why. */
export class ConversationFormatError extends Error {
  override readonly name = "ConversationFormatError";
}

/**
 * Validates a saved conversation. Nothing is dropped silently: an entry or part this version does not know is an error
 * that names the place.
 */
export const parseConversation = (value: unknown): Conversation => {
  if (!isObject(value) || !("entries" in value))
    throw new ConversationFormatError('This is not a saved conversation: it has no "entries".');
  const { version } = value;
  if (typeof version === "number" && version > 1)
    throw new ConversationFormatError(
      `This conversation was saved in format ${version}; this Parley reads format 1. Update parley-agent and try again.`,
    );
  const parsed = conversation.safeParse(value);
  if (parsed.success) return parsed.data as Conversation;
  const [issue] = parsed.error.issues;
  throw new ConversationFormatError(
    `At /${issue?.path.map(String).join("/") ?? ""}: ${issue?.message ?? "not readable"}.`,
  );
};

const callIdText = z.string().refine(isCallId, "a call id is hist_tool_ and a number");
const wellFormedText = z.string().transform((text) => text.toWellFormed());
const seal = z.looseObject({
  id: z.string().optional(),
  item: z.string().optional(),
  signature: z.string().optional(),
  encrypted: z.string().optional(),
  phase: z.string().optional(),
  details: z.array(z.json()).optional(),
});
const text = z.looseObject({ type: z.literal("text"), text: wellFormedText, seal: seal.optional() });
const thinking = z.looseObject({ type: z.literal("thinking"), text: wellFormedText, seal: seal.optional() });
const code = z.looseObject({ type: z.literal("code"), language: z.string(), text: wellFormedText });
const structured = z.looseObject({ type: z.literal("structured"), value: z.json() });
const media = z.looseObject({
  type: z.literal("media"),
  kind: z.enum(["image", "document", "audio", "video"]),
  mimeType: z.string(),
  id: z.string(),
  source: z.discriminatedUnion("type", [
    z.looseObject({ type: z.literal("blob"), hash: z.string(), bytes: z.number() }),
    z.looseObject({ type: z.literal("uri"), uri: z.string() }),
  ]),
});
const call = z.looseObject({
  type: z.literal("call"),
  id: callIdText,
  tool: z.string(),
  input: z.discriminatedUnion("type", [
    z.looseObject({ type: z.literal("parsed"), value: z.record(z.string(), z.json()), text: z.string().optional() }),
    z.looseObject({ type: z.literal("malformed"), text: wellFormedText }),
  ]),
  seal: seal.optional(),
});
const outcome = z.looseObject({
  status: z.enum(["complete", "error", "cancelled", "interrupted"]),
  content: z.array(z.discriminatedUnion("type", [text, structured, media])),
});
const origin = z.looseObject({ provider: z.string(), model: z.string(), account: z.string().optional() });
const entry = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("user"), parts: z.array(z.discriminatedUnion("type", [text, media])) }),
  z.looseObject({
    type: z.literal("model"),
    origin,
    parts: z.array(z.discriminatedUnion("type", [text, thinking, code, media, call])),
    prefix: z.string().optional(),
  }),
  z.looseObject({ type: z.literal("completion"), call: callIdText, tool: z.string(), outcome }),
  z.looseObject({
    type: z.literal("compaction"),
    summary: wellFormedText,
    from: z.int(),
    longest: z.int().min(1).optional(),
  }),
  z.looseObject({ type: z.literal("notice"), text: wellFormedText, opens: z.literal(true).optional() }),
  z.looseObject({ type: z.literal("copy"), uri: z.string(), media }),
]);
const conversation = z.looseObject({
  version: z.literal(1),
  system: wellFormedText.optional(),
  tools: z
    .array(
      z.looseObject({
        name: z.string(),
        description: z.string().optional(),
        parameters: z.record(z.string(), z.json()).optional(),
      }),
    )
    .optional(),
  entries: z.array(entry),
  blobs: z.record(z.string(), z.string()),
});
