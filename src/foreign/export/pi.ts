import type { Blobs, Entry, ModelMessage, Origin } from "../../conversation/entry.ts";
import type { Content, Media, Outcome, Part, Seal, UserPart } from "../../conversation/parts.ts";
import type { SavedSession } from "../../session/load.ts";
import { entryTime, exportedId, mediaAsText, outcomeText, type ExportedFile } from "./exported-file.ts";

/** Writes a session in the form of pi, version 3: a chain of entries. Seals are kept where pi stores those of the same API. */
export const exportPi = (session: SavedSession): ExportedFile => {
  const id = exportedId(session.id);
  const { root, created } = session.head;
  const lines: object[] = [{ type: "session", version: 3, id, timestamp: new Date(created).toISOString(), cwd: root }];
  const leftOut = { thinking: 0 };
  const ids: string[] = [];
  let parent: string | null = null;
  const append = (index: number, fields: object): void => {
    const own = exportedId(`${id} ${lines.length}`).slice(0, 8);
    lines.push({ id: own, parentId: parent, timestamp: entryTime(session, index), ...fields });
    parent = own;
  };
  for (const [index, entry] of session.entries.entries()) {
    const message = toMessage(entry, session.blobs, leftOut);
    const before = lines.length;
    if (message !== undefined)
      append(index, { type: "message", message: { ...message, timestamp: created + index * 1000 } });
    else if (entry.type === "notice" && entry.text !== "")
      append(index, { type: "custom_message", customType: "notice", content: entry.text, display: true });
    else if (entry.type === "compaction" && entry.summary !== "")
      append(index, {
        type: "compaction",
        summary: entry.summary,
        // The first entry that is kept, or the compaction itself if none is.
        firstKeptEntryId:
          ids.slice(entry.from).find((each) => each !== "") ?? exportedId(`${id} ${lines.length}`).slice(0, 8),
        tokensBefore: 0,
      });
    ids.push(lines.length > before ? (parent ?? "") : "");
  }
  if (session.title !== undefined) append(session.entries.length, { type: "session_info", name: session.title });
  const folder = `--${root.replace(/^\//, "").replaceAll(/[/\\:]/g, "-")}--`;
  const name = `${new Date(created).toISOString().replaceAll(/[:.]/g, "-")}_${id}.jsonl`;
  return {
    text: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    destination: `~/.pi/agent/sessions/${folder}/${name}`,
    resume: `pi --session ${id}`,
    leftOut,
  };
};

const toMessage = (entry: Entry, blobs: Blobs, leftOut: { thinking: number }): object | undefined => {
  switch (entry.type) {
    case "user":
      return { role: "user", content: entry.parts.map((part) => contentPart(part, blobs)) };
    case "model":
      return toAnswer(entry, blobs, leftOut);
    case "completion":
      return {
        role: "toolResult",
        toolCallId: entry.call,
        toolName: entry.tool,
        content: resultContent(entry.outcome, blobs),
        isError: entry.outcome.status !== "complete",
      };
    case "notice":
    case "compaction":
    case "copy":
      return undefined;
  }
};

const toAnswer = ({ origin, parts }: ModelMessage, blobs: Blobs, leftOut: { thinking: number }): object => {
  const names = piNames(origin);
  const content = parts.flatMap((part): readonly object[] => {
    if (part.type === "thinking" && names.api === undefined) {
      leftOut.thinking += 1;
      return [];
    }
    return [answerPart(part, names.api, blobs)];
  });
  return {
    role: "assistant",
    content,
    api: names.api ?? "openai-completions",
    provider: names.provider,
    model: origin.model,
    usage: {
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 0,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: parts.some(({ type }) => type === "call") ? "toolUse" : "stop",
  };
};

/** The names pi has for a provider and its API. Without an API of the table, its thinking cannot be kept. */
const piNames = ({ provider }: Origin): { readonly provider: string; readonly api?: string } =>
  piProviders[provider] ?? { provider };

const piProviders: Readonly<Record<string, { readonly provider: string; readonly api: string }>> = {
  anthropic: { provider: "anthropic", api: "anthropic-messages" },
  openai: { provider: "openai", api: "openai-responses" },
  google: { provider: "google", api: "google-generative-ai" },
};

const answerPart = (part: Part, api: string | undefined, blobs: Blobs): object => {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "code":
      return { type: "text", text: `\`\`\`${part.language}\n${part.text}\n\`\`\`` };
    case "media":
      return contentPart(part, blobs);
    case "thinking":
      return { type: "thinking", thinking: part.text, ...thinkingSignature(part.seal, part.text, api) };
    case "call": {
      const input = part.input.type === "parsed" ? part.input.value : { text: part.input.text };
      const signature = api === "google-generative-ai" ? part.seal?.signature : undefined;
      return {
        type: "toolCall",
        id: part.id,
        name: part.tool,
        arguments: input,
        ...(signature === undefined ? {} : { thoughtSignature: signature }),
      };
    }
  }
};

const thinkingSignature = (seal: Seal | undefined, text: string, api: string | undefined): object => {
  if (api === "openai-responses" && seal?.encrypted !== undefined && seal.item !== undefined) {
    const summary = text === "" ? [] : [{ type: "summary_text", text }];
    return {
      thinkingSignature: JSON.stringify({
        type: "reasoning",
        id: seal.item,
        summary,
        encrypted_content: seal.encrypted,
      }),
    };
  }
  if (api === "anthropic-messages" && seal?.encrypted !== undefined)
    return { thinkingSignature: seal.encrypted, redacted: true };
  return seal?.signature === undefined ? {} : { thinkingSignature: seal.signature };
};

const resultContent = (outcome: Outcome, blobs: Blobs): readonly object[] =>
  outcome.content.length === 0
    ? [{ type: "text", text: outcomeText(outcome) }]
    : outcome.content.map((part) => contentPart(part, blobs));

const contentPart = (part: UserPart | Content, blobs: Blobs): object => {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "structured":
      return { type: "text", text: JSON.stringify(part.value) };
    case "media":
      return imagePart(part, blobs);
  }
};

const imagePart = (media: Media, blobs: Blobs): object => {
  const data = media.source.type === "blob" && media.kind === "image" ? blobs[media.source.hash] : undefined;
  return data === undefined
    ? { type: "text", text: mediaAsText(media) }
    : { type: "image", data, mimeType: media.mimeType };
};
