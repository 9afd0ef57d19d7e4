import type { ModelMessage, Origin } from "../conversation/entry.ts";
import type { Call, Media, Part, Seal, Text, Thinking } from "../conversation/parts.ts";
import type { AddNote } from "./decision-log.ts";
import type { RenderPolicy, Target } from "./target.ts";
import { isBlank, thinkingAsText } from "./words.ts";

/** The parts of a model message after the thinking policy: seals are kept only where the target can read them. */
export type ReasonedParts = readonly (Text | Thinking | Media | Call)[];

/** Input of the pass `reason`. `isIntact` says whether everything before a message is as the model saw it. */
export type ThinkingContext = {
  readonly target: Target;
  readonly policy: RenderPolicy;
  readonly isIntact: (message: ModelMessage) => boolean;
  readonly addNote: AddNote;
  /** Reserves a provider's item id; false if the request already has an item with this id. */
  readonly claimItem: (item: string) => boolean;
};

/**
 * The pass `reason`: keeps the thinking a target can read, drops the rest or shows it as text, and adds the documented
 * filler where the target requires thinking and there is none.
 */
export const applyThinkingPolicy = (message: ModelMessage, context: ThinkingContext): ReasonedParts => {
  const { target, policy } = context;
  if (message.parts.every(isPlain)) return addBackfill(message.parts as ReasonedParts, context);
  const isOwn = policy.thinking !== "none" && canRead(target, message.origin);
  const keepsSeals =
    isOwn &&
    target.thinking.unsealed !== true &&
    (!target.thinking.bound || !isSealed(message) || context.isIntact(message));
  if (!keepsSeals && message.parts.some(isSigned))
    context.addNote("thinking-dropped", "Signatures on text and calls that this model cannot read are left out.");
  const kept: ReasonedParts[number][] = [];
  for (const part of message.parts) {
    switch (part.type) {
      case "thinking":
        kept.push(...renderThinking(part, { own: isOwn, sealed: keepsSeals, judgement: context }));
        break;
      case "text":
        if (
          !isBlank(part.text) ||
          (keepsSeals && target.thinking.form === "seal" && part.seal?.signature !== undefined)
        )
          kept.push(stripSeal(part, keepsSeals));
        break;
      case "code":
        if (!isBlank(part.text)) kept.push({ type: "text", text: `\`\`\`${part.language}\n${part.text}\n\`\`\`` });
        break;
      case "call":
        kept.push(stripSeal(part, keepsSeals));
        break;
      case "media":
        kept.push(part);
    }
  }
  return addBackfill(dropTrailingThinking(kept, context.addNote), context);
};

/** Whether a part is sent unchanged, from any model and under any policy. */
const isPlain = (part: Part): boolean => {
  switch (part.type) {
    case "text":
      return part.seal === undefined && !isBlank(part.text);
    case "call":
      return part.seal === undefined || isIdOnly(part.seal);
    case "media":
      return true;
    case "thinking":
    case "code":
      return false;
  }
};

/** Whether a text or call carries more than an id. */
const isSigned = (part: Part): boolean =>
  (part.type === "text" || part.type === "call") &&
  (part.seal?.signature !== undefined || part.seal?.encrypted !== undefined || part.seal?.details !== undefined);

/** Whether a target can read thinking of this origin. */
const canRead = (target: Target, origin: Origin): boolean =>
  origin.provider === target.provider &&
  (origin.account === undefined || target.account === undefined || origin.account === target.account) &&
  (origin.model === target.model ||
    target.thinking.readers.some(({ reader, of }) => reader.test(target.model) && of.test(origin.model)));

const isSealed = (message: ModelMessage): boolean =>
  message.parts.some((part) => part.type === "thinking" && part.seal !== undefined);

const renderThinking = (
  part: Thinking,
  { own: isOwn, sealed: keepsSeals, judgement: context }: { own: boolean; sealed: boolean; judgement: ThinkingContext },
): ReasonedParts => {
  const { form } = context.target.thinking;
  if (form === "plain" && isOwn) return [part];
  if (
    form === "signed" &&
    keepsSeals &&
    hasSeal(part) &&
    (part.seal?.item === undefined || context.claimItem(part.seal.item))
  )
    return [part];
  if (form === "seal" && isOwn) {
    if (!isBlank(part.text)) context.addNote("thinking-dropped", "This API does not accept thinking in requests.");
    return [];
  }
  if (context.policy.thinking === "text" && !isBlank(part.text)) {
    context.addNote("thinking-as-text", "Thinking this model cannot read is shown as text.");
    return [{ type: "text", text: thinkingAsText(part.text) }];
  }
  context.addNote(
    "thinking-dropped",
    isOwn ? "Thinking without a valid seal is left out." : "Thinking of another model is left out.",
  );
  return [];
};

const hasSeal = ({ seal }: Thinking): boolean =>
  seal?.signature !== undefined || seal?.encrypted !== undefined || seal?.details !== undefined;

/** Removes the seal unless it is kept: a call keeps its id, text keeps nothing. */
const stripSeal = <SealedPart extends Text | Call>(part: SealedPart, keep: boolean): SealedPart => {
  if (keep || part.seal === undefined || (part.type === "call" && isIdOnly(part.seal))) return part;
  const { seal, ...bare } = part;
  return (part.type === "call" && seal.id !== undefined ? { ...bare, seal: { id: seal.id } } : bare) as SealedPart;
};

/** Whether a seal holds only an id. */
const isIdOnly = ({ signature, encrypted, item, details }: Seal): boolean =>
  signature === undefined && encrypted === undefined && item === undefined && details === undefined;

/** Drops thinking at the end of a message: no API accepts thinking without anything after it. */
const dropTrailingThinking = (parts: ReasonedParts, decide: AddNote): ReasonedParts => {
  const last = parts.findLastIndex((part) => part.type !== "thinking");
  if (last === parts.length - 1) return parts;
  decide(
    "thinking-dropped",
    last === -1
      ? "A message with nothing but thinking is left out: no API accepts thinking without anything after it."
      : "Thinking at the end of a message is left out.",
  );
  return parts.slice(0, last + 1);
};

/** Adds the documented stand-in first where an API requires thinking and there is none. */
const addBackfill = (parts: ReasonedParts, { target, addNote: decide }: ThinkingContext): ReasonedParts => {
  const { backfill } = target.thinking;
  if (backfill === undefined || parts.length === 0 || parts.some((part) => part.type === "thinking")) return parts;
  if (backfill.on === "calls" && !parts.some((part) => part.type === "call")) return parts;
  decide("reasoning-backfill", "This API requires reasoning on such a message; an empty one is added.");
  return [{ type: "thinking", text: backfill.text }, ...parts];
};
