import { text as textPart } from "../../conversation/builders.ts";
import type { Blobs, Entry } from "../../conversation/entry.ts";
import { isObject, type JsonObject } from "../../conversation/json.ts";
import { mediaKindOf, storeBase64 } from "../../conversation/media.ts";
import type { Media, Text } from "../../conversation/parts.ts";
import type { SamplingAnswer, SamplingRequest } from "../../mcp/requests/handlers.ts";
import type { Destination } from "../../wire/bind.ts";
import { RequestComposer } from "../../wire/compose.ts";
import type { Agent } from "../agent.ts";
import { modelName } from "../models/name.ts";

/** The most output tokens that are requested: every current model supports so many. */
const maxSamplingTokens = 8192;

/**
 * Answers a sampling request of an MCP server with the session's model: one side query without tools, whose usage is
 * counted. The server's model preferences and its request to include context are ignored.
 */
export const answerSampling = async (
  agent: Pick<Agent, "runSideQuery" | "model">,
  request: SamplingRequest,
  signal: AbortSignal,
): Promise<SamplingAnswer> => {
  const model = agent.model();
  const { text, finish } = await agent.runSideQuery(encodeSampling(request), signal);
  return { model: modelName(model), text, ...(finish === "length" ? { isTruncated: true } : {}) };
};

const encodeSampling =
  ({ system, messages, maxTokens, raw }: SamplingRequest) =>
  (destination: Destination): JsonObject => {
    const { provider, model } = destination.target;
    const origin = { provider, model };
    const read = messages.map(({ role, content }) => ({ role, pieces: [content].flat().map(readPiece) }));
    const blobs: Blobs = Object.fromEntries(read.flatMap(({ pieces }) => pieces.flatMap(({ blob }) => blob ?? [])));
    const composer = new RequestComposer({ destination, system, blobs, policy: { unsupportedMedia: "stub" } });
    composer.add(
      read.map(({ role, pieces }): Entry => {
        const parts = pieces.map(({ part }) => part);
        return role === "user" ? { type: "user", parts } : { type: "model", origin, parts };
      }),
    );
    const { temperature } = raw;
    return composer.body({
      stream: true,
      maxTokens: Math.min(maxTokens, maxSamplingTokens),
      ...(typeof temperature === "number" ? { temperature } : {}),
    });
  };

type SamplingPiece = {
  readonly part: Text | Media;
  readonly blob?: readonly (readonly [hash: string, base64: string])[];
};

/** Converts a content block of a message. Blocks that are neither text nor media become a text that names them. */
const readPiece = (content: unknown): SamplingPiece => {
  const { type, text, data, mimeType } = isObject(content) ? content : {};
  if (type === "text" && typeof text === "string") return { part: textPart(text.toWellFormed()) };
  if ((type === "image" || type === "audio") && typeof data === "string" && typeof mimeType === "string") {
    const { media, blob } = storeBase64(data, { mimeType, kind: mediaKindOf(mimeType) });
    return { part: media, blob: [[blob.hash, blob.base64]] };
  }
  return { part: textPart(`[A piece of the kind ${JSON.stringify(type ?? "unknown")}, which cannot be passed on.]`) };
};
