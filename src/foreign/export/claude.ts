import type { Blobs, Entry, ModelMessage } from "../../conversation/entry.ts";
import type { Call, CallId, Content, Media, Outcome, Part, UserPart } from "../../conversation/parts.ts";
import type { SavedSession } from "../../session/load.ts";
import { entryTime, exportedId, mediaAsText, outcomeText, type ExportedFile } from "./exported-file.ts";

/**
 * Writes a session in the form of Claude Code: one line per content block. Signatures are kept on Anthropic's own
 * thinking; thinking of other models is left out, as their provider is the only one that can read it.
 */
export const exportClaude = (session: SavedSession): ExportedFile => {
  const writer = new LineWriter(session);
  for (const [index, entry] of session.entries.entries()) writer.write(entry, index);
  const id = exportedId(session.id);
  const folder = session.head.root.replaceAll(/[^a-zA-Z0-9]/g, "-");
  return {
    text: writer.text(),
    destination: `~/.claude/projects/${folder}/${id}.jsonl`,
    resume: `claude --resume ${id}`,
    leftOut: writer.leftOut,
  };
};

class LineWriter {
  readonly leftOut = { thinking: 0 };
  readonly #session: SavedSession;
  readonly #sessionId: string;
  readonly #lines: string[] = [];
  /** The lines of calls: results hang on the line of their own call. */
  readonly #callLines = new Map<CallId, string>();
  /** The lines of messages, each with its entry: a compaction names those it keeps. */
  readonly #messageLines: { readonly uuid: string; readonly index: number }[] = [];
  #parent: string | null = null;

  constructor(session: SavedSession) {
    this.#session = session;
    this.#sessionId = exportedId(session.id);
    if (session.title !== undefined)
      this.#lines.push(
        JSON.stringify({ type: "custom-title", customTitle: session.title, sessionId: this.#sessionId }),
      );
  }

  text(): string {
    return this.#lines.map((line) => `${line}\n`).join("");
  }

  write(entry: Entry, index: number): void {
    const { blobs } = this.#session;
    switch (entry.type) {
      case "user":
        return this.#user(index, { content: entry.parts.map((part) => userBlock(part, blobs)) });
      case "notice":
        if (entry.text !== "") this.#user(index, { content: entry.text }, { isMeta: true });
        return;
      case "model":
        return this.#model(entry, index);
      case "completion":
        return this.#user(
          index,
          { content: [resultBlock(entry.call, entry.outcome, blobs)] },
          {},
          this.#callLines.get(entry.call),
        );
      case "compaction":
        return entry.summary === "" ? undefined : this.#compaction(entry.summary, index, entry.from);
      case "copy":
        return undefined;
    }
  }

  #user(index: number, message: object, fields: object = {}, on: string | null = this.#parent): void {
    this.#parent = this.#line(`${index}`, index, on, {
      type: "user",
      message: { role: "user", ...message },
      ...fields,
    });
    this.#messageLines.push({ uuid: this.#parent, index });
  }

  #model({ origin, parts }: ModelMessage, index: number): void {
    const isOwn = origin.provider === "anthropic";
    const id = `msg_${exportedId(`${this.#sessionId} message ${index}`).replaceAll("-", "").slice(0, 24)}`;
    for (const [at, part] of parts.entries()) {
      const block = modelBlock(part, isOwn, this.#session.blobs);
      if (block === undefined) {
        this.leftOut.thinking += 1;
        continue;
      }
      const hasCalls = parts.some(({ type }) => type === "call");
      const message = {
        id,
        type: "message",
        role: "assistant",
        model: origin.model,
        content: [block],
        stop_reason: hasCalls ? "tool_use" : "end_turn",
        stop_sequence: null,
        usage: { input_tokens: 0, output_tokens: 0 },
      };
      this.#parent = this.#line(`${index} ${at}`, index, this.#parent, { type: "assistant", message });
      this.#messageLines.push({ uuid: this.#parent, index });
      if (part.type === "call") this.#callLines.set(part.id, this.#parent);
    }
  }

  #compaction(summary: string, index: number, from: number): void {
    const before = this.#parent;
    const kept = this.#messageLines.filter((line) => line.index >= from).map(({ uuid }) => uuid);
    const anchorUuid = this.#uuid(`${index}`);
    const preserved = {
      preservedSegment: { headUuid: kept[0], anchorUuid, tailUuid: kept.at(-1) },
      preservedMessages: { anchorUuid, uuids: kept, allUuids: kept },
    };
    const boundary = this.#line(`${index} boundary`, index, null, {
      type: "system",
      subtype: "compact_boundary",
      content: "Conversation compacted",
      level: "info",
      isMeta: false,
      ...(before === null ? {} : { logicalParentUuid: before }),
      compactMetadata: { trigger: "manual", preTokens: 0, ...(kept.length === 0 ? {} : preserved) },
    });
    this.#parent = this.#line(`${index}`, index, boundary, {
      type: "user",
      message: { role: "user", content: summary },
      isCompactSummary: true,
      isVisibleInTranscriptOnly: true,
    });
  }

  #uuid(key: string): string {
    return exportedId(`${this.#sessionId} ${key}`);
  }

  #line(key: string, index: number, parent: string | null, fields: object): string {
    const uuid = this.#uuid(key);
    this.#lines.push(
      JSON.stringify({
        parentUuid: parent,
        isSidechain: false,
        userType: "external",
        cwd: this.#session.head.root,
        sessionId: this.#sessionId,
        version: "2.1.0",
        uuid,
        timestamp: entryTime(this.#session, index),
        ...fields,
      }),
    );
    return uuid;
  }
}

const userBlock = (part: UserPart, blobs: Blobs): object =>
  part.type === "text" ? { type: "text", text: part.text } : mediaBlock(part, blobs);

const mediaBlock = (media: Media, blobs: Blobs): object => {
  const data = media.source.type === "blob" ? blobs[media.source.hash] : undefined;
  const source = { type: "base64", media_type: media.mimeType, data };
  if (data !== undefined && media.kind === "image") return { type: "image", source };
  if (data !== undefined && media.mimeType === "application/pdf") return { type: "document", source };
  return { type: "text", text: mediaAsText(media) };
};

const modelBlock = (part: Part, isOwn: boolean, blobs: Blobs): object | undefined => {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "thinking":
      if (!isOwn) return undefined;
      if (part.seal?.encrypted !== undefined) return { type: "redacted_thinking", data: part.seal.encrypted };
      return part.seal?.signature === undefined
        ? undefined
        : { type: "thinking", thinking: part.text, signature: part.seal.signature };
    case "code":
      return { type: "text", text: `\`\`\`${part.language}\n${part.text}\n\`\`\`` };
    case "media":
      return mediaBlock(part, blobs);
    case "call":
      return { type: "tool_use", id: claudeCallId(part.id), name: part.tool, input: callInput(part) };
  }
};

const claudeCallId = (call: CallId): string => `toolu_${call}`;

const callInput = ({ input }: Call): object => (input.type === "parsed" ? input.value : { text: input.text });

const resultBlock = (call: CallId, outcome: Outcome, blobs: Blobs): object => ({
  type: "tool_result",
  tool_use_id: claudeCallId(call),
  content:
    outcome.content.length === 0 ? outcomeText(outcome) : outcome.content.map((part) => contentBlock(part, blobs)),
  ...(outcome.status === "complete" ? {} : { is_error: true }),
});

const contentBlock = (part: Content, blobs: Blobs): object => {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "structured":
      return { type: "text", text: JSON.stringify(part.value) };
    case "media":
      return mediaBlock(part, blobs);
  }
};
