import type { Entry, ModelMessage, Origin } from "../../conversation/entry.ts";
import { isObject } from "../../conversation/json.ts";
import type { Part, Seal, Thinking } from "../../conversation/parts.ts";
import type { SealCargo } from "../answers/answer.ts";
import { unwrapSeal, type SealSource } from "../carry.ts";

/**
 * Puts wrapped seals from the store on the calls of messages that came back without any. Chat Completions has no field for
 * them that every client returns.
 */
export const recallSeals = (
  entries: readonly Entry[],
  recall: (callId: string) => string | undefined,
): readonly Entry[] =>
  entries.map((entry) =>
    entry.type !== "model" || entry.parts.some(isWrapped)
      ? entry
      : {
          ...entry,
          parts: entry.parts.map((part) => {
            const id = part.type === "call" ? part.seal?.id : undefined;
            const wrapped = id === undefined ? undefined : recall(id);
            return part.type !== "call" || wrapped === undefined
              ? part
              : { ...part, seal: { ...part.seal, signature: wrapped } };
          }),
        },
  );

/**
 * Restores the seals, the hidden thinking and the origin of messages from the wrapped fields a client returned. A message
 * without any keeps the origin it was read with.
 */
export const restoreSeals = (entries: readonly Entry[]): readonly Entry[] =>
  joinMessages(entries).flatMap((entry): readonly Entry[] =>
    entry.type === "model" ? restoreMessage(entry) : [entry],
  );

/** Joins neighbouring model messages: some clients return each event of a stream as a message of its own. */
const joinMessages = (entries: readonly Entry[]): readonly Entry[] => {
  const joined: Entry[] = [];
  for (const entry of entries) {
    const last = joined.at(-1);
    if (entry.type === "model" && last?.type === "model" && isSameOrigin(entry.origin, last.origin))
      joined[joined.length - 1] = { ...last, parts: [...last.parts, ...entry.parts] };
    else joined.push(entry);
  }
  return joined;
};

const restoreMessage = (message: ModelMessage): readonly ModelMessage[] => {
  if (!message.parts.some(isWrapped)) return [message];
  const restorer = new MessageRestorer(message);
  message.parts.forEach((part) => restorer.add(part));
  return restorer.messages();
};

const isWrapped = (part: Part): boolean => {
  const seal = part.type === "code" || part.type === "media" ? undefined : part.seal;
  if (seal === undefined) return false;
  const field = fieldOf(seal);
  return (field !== undefined && unwrapSeal(field) !== undefined) || (seal.details ?? []).some(isWrappedDetail);
};

const fieldOf = (seal: Seal): string | undefined => seal.signature ?? seal.encrypted;

const isWrappedDetail = (detail: unknown): boolean =>
  isObject(detail) && typeof detail["data"] === "string" && unwrapSeal(detail["data"]) !== undefined;

/** Collects the parts of one message, as messages of their origins: clients join responses of several models. */
class MessageRestorer {
  readonly #message: ModelMessage;
  readonly #messages: ModelMessage[] = [];
  /** Seals of calls, by the id the client has, from the details of Chat Completions. */
  readonly #callSeals = new Map<string, Seal>();
  #parts: Part[] = [];
  #source: SealSource | undefined;
  #next: Seal | undefined;

  constructor(message: ModelMessage) {
    this.#message = message;
  }

  add(part: Part): void {
    switch (part.type) {
      case "thinking":
        return this.#addThinking(part);
      case "text":
      case "call": {
        const { seal, ...bare } = part;
        const cargo = this.#unwrap(seal === undefined ? undefined : fieldOf(seal));
        this.#addBefore(cargo?.before ?? []);
        this.#addFirst(cargo?.first ?? []);
        const id = part.type === "call" ? seal?.id : undefined;
        const carried =
          cargo === undefined ? (this.#next ?? (id === undefined ? undefined : this.#callSeals.get(id))) : cargo.seal;
        const own = cargo === undefined ? seal : id === undefined ? undefined : { id };
        this.#next = undefined;
        const restored = carried === undefined ? own : { ...own, ...carried };
        this.#parts.push((restored === undefined ? bare : { ...bare, seal: restored }) as Part);
        return;
      }
      case "code":
      case "media":
        this.#parts.push(part);
    }
  }

  /** Adds the thinking before a part, in place of the thoughts without seals that some clients return. */
  #addBefore(before: readonly Thinking[]): void {
    const text = before.map((part) => part.text).join("");
    const isRepeated = (part: Part): boolean =>
      part.type === "thinking" && part.seal === undefined && text.includes(part.text);
    if (before.length > 0) this.#parts = [...this.#parts.filter((part) => !isRepeated(part)), ...before];
  }

