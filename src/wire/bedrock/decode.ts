import { isObject } from "../../conversation/json.ts";
import { mimeTypeOf } from "./formats.ts";
import type { BedrockDialect } from "./encode.ts";
import {
  chainStep,
  startBlock,
  parseBlockIndex,
  emptyTextBlock,
  emptyThinkingBlock,
  endBlock,
  finishResponse,
  initialBlockState,
  appendDeltas,
  type BlockStart,
  type BlockState,
  type BlockDraft,
  type BlockDelta,
} from "../decode/blocks.ts";
import {
  createStreamDecoder,
  toTokenCount,
  type ResponseEvent,
  type ResponseDecoder,
  type FinishReason,
  type StreamFold,
  type StreamFrame,
  type ApiError,
  type TokenUsage,
} from "../decode/events.ts";
import { fail, skip, shortName, endWith, type StepResult } from "../decode/fold.ts";
import { parseApiError } from "../decode/api-error.ts";
import { arrayOf, idOf, numberOf, objectOf, stringOf } from "../reader.ts";

/** Decodes Bedrock Converse responses. The usage comes after the stop, so a response finishes with its `metadata`. */
export const decodeBedrock: ResponseDecoder<BedrockDialect> = {
  open: () => createStreamDecoder(fold),
  frames: (body) => framesOfResponse(body),
  parseError: (body) => parseBedrockError(body),
};

/** Whether the usage was received. */
type BedrockStreamState = BlockState<{ readonly counted: boolean }>;

const fold: StreamFold<BedrockStreamState> = {
  start: initialBlockState({ counted: false }),
  step: (state, frame) => step(state, frame),
  end: (state) => (state.over || state.stopReason === undefined ? [] : finishResponse(state, finishReasons)[1]),
};

const step = (state: BedrockStreamState, { name, data }: StreamFrame): StepResult<BedrockStreamState> => {
  if (state.over) return skip(state, `${shortName(name)} after the end`);
  const event = objectOf(data);
  const at = parseBlockIndex(event["contentBlockIndex"]);
  switch (name) {
    case "messageStart":
      return onMessageStart(state, event);
    case "contentBlockStart":
      return onBlockStart(state, at, objectOf(event["start"]));
    case "contentBlockDelta":
      return onBlockDelta(state, at, objectOf(event["delta"]));
    case "contentBlockStop":
      // An empty text has neither start nor delta.
      return chainStep(at === state.nextBlock ? startBlock(state, at, emptyTextBlock) : [state, []], (now) =>
        endBlock(now, at),
      );
    case "messageStop":
      return onMessageStop(state, event);
    case "metadata":
      return onMetadata(state, event);
    default:
      return onOther(state, name, data);
  }
};

const onMessageStart = (
  state: BedrockStreamState,
  { role }: Record<string, unknown>,
): StepResult<BedrockStreamState> => {
  if (state.isStarted) return skip(state, "messageStart, said twice");
  if (role !== undefined && role !== "assistant") return fail(state, `The answer has the role ${shortName(role)}.`);
  return [{ ...state, isStarted: true }, []];
};

const onBlockStart = (
  state: BedrockStreamState,
  at: number,
  start: Record<string, unknown>,
): StepResult<BedrockStreamState> => {
  const [kind, value] = membersOf(start)[0] ?? [];
  // Text and reasoning start with their first delta. Some servers send a start anyway.
  if (kind === undefined || kind === "text" || kind === "reasoningContent") return [state, []];
  return startBlock(state, at, {
    draft: draftOf(kind, objectOf(value)),
    deltas: kind === "image" ? blockDeltasOf(kind, value) : [],
  });
};

const draftOf = (kind: string, value: Record<string, unknown>): BlockDraft => {
  if (kind === "image") return { type: "file", mimeType: mimeTypeOf("image", stringOf(value["format"])) };
  if (kind !== "toolUse") return { type: "ignored", what: `${shortName(kind)} block` };
  // A server tool: the service runs it itself, and its result follows.
  if (value["type"] === "server_tool_use") return { type: "ignored", what: "server_tool_use block" };
  const call = { type: "call", tool: stringOf(value["name"]) ?? "", id: idOf(value["toolUseId"]) } as const;
  return { ...call, given: value["input"] };
};

const onBlockDelta = (
  state: BedrockStreamState,
  at: number,
  delta: Record<string, unknown>,
): StepResult<BedrockStreamState> => {
  const deltas: BlockDelta[] = [];
  for (const kind in delta)
    if (isPresent(delta[kind])) for (const each of blockDeltasOf(kind, delta[kind])) deltas.push(each);
  const start = at === state.nextBlock ? unannouncedBlock(deltas[0]) : undefined;
  if (start === undefined) return appendDeltas(state, at, deltas);
  return startBlock(state, at, { ...start, deltas });
};

/** Returns the start for a block that began without one. Calls and images always have one. */
const unannouncedBlock = (delta: BlockDelta | undefined): BlockStart | undefined => {
  if (delta === undefined || delta.type === "call" || delta.type === "file") return undefined;
  return delta.type === "text" || delta.type === "unknown" ? emptyTextBlock : emptyThinkingBlock;
};

const blockDeltasOf = (kind: string, value: unknown): readonly BlockDelta[] => {
  switch (kind) {
    case "text":
      return [{ type: "text", text: stringOf(value) ?? "" }];
    case "toolUse":
      return [{ type: "call", text: stringOf(objectOf(value)["input"]) ?? "" }];
    case "image":
      return [{ type: "file", text: stringOf(objectOf(objectOf(value)["source"])["bytes"]) ?? "" }];
    case "reasoningContent":
      return membersOf(objectOf(value)).map(([part, text]) => reasoningDelta(part, stringOf(text) ?? ""));
    default:
      return [{ type: "unknown", text: shortName(kind) }];
  }
};

