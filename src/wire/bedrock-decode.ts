import { isObject } from "../conversation/json.ts";
import { mimeTypeOf } from "./bedrock-formats.ts";
import type { BedrockDialect } from "./bedrock.ts";
import {
  after,
  begin,
  blockNumber,
  emptyText,
  emptyThinking,
  end,
  finish,
  noBlocks,
  say,
  type Beginning,
  type Blocks,
  type Draft,
  type Piece,
} from "./blocks.ts";
import {
  decoding,
  tokens,
  type AnswerEvent,
  type Decode,
  type FinishReason,
  type Fold,
  type Frame,
  type Problem,
  type Usage,
} from "./decode.ts";
import { breakOff, passOver, shortWord, stopWith, type Told } from "./fold.ts";
import { problemOf } from "./problem.ts";
import { arrayOf, idOf, numberOf, objectOf, stringOf } from "./reader.ts";

/** How Bedrock Converse answers. The counts come after the stop, so an answer is finished by its `metadata`. */
export const decodeBedrock: Decode<BedrockDialect> = {
  open: () => decoding(fold),
  frames: (body) => framesOf(body),
  problem: (body) => bedrockProblem(body),
};

/** Whether the counts have come. */
type State = Blocks<{ readonly counted: boolean }>;

const fold: Fold<State> = {
  start: noBlocks({ counted: false }),
  step: (state, frame) => step(state, frame),
  end: (state) => (state.over || state.stop === undefined ? [] : finish(state, reasons)[1]),
};

const step = (state: State, { name, data }: Frame): Told<State> => {
  if (state.over) return passOver(state, `${shortWord(name)} after the end`);
  const event = objectOf(data);
  const at = blockNumber(event["contentBlockIndex"]);
  switch (name) {
    case "messageStart":
      return onMessageStart(state, event);
    case "contentBlockStart":
      return onBlockStart(state, at, objectOf(event["start"]));
    case "contentBlockDelta":
      return onBlockDelta(state, at, objectOf(event["delta"]));
    case "contentBlockStop":
      // A text in which nothing was said has neither start nor delta.
      return after(at === state.next ? begin(state, at, emptyText) : [state, []], (now) => end(now, at));
    case "messageStop":
      return onMessageStop(state, event);
    case "metadata":
      return onMetadata(state, event);
    default:
      return onOther(state, name, data);
  }
};

const onMessageStart = (state: State, { role }: Record<string, unknown>): Told<State> => {
  if (state.begun) return passOver(state, "messageStart, said twice");
  if (role !== undefined && role !== "assistant") return breakOff(state, `The answer has the role ${shortWord(role)}.`);
  return [{ ...state, begun: true }, []];
};

const onBlockStart = (state: State, at: number, start: Record<string, unknown>): Told<State> => {
  const [kind, value] = membersOf(start)[0] ?? [];
  // Text and reasoning begin with their first piece. Some servers announce them all the same.
  if (kind === undefined || kind === "text" || kind === "reasoningContent") return [state, []];
  return begin(state, at, {
    draft: draftOf(kind, objectOf(value)),
    pieces: kind === "image" ? piecesOf(kind, value) : [],
  });
};

const draftOf = (kind: string, value: Record<string, unknown>): Draft => {
  if (kind === "image") return { type: "file", mimeType: mimeTypeOf("image", stringOf(value["format"])) };
  if (kind !== "toolUse") return { type: "ignored", what: `${shortWord(kind)} block` };
  // The service has run this one itself, and its result follows.
  if (value["type"] === "server_tool_use") return { type: "ignored", what: "server_tool_use block" };
  const call = { type: "call", tool: stringOf(value["name"]) ?? "", id: idOf(value["toolUseId"]) } as const;
  return { ...call, given: value["input"] };
};

const onBlockDelta = (state: State, at: number, delta: Record<string, unknown>): Told<State> => {
  const pieces: Piece[] = [];
  for (const kind in delta)
    if (isThere(delta[kind])) for (const piece of piecesOf(kind, delta[kind])) pieces.push(piece);
  const beginning = at === state.next ? unannounced(pieces[0]) : undefined;
  if (beginning === undefined) return say(state, at, pieces);
  return begin(state, at, { ...beginning, pieces });
};

/** What a block holds that began without a start. Calls and pictures never do. */
const unannounced = (piece: Piece | undefined): Beginning | undefined => {
  if (piece === undefined || piece.type === "call" || piece.type === "file") return undefined;
  return piece.type === "text" || piece.type === "unknown" ? emptyText : emptyThinking;
};

const piecesOf = (kind: string, value: unknown): readonly Piece[] => {
  switch (kind) {
    case "text":
      return [{ type: "text", text: stringOf(value) ?? "" }];
    case "toolUse":
      return [{ type: "call", text: stringOf(objectOf(value)["input"]) ?? "" }];
    case "image":
      return [{ type: "file", text: stringOf(objectOf(objectOf(value)["source"])["bytes"]) ?? "" }];
    case "reasoningContent":
      return membersOf(objectOf(value)).map(([part, words]) => reasoningPiece(part, stringOf(words) ?? ""));
    default:
      return [{ type: "unknown", text: shortWord(kind) }];
  }
};

const reasoningPiece = (kind: string, text: string): Piece => {
  switch (kind) {
    case "text":
      return { type: "thinking", text };
    case "signature":
      return { type: "signature", text };
    case "redactedContent":
      return { type: "encrypted", text };
    default:
      return { type: "unknown", text: `reasoning ${shortWord(kind)}` };
  }
};