  /** Puts thinking at the start of the message, in place of what the client returned of it. */
  #addFirst(first: readonly Thinking[]): void {
    if (first.length === 0) return;
    const text = first.map((part) => part.text).join("");
    const known = new Set(first.map((part) => JSON.stringify(part)));
    const isRepeated = (part: Part): boolean =>
      part.type === "thinking" &&
      (part.seal === undefined ? text.includes(part.text) : known.has(JSON.stringify(part)));
    this.#parts = [...first, ...this.#parts.filter((part) => !isRepeated(part))];
  }

  messages(): readonly ModelMessage[] {
    this.#flush();
    return this.#messages;
  }

  #addThinking(part: Thinking): void {
    const { seal } = part;
    if (seal?.details !== undefined && seal.details.some(isWrappedDetail)) return this.#addDetails(part, seal.details);
    const cargo = this.#unwrap(seal === undefined ? undefined : fieldOf(seal));
    if (cargo === undefined) this.#parts.push(part);
    else this.#addCargo(part.text, cargo);
  }

  /** Reads the details of Chat Completions: an entry that names a call has its seal, any other one is a thinking part. */
  #addDetails({ text }: Thinking, details: NonNullable<Seal["details"]>): void {
    let shown: string | undefined = text;
    for (const detail of details) {
      if (!isObject(detail)) continue;
      const cargo = this.#unwrap(typeof detail["data"] === "string" ? detail["data"] : undefined);
      if (cargo === undefined) continue;
      const id = detail["id"];
      if (typeof id === "string" && this.#hasCall(id)) this.#callSeals.set(id, cargo.seal ?? {});
      else {
        this.#addCargo(shown ?? "", cargo);
        shown = undefined;
      }
    }
    if (shown !== undefined && shown !== "") this.#parts.unshift({ type: "thinking", text: shown });
  }

  /** Adds a thinking part, or the seals for other parts that an empty one carries. */
  #addCargo(shown: string, cargo: SealCargo): void {
    const { seal, text, next, previous, thinking } = cargo;
    if (seal !== undefined || text !== undefined || shown !== "") this.#parts.push(restoreThinking(shown, cargo));
    if (previous !== undefined) this.#sealLast("text", previous);
    if (thinking !== undefined) this.#sealLast("thinking", thinking);
    if (next !== undefined) this.#next = next;
  }

  /** Seals the last part of a type, whose seal was not known when it was sent. */
  #sealLast(type: "text" | "thinking", seal: Seal): void {
    const at = this.#parts.findLastIndex((part) => part.type === type);
    const last = this.#parts[at];
    if (last?.type === type) this.#parts[at] = { ...last, seal: { ...last.seal, ...seal } };
  }

  #hasCall(id: string): boolean {
    return this.#message.parts.some((part) => part.type === "call" && part.seal?.id === id);
  }

  #unwrap(field: string | undefined): SealCargo | undefined {
    const found = field === undefined ? undefined : unwrapSeal(field);
    if (found === undefined) return undefined;
    const { origin, prefix, ...cargo } = found;
    if (this.#source !== undefined && !isSameOrigin(this.#source.origin, origin)) this.#flush();
    this.#source ??= { origin, ...(prefix === undefined ? {} : { prefix }) };
    return cargo;
  }

  #flush(): void {
    if (this.#parts.length > 0) {
      const { origin, prefix } = this.#source ?? this.#message;
      this.#messages.push({
        type: "model",
        origin,
        parts: this.#parts,
        ...(prefix === undefined ? {} : { prefix }),
      });
    }
    this.#parts = [];
    this.#source = undefined;
  }
}

const restoreThinking = (shown: string, { seal, text }: SealCargo): Thinking => ({
  type: "thinking",
  text: text ?? shown,
  ...(seal === undefined || Object.keys(seal).length === 0 ? {} : { seal }),
});

const isSameOrigin = (one: Origin, other: Origin): boolean =>
  one.provider === other.provider && one.model === other.model && one.account === other.account;