const reasoningDelta = (kind: string, text: string): BlockDelta => {
  switch (kind) {
    case "text":
      return { type: "thinking", text };
    case "signature":
      return { type: "signature", text };
    case "redactedContent":
      return { type: "encrypted", text };
    default:
      return { type: "unknown", text: `reasoning ${shortName(kind)}` };
  }
};

const onMessageStop = (
  state: BedrockStreamState,
  { stopReason }: Record<string, unknown>,
): StepResult<BedrockStreamState> => {
  if (state.stopReason !== undefined) return skip(state, "messageStop, said twice");
  const stopped = { ...state, stopReason: stringOf(stopReason) ?? "" };
  return stopped.familyState.counted ? finishResponse(stopped, finishReasons) : [stopped, []];
};

const finishReasons: Readonly<Record<string, FinishReason>> = {
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

const onMetadata = (
  state: BedrockStreamState,
  { usage, trace }: Record<string, unknown>,
): StepResult<BedrockStreamState> => {
  const model = stringOf(objectOf(objectOf(trace)["promptRouter"])["invokedModelId"]);
  const events: readonly ResponseEvent[] = [
    ...(isObject(usage) ? [{ type: "usage", usage: usageOf(usage) } as const] : []),
    ...(model === undefined ? [] : [{ type: "response-start", model } as const]),
  ];
  const counted: StepResult<BedrockStreamState> = [{ ...state, familyState: { counted: true } }, events];
  return state.stopReason === undefined ? counted : chainStep(counted, (last) => finishResponse(last, finishReasons));
};

/** Parses the usage. Cache reads and writes are not part of `inputTokens`. */
const usageOf = (counts: Record<string, unknown>): TokenUsage => {
  const cachedRead = toTokenCount(counts["cacheReadInputTokens"]);
  const cachedWrite = toTokenCount(counts["cacheWriteInputTokens"]);
  const input = toTokenCount(counts["inputTokens"]) + cachedRead + cachedWrite;
  return { input, cachedRead, cachedWrite, output: toTokenCount(counts["outputTokens"]), reasoning: 0 };
};

const onOther = (state: BedrockStreamState, name: string, data: unknown): StepResult<BedrockStreamState> => {
  if (!/(?:Exception|Error|Failure)$/.test(name)) return skip(state, `${shortName(name)} frame`);
  const code = name === unnamedException ? {} : { code: exceptionName(name) };
  const apiError = parseBedrockError(data) ?? {
    message: `The service reported ${shortName(name)} and said nothing about it.`,
  };
  return endWith(state, { type: "error", error: { ...code, ...apiError } });
};

/** Stands for an error whose name is in a header and not in the body. */
const unnamedException = "Exception";

const parseBedrockError = (body: unknown): ApiError | undefined => {
  const { __type, Message, originalMessage, originalStatusCode } = objectOf(body);
  const type = stringOf(__type);
  const original = stringOf(originalMessage);
  const status = numberOf(originalStatusCode);
  const { code, ...apiError } =
    parseApiError(body) ?? parseApiError(Message) ?? parseApiError(original) ?? parseApiError(type) ?? {};
  const name = type ?? code;
  if (!("message" in apiError)) return undefined;
  return {
    ...apiError,
    ...(name === undefined ? {} : { code: exceptionName(name) }),
    ...(status === undefined ? {} : { status }),
    ...(original === undefined || original === apiError.message ? {} : { reasons: [original] }),
  };
};

/** Normalizes `throttlingException` in a stream and `com.amazon.coral#ThrottlingException:http://...` in a body to one name. */
const exceptionName = (type: string): string => {
  const name = shortName(type.slice(type.indexOf("#") + 1).split(":", 1)[0]);
  return name.charAt(0).toUpperCase() + name.slice(1);
};

/** Returns the members of a block, start or delta. There should be one, but members set to null occur. */
const membersOf = (holder: Record<string, unknown>): readonly (readonly [kind: string, value: unknown])[] =>
  Object.entries(holder).filter(([, value]) => isPresent(value));

const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

const framesOfResponse = (body: unknown): readonly StreamFrame[] => {
  const { output, stopReason, usage, trace } = objectOf(body);
  const { role, content } = objectOf(objectOf(output)["message"]);
  if (!Array.isArray(content))
    return [{ name: parseBedrockError(body) === undefined ? "" : unnamedException, data: body }];
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

/** Converts one member of a message to the frames of its block; cited text becomes one block per text. */
const blockFrames = (kind: string, value: unknown): readonly (readonly BlockFrame[])[] => {
  const delta = (member: Record<string, unknown>): BlockFrame => ({
    name: "contentBlockDelta",
    data: { delta: member },
  });
  const fields = objectOf(value);
  switch (kind) {
    case "text":
      return [[delta({ text: value })]];
    case "reasoningContent": {
      const redactedContent = stringOf(fields["redactedContent"]);
      if (redactedContent !== undefined) return [[delta({ reasoningContent: { redactedContent } })]];
      const reasoning = fields["reasoningText"] ?? value;
      return [[delta({ reasoningContent: typeof reasoning === "string" ? { text: reasoning } : reasoning })]];
    }
    case "citationsContent": {
      const cited = arrayOf(fields["citations"]).length === 0 ? [] : [delta({ citation: {} })];
      return arrayOf(fields["content"]).map((cite) => [delta({ text: objectOf(cite)["text"] }), ...cited]);
    }
    default:
      return [[{ name: "contentBlockStart", data: { start: { [kind]: value } } }]];
  }
};