const onMessageStop = (state: State, { stopReason }: Record<string, unknown>): Told<State> => {
  if (state.stop !== undefined) return passOver(state, "messageStop, said twice");
  const now = { ...state, stop: stringOf(stopReason) ?? "" };
  return now.own.counted ? finish(now, reasons) : [now, []];
};

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "calls",
  max_tokens: "length",
  model_context_window_exceeded: "context",
  guardrail_intervened: "filtered",
  content_filtered: "filtered",
  malformed_model_output: "malformed",
  malformed_tool_use: "malformed",
  pause_turn: "paused",
  refusal: "refused",
};

const onMetadata = (state: State, { usage, trace }: Record<string, unknown>): Told<State> => {
  const model = stringOf(objectOf(objectOf(trace)["promptRouter"])["invokedModelId"]);
  const events: readonly AnswerEvent[] = [
    ...(isObject(usage) ? [{ type: "usage", usage: usageOf(usage) } as const] : []),
    ...(model === undefined ? [] : [{ type: "answering", model } as const]),
  ];
  const now: Told<State> = [{ ...state, own: { counted: true } }, events];
  return state.stop === undefined ? now : after(now, (last) => finish(last, reasons));
};

/** What was read from the cache or written to it is not part of `inputTokens`. */
const usageOf = (counts: Record<string, unknown>): Usage => {
  const cachedRead = tokens(counts["cacheReadInputTokens"]);
  const cachedWrite = tokens(counts["cacheWriteInputTokens"]);
  const input = tokens(counts["inputTokens"]) + cachedRead + cachedWrite;
  return { input, cachedRead, cachedWrite, output: tokens(counts["outputTokens"]), reasoning: 0 };
};

const onOther = (state: State, name: string, data: unknown): Told<State> => {
  if (!/(?:Exception|Error|Failure)$/.test(name)) return passOver(state, `${shortWord(name)} frame`);
  const code = name === unnamed ? {} : { code: exceptionName(name) };
  const problem = bedrockProblem(data) ?? {
    message: `The service reported ${shortWord(name)} and said nothing about it.`,
  };
  return stopWith(state, { type: "problem", problem: { ...code, ...problem } });
};

/** An error whose name stands in a header, which a body does not show. */
const unnamed = "Exception";

const bedrockProblem = (body: unknown): Problem | undefined => {
  const { __type, Message, originalMessage, originalStatusCode } = objectOf(body);
  const type = stringOf(__type);
  const original = stringOf(originalMessage);
  const status = numberOf(originalStatusCode);
  const { code, ...problem } = problemOf(body) ?? problemOf(Message) ?? problemOf(original) ?? problemOf(type) ?? {};
  const name = type ?? code;
  if (!("message" in problem)) return undefined;
  return {
    ...problem,
    ...(name === undefined ? {} : { code: exceptionName(name) }),
    ...(status === undefined ? {} : { status }),
    ...(original === undefined || original === problem.message ? {} : { reasons: [original] }),
  };
};

/** One spelling for `throttlingException` in a stream and `com.amazon.coral#ThrottlingException:http://...` in a body. */
const exceptionName = (type: string): string => {
  const name = shortWord(type.slice(type.indexOf("#") + 1).split(":", 1)[0]);
  return name.charAt(0).toUpperCase() + name.slice(1);
};

/** What a block, a start or a delta holds. It should be one thing, but members set to null are seen. */
const membersOf = (holder: Record<string, unknown>): readonly (readonly [kind: string, value: unknown])[] =>
  Object.entries(holder).filter(([, value]) => isThere(value));

const isThere = (value: unknown): boolean => value !== undefined && value !== null;

const framesOf = (body: unknown): readonly Frame[] => {
  const { output, stopReason, usage, trace } = objectOf(body);
  const { role, content } = objectOf(objectOf(output)["message"]);
  if (!Array.isArray(content)) return [{ name: bedrockProblem(body) === undefined ? "" : unnamed, data: body }];
  const blocks = content.flatMap((block: unknown) =>
    membersOf(objectOf(block)).flatMap(([kind, value]) => blockFrames(kind, value)),
  );
  return [
    { name: "messageStart", data: { role } },
    ...blocks.flatMap((frames, contentBlockIndex) =>
      [...frames, { name: "contentBlockStop", data: {} }].map(({ name, data }) => ({
        name,
        data: { ...data, contentBlockIndex },
      })),
    ),
    { name: "messageStop", data: { stopReason } },
    { name: "metadata", data: { usage, trace } },
  ];
};

type BlockFrame = { readonly name: string; readonly data: Record<string, unknown> };

/** One thing a message holds as the frames of its block; cited text is one block for each of its texts. */
const blockFrames = (kind: string, value: unknown): readonly (readonly BlockFrame[])[] => {
  const delta = (held: Record<string, unknown>): BlockFrame => ({ name: "contentBlockDelta", data: { delta: held } });
  const fields = objectOf(value);
  switch (kind) {
    case "text":
      return [[delta({ text: value })]];
    case "reasoningContent": {
      const redactedContent = stringOf(fields["redactedContent"]);
      if (redactedContent !== undefined) return [[delta({ reasoningContent: { redactedContent } })]];
      const spoken = fields["reasoningText"] ?? value;
      return [[delta({ reasoningContent: typeof spoken === "string" ? { text: spoken } : spoken })]];
    }
    case "citationsContent": {
      const cited = arrayOf(fields["citations"]).length === 0 ? [] : [delta({ citation: {} })];
      return arrayOf(fields["content"]).map((piece) => [delta({ text: objectOf(piece)["text"] }), ...cited]);
    }
    default:
      return [[{ name: "contentBlockStart", data: { start: { [kind]: value } } }]];
  }
};
