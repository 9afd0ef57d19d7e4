import type { JsonObject } from "../../conversation/json.ts";
import type { Code, Seal } from "../../conversation/parts.ts";
import type { ContentEvent } from "../../transport/events.ts";
import type { GeneratedFile } from "../../wire/decode/events.ts";
import type { AnswerContext, SealCargo } from "./answer.ts";
import { createSequencer, type SequenceEvent } from "./sequence.ts";

/** Encodes a server-sent event with a name. */
export const encodeNamedEvent = (type: string, data: JsonObject): string =>
  `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;

/** Encodes a server-sent event without a name. */
export const encodeEvent = (data: JsonObject): string => `data: ${JSON.stringify(data)}\n\n`;

/** Puts the events of a complete response in sequence: its parts as they ended, in the order they started. */
export const sequenceEvents = (events: readonly ContentEvent[]): readonly SequenceEvent[] => {
  const sequence = createSequencer();
  const ends = events.filter((event) => event.type === "part-end").toSorted((one, other) => one.index - other.index);
  const rest = events.filter(({ type }) => type === "usage" || type === "finish");
  return [...ends, ...rest].flatMap((event) => sequence(event));
};

/**
 * Creates a function that returns the id of the next call for the client: the target's own, or one of ours. Ids must be
 * unique in a conversation, and those of targets are not always: some count from 0 in every response, or repeat an id.
 */
export const createCallIds = ({ id }: AnswerContext, prefix: string): ((target: string | undefined) => string) => {
  const used = new Set<string>();
  return (target) => {
    const isUnique = target !== undefined && /^[\w-]{20,64}$/.test(target) && !used.has(target);
    const callId = isUnique ? target : `${prefix}${id}${used.size}`;
    used.add(callId);
    return callId;
  };
};

/** Whether a seal holds more than ids, which clients return anyway. */
export const isWorthKeeping = (seal: Seal | undefined): seal is Seal =>
  seal !== undefined &&
  (seal.signature !== undefined ||
    seal.encrypted !== undefined ||
    seal.details !== undefined ||
    seal.phase === "commentary");

/** Wraps cargo, unless the client takes no thinking. */
export const wrapCargo = ({ wrapSeal, options }: AnswerContext, cargo: SealCargo): string | undefined =>
  options.thinking === "none" ? undefined : wrapSeal?.(cargo);

/**
 * Collects the seals that ride in an empty thinking block before a part: its own, if it is known, and late ones of parts
 * before it. A late seal without a further part is dropped: no client expects thinking after the answer.
 */
export const createSealCarrier = (
  context: AnswerContext,
): {
  readonly late: (of: "text" | "thinking", seal: Seal | undefined) => void;
  readonly before: (seal: Seal | undefined) => string | undefined;
} => {
  let cargo: SealCargo = {};
  return {
    late: (of, seal) => {
      if (isWorthKeeping(seal)) cargo = of === "text" ? { ...cargo, previous: seal } : { ...cargo, thinking: seal };
    },
    before: (seal) => {
      const full: SealCargo = isWorthKeeping(seal) ? { ...cargo, next: seal } : cargo;
      cargo = {};
      return Object.keys(full).length === 0 ? undefined : wrapCargo(context, full);
    },
  };
};

/** Returns a value that is text; "" for anything else. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Shows a part as text where the client's API has no place for it. */
export const textOfWhole = (part: Code | GeneratedFile): string => {
  if (part.type === "code") return `\n\`\`\`${part.language}\n${part.text}\n\`\`\`\n`;
  const bytes = Math.floor((part.data.length * 3) / 4);
  return `[The model generated a file (${part.mimeType}, ${bytes} bytes), which this API cannot carry.]`;
};
