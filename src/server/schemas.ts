import { z } from "zod";
import { storeBase64 } from "../conversation/media.ts";
import type { UserPart } from "../conversation/parts.ts";
import type { Blobs } from "../conversation/entry.ts";

export type CreateBody = {
  readonly folder?: string | undefined;
  readonly model?: string | undefined;
  readonly title?: string | undefined;
};

export type MessageBody = {
  readonly text?: string | undefined;
  readonly parts?: readonly MessageBodyPart[] | undefined;
  readonly steer?: boolean | undefined;
};

type MessageBodyPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "file"; readonly mimeType: string; readonly data: string; readonly name?: string | undefined };

export type DecideBody = {
  readonly call: string;
  readonly decision: { readonly type: string };
  readonly digest?: string | undefined;
  readonly agent?: string | undefined;
};

export type ChangeBody = { readonly title?: string | undefined; readonly model?: string | undefined };

/** The bodies of requests. Unknown fields are refused, so that a misspelled one is noticed. */
export const createSchema: z.ZodType<CreateBody> = z
  .strictObject({
    folder: z
      .string()
      .min(1)
      .optional()
      .describe("Absolute path of the project's folder, one the server offers. Default: its first."),
    model: z
      .string()
      .min(1)
      .optional()
      .describe("The model, as provider/model. Default: that of the server's settings."),
    title: z.string().min(1).max(200).optional(),
  })
  .describe("A new session.");

const partSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string().min(1) }),
  z.strictObject({
    type: z.literal("file"),
    mimeType: z.string().regex(/^[a-z]+\/[a-z0-9.+-]+$/i),
    data: z.base64().describe("The bytes in base64."),
    name: z.string().max(200).optional(),
  }),
]);

export const messageSchema: z.ZodType<MessageBody> = z
  .strictObject({
    text: z.string().min(1).optional(),
    parts: z.array(partSchema).min(1).max(50).optional().describe("Text and files in order, instead of text alone."),
    steer: z.boolean().optional().describe("Give it to the turn that runs, instead of after it."),
  })
  .refine(({ text, parts }) => (text === undefined) !== (parts === undefined), "Give either text or parts.")
  .describe("A message of the user.");

const decisionSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("once") }),
  z.strictObject({
    type: z.literal("always"),
    rule: z.string().min(1).describe("The type of one of the rules in the question's `always`."),
    scope: z.enum(["session", "project"]),
  }),
  z.strictObject({ type: z.literal("edit"), text: z.string() }),
  z.strictObject({ type: z.literal("refuse"), reason: z.string().max(10_000).optional() }),
  z.strictObject({ type: z.literal("cancel") }),
]);

export const decideSchema: z.ZodType<DecideBody> = z
  .strictObject({
    call: z.string().regex(/^hist_tool_\d{1,9}$/),
    decision: decisionSchema,
    digest: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional()
      .describe("The digest of the question. With it, the decision counts for that question alone."),
    agent: z.string().max(200).optional().describe("The subagent that asks."),
  })
  .describe("The answer to an approval request.");

export const changeSchema: z.ZodType<ChangeBody> = z
  .strictObject({ title: z.string().min(1).max(200).optional(), model: z.string().min(1).optional() })
  .refine(({ title, model }) => title !== undefined || model !== undefined, "Give a title or a model.")
  .describe("A change of the session.");

/** The parts of a message, with the bytes of its files. */
export const toUserParts = ({
  text,
  parts = [],
}: MessageBody): { readonly parts: readonly UserPart[]; readonly blobs: Blobs } => {
  if (text !== undefined) return { parts: [{ type: "text", text }], blobs: {} };
  const blobs: { [hash: string]: string } = {};
  const converted = parts.map((part): UserPart => {
    if (part.type === "text") return part;
    const { media, blob } = storeBase64(part.data, {
      mimeType: part.mimeType,
      ...(part.name === undefined ? {} : { name: part.name }),
    });
    blobs[blob.hash] = blob.base64;
    return media;
  });
  return { parts: converted, blobs };
};
