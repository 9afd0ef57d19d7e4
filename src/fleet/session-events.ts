import type { Compaction } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { Call, CallId, Content, Media, OutcomeStatus, UserPart } from "../conversation/parts.ts";
import type { TodoItem } from "../conversation/todo.ts";
import type { LoggedTurnEnd, SessionRecord, StoredRecord } from "../session/log/record.ts";

/**
 * An event of a session that is followed. One of a record has its sequence number as id, and a follower that comes back
 * with it misses nothing. Live events between two records are not kept: their id is `17.3`, and a follower that comes
 * back with it gets everything after record 17.
 */
export type FollowedEvent =
  | { readonly id: string; readonly sequence: number; readonly at: number; readonly event: RecordEvent }
  | { readonly id: string; readonly sequence: number; readonly event: LiveEvent };

/** An event of a record: at most one for each. */
export type RecordEvent =
  | { readonly type: "created"; readonly folder: string; readonly model?: string }
  | { readonly type: "user"; readonly parts: readonly UserPart[] }
  /** A whole message of a model, with its tool calls. */
  | {
      readonly type: "message";
      readonly model: string;
      readonly text: string;
      readonly thought: string;
      readonly media: readonly Media[];
      readonly calls: readonly FollowedCall[];
    }
  | {
      readonly type: "result";
      readonly call: CallId;
      readonly tool: string;
      readonly status: OutcomeStatus;
      readonly content: readonly Content[];
    }
  /** A call awaits approval. A decision names the digest, so that it holds for this question alone. */
  | { readonly type: "asked"; readonly call: CallId; readonly approval: JsonObject; readonly digest?: string }
  | { readonly type: "decided"; readonly call: CallId; readonly decision: JsonObject }
  | { readonly type: "model"; readonly model: string; readonly reason: string }
  | { readonly type: "usage"; readonly model: string; readonly turn: number; readonly usage: JsonObject }
  | { readonly type: "title"; readonly title: string }
  | { readonly type: "todos"; readonly todos: readonly TodoItem[] }
  | { readonly type: "notice"; readonly text: string }
  | { readonly type: "compacted"; readonly compaction: Compaction }
  /** The end of a turn, or `parked` if it waits for decisions. */
  | { readonly type: "turn"; readonly number: number; readonly end: LoggedTurnEnd };

/** A tool call as a follower sees it. */
type FollowedCall = { readonly id: CallId; readonly tool: string; readonly input: JsonObject | string };

/** An event that no record keeps. */
export type LiveEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thought"; readonly text: string }
  | { readonly type: "call"; readonly call: CallId; readonly state: string; readonly title?: string }
  | { readonly type: "output"; readonly call: CallId; readonly text: string }
  /** An approval request of a subagent, which no record keeps. */
  | { readonly type: "asked-by-agent"; readonly call: CallId; readonly agent: string; readonly approval: JsonObject }
  /** The request is sent again after `delay` milliseconds; `discarded` if text was shown that does not count. */
  | { readonly type: "retrying"; readonly delay: number; readonly discarded: boolean };

/** The event of a record; undefined for records that concern no follower. Pure, so every follower sees the same. */
export const eventOf = ({ sequence, at, record }: StoredRecord): FollowedEvent | undefined => {
  const event = record.kind === "unknown" ? undefined : sessionEventOf(record);
  return event === undefined ? undefined : { id: String(sequence), sequence, at, event };
};

const sessionEventOf = (record: SessionRecord): RecordEvent | undefined => {
  switch (record.kind) {
    case "head": {
      const { root, model } = record;
      return { type: "created", folder: root, ...(model === undefined ? {} : { model: nameOf(model) }) };
    }
    case "entry":
      return entryEventOf(record.entry);
    case "model":
      return { type: "model", model: nameOf(record), reason: record.reason };
    case "request":
      return record.usage === undefined
        ? undefined
        : { type: "usage", model: nameOf(record), turn: record.turn, usage: record.usage };
    case "title":
      return { type: "title", title: record.title };
    case "todos":
      return { type: "todos", todos: record.todos };
    case "asked": {
      const { call, approval, digest } = record;
      // Without a question, the call waits for another one.
      if (approval === undefined) return undefined;
      return { type: "asked", call, approval, ...(digest === undefined ? {} : { digest }) };
    }
    case "decided":
      return { type: "decided", call: record.call, decision: record.decision };
    case "turn":
      return { type: "turn", number: record.number, end: record.end };
    case "tools":
    case "input":
    case "consent":
    case "repair":
      return undefined;
  }
};

const entryEventOf = (entry: Extract<SessionRecord, { kind: "entry" }>["entry"]): RecordEvent | undefined => {
  switch (entry.type) {
    case "user":
      return { type: "user", parts: entry.parts };
    case "model": {
      const { parts, origin } = entry;
      return {
        type: "message",
        model: nameOf(origin),
        text: parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
        thought: parts.flatMap((part) => (part.type === "thinking" ? [part.text] : [])).join(""),
        media: parts.filter((part) => part.type === "media"),
        calls: parts.filter((part) => part.type === "call").map(toFollowedCall),
      };
    }
    case "completion": {
      const { call, tool, outcome } = entry;
      return { type: "result", call, tool, status: outcome.status, content: outcome.content };
    }
    case "compaction":
      return { type: "compacted", compaction: entry };
    case "notice":
      // The opening notice is the model's initial context, not a message for the person.
      return entry.opens === true || entry.text === "" ? undefined : { type: "notice", text: entry.text };
    case "copy":
      return undefined;
  }
};

const toFollowedCall = ({ id, tool, input }: Call): FollowedCall => ({
  id,
  tool,
  input: input.type === "parsed" ? input.value : input.text,
});

const nameOf = ({ provider, model }: { readonly provider: string; readonly model: string }): string =>
  `${provider}/${model}`;
