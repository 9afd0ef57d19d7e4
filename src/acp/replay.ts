import type { ContentBlock, SessionUpdate } from "@agentclientprotocol/sdk";
import type { Blobs, Entry } from "../conversation/entry.ts";
import type { Call, Outcome, Part, UserPart } from "../conversation/parts.ts";
import { mediaBlock, resultContent, viewCall } from "./tool-call.ts";
import { messageId } from "./updates.ts";

/** A saved conversation and its folder. */
export type SavedConversation = {
  readonly entries: readonly Entry[];
  readonly blobs: Blobs;
  readonly folder: string;
};

/** The updates that show a saved conversation: every message, thought and call with its result, in order. */
export const replayConversation = (saved: SavedConversation): readonly SessionUpdate[] => {
  const outcomes = new Map<string, Outcome>();
  for (const entry of saved.entries)
    if (entry.type === "completion" && !outcomes.has(entry.call)) outcomes.set(entry.call, entry.outcome);
  return saved.entries.flatMap((entry, index): readonly SessionUpdate[] => {
    switch (entry.type) {
      case "user":
        return entry.parts.map((part) => ({
          sessionUpdate: "user_message_chunk",
          content: userBlock(part, saved.blobs),
          messageId: messageId(index),
        }));
      case "model":
        return entry.parts.flatMap((part) => replayPart(part, messageId(index), outcomes, saved));
      case "compaction":
        return entry.summary === "" ? [] : [thought("Older messages were summarized.", `${messageId(index)}-note`)];
      case "completion":
      case "notice":
      case "copy":
        return [];
    }
  });
};

const userBlock = (part: UserPart, blobs: Blobs): ContentBlock =>
  part.type === "text" ? { type: "text", text: part.text } : mediaBlock(part, blobs);

const replayPart = (
  part: Part,
  id: string,
  outcomes: ReadonlyMap<string, Outcome>,
  saved: SavedConversation,
): readonly SessionUpdate[] => {
  switch (part.type) {
    case "text":
    case "code":
      return part.text === "" ? [] : [answer({ type: "text", text: part.text }, id)];
    case "thinking":
      return part.text === "" ? [] : [thought(part.text, `${id}-thought`)];
    case "media":
      return [answer(mediaBlock(part, saved.blobs), id)];
    case "call":
      return [replayCall(part, outcomes.get(part.id), saved)];
  }
};

const answer = (content: ContentBlock, id: string): SessionUpdate => ({
  sessionUpdate: "agent_message_chunk",
  content,
  messageId: id,
});

const thought = (text: string, id: string): SessionUpdate => ({
  sessionUpdate: "agent_thought_chunk",
  content: { type: "text", text },
  messageId: id,
});

const replayCall = (call: Call, outcome: Outcome | undefined, { blobs, folder }: SavedConversation): SessionUpdate => {
  const { title, kind, locations, input } = viewCall(call, folder);
  return {
    sessionUpdate: "tool_call",
    toolCallId: call.id,
    title,
    name: call.tool,
    kind,
    status: outcome?.status === "complete" ? "completed" : "failed",
    ...(locations.length === 0 ? {} : { locations }),
    rawInput: input,
    content: outcome === undefined ? [] : resultContent({ outcome, blobs }, call, folder),
    _meta: { tool_name: call.tool },
  };
};
