import type { Completion } from "../conversation/entry.ts";
import { callOrdinal } from "../conversation/call-ids.ts";
import { isSameOutcome } from "../conversation/ledger.ts";
import type { Call, CallId, Content, Media, Outcome, Text, Thinking } from "../conversation/parts.ts";
import type { AddNote } from "./decision-log.ts";
import type { CallExchange } from "./step.ts";
import { conflictingResultLabel, orphanResultLabel } from "./words.ts";

/** A step that is not complete yet. */
export type StepDraft = UserDraft | ModelDraft;

/** A user message; with `opens`, the next user message is joined to it. */
type UserDraft = {
  readonly role: "user";
  readonly parts: readonly (Text | Media)[];
  readonly opens?: true;
  /** The indexes of the entries it is made of. */
  readonly entries: readonly number[];
};

/** A model message with its calls; `open` counts the calls without a result. */
export type ModelDraft = {
  readonly role: "model";
  parts: readonly (Text | Thinking | Media | OpenExchange)[];
  calls: number;
  open: number;
  /** The indexes of the entries it is made of. */
  readonly entries: number[];
};

/** A call exchange whose result is missing or not placed yet. */
export type OpenExchange = {
  -readonly [Field in keyof CallExchange]: CallExchange[Field] | (Field extends "result" ? undefined : never);
};

/**
 * The pass `pair`: folds entries into steps with call and result together. A result joins its call wherever it was
 * recorded; user messages sent meanwhile are placed after the batch; a result without a call becomes labelled text.
 */
export class ResultPairing {
  /** The index of the entry that is added now. */
  entry = 0;
  readonly #drafts: StepDraft[] = [];
  /** Calls by ordinal. */
  readonly #calls: Call[] = [];
  readonly #outcomes: Outcome[] = [];
  readonly #draftOf: (ModelDraft | undefined)[] = [];
  readonly #claims = new Map<CallId, readonly Outcome[]>();
  readonly #addNote: AddNote;
  #openDrafts = 0;

  constructor(addNote: AddNote) {
    this.#addNote = addNote;
  }

  addUser(parts: readonly (Text | Media)[]): void {
    if (this.#openDrafts > 0)
      this.#addNote("moved-text", "Text sent while tools were running is placed after their results.");
    const opening = this.#takeOpening();
    this.#drafts.push({ role: "user", ...this.#joined(opening, parts) });
  }

  /** Adds parts that are sent in one message with the user's next message. */
  addOpening(parts: readonly (Text | Media)[]): void {
    const opening = this.#takeOpening();
    this.#drafts.push({ role: "user", ...this.#joined(opening, parts), opens: true });
  }

  #takeOpening(): UserDraft | undefined {
    const last = this.#drafts.at(-1);
    if (last?.role !== "user" || last.opens !== true) return undefined;
    this.#drafts.pop();
    return last;
  }

  #joined(opening: UserDraft | undefined, parts: readonly (Text | Media)[]): Pick<UserDraft, "parts" | "entries"> {
    if (opening === undefined) return { parts, entries: [this.entry] };
    return { parts: [...opening.parts, ...parts], entries: [...opening.entries, this.entry] };
  }

  /** Adds a model message: its parts as the target will see them, and as they were recorded. */
  addModel(parts: ModelDraft["parts"], recorded: readonly { readonly type: string }[]): void {
    const last = this.#drafts.at(-1);
    let draft: ModelDraft;
    if (last?.role === "model" && last.calls === 0) {
      draft = last;
      draft.parts = [...draft.parts, ...parts];
      draft.entries.push(this.entry);
      this.#addNote("merged-messages", "Two consecutive model messages were merged.");
    } else {
      draft = { role: "model", parts, calls: 0, open: 0, entries: [this.entry] };
      this.#drafts.push(draft);
    }
    for (const part of recorded) {
      if (part.type !== "call") continue;
      const call = part as Call;
      const ordinal = callOrdinal(call.id);
      this.#calls[ordinal] = call;
      this.#draftOf[ordinal] = draft;
      draft.calls++;
    }
    draft.open = draft.calls;
    if (draft.calls > 0) this.#openDrafts++;
  }

  addCompletion({ call, tool, outcome }: Completion): void {
    const ordinal = callOrdinal(call);
    const known = this.#outcomes[ordinal];
    if (this.#calls[ordinal] === undefined) {
      this.#addNote("orphan-result", `A result of ${tool} has no call; it is shown as text.`, call);
      this.addUser(toLabelledText(orphanResultLabel(tool), outcome));
    } else if (known === undefined) {
      const draft = this.#draftOf[ordinal]!;
      this.#outcomes[ordinal] = outcome;
      draft.entries.push(this.entry);
      draft.open--;
      if (draft.open === 0) this.#openDrafts--;
      if (this.#drafts.at(-1) !== draft)
        this.#addNote("moved-result", `The result of ${tool} was recorded late; it is placed with its call.`, call);
    } else this.#contradict({ type: "completion", call, tool, outcome }, known);
  }

  /** Returns the call of an exchange. */
  callOf(id: CallId): Call {
    return this.#calls[callOrdinal(id)]!;
  }

  /** Returns the outcome of a call, if it has ended. */
  outcomeOf(id: CallId): Outcome | undefined {
    return this.#outcomes[callOrdinal(id)];
  }

  #contradict({ call, tool, outcome }: Completion, first: Outcome): void {
    const conflicting = this.#claims.get(call) ?? [];
    if (isSameOutcome(first, outcome) || conflicting.some((claim) => isSameOutcome(claim, outcome))) {
      this.#addNote("duplicate-result", `The same result of ${tool} was recorded twice; one is shown.`, call);
      return;
    }
    const message = `Another result of ${tool} was recorded; the first is kept, this one is shown as text.`;
    this.#addNote("conflicting-result", message, call);
    this.#claims.set(call, [...conflicting, outcome]);
    this.addUser(toLabelledText(conflictingResultLabel(tool), outcome));
  }

  /** Removes the leading drafts that can no longer change and emits them in order. */
  takeClosed(emit: (draft: StepDraft) => void): void {
    const drafts = this.#drafts;
    let closedCount = 0;
    for (; closedCount < drafts.length; closedCount++) {
      const draft = drafts[closedCount]!;
      // A trailing message without calls, or an opening, may still be joined with the next one.
      if (draft.role === "user" && draft.opens === true && closedCount === drafts.length - 1) break;
      if (draft.role === "model" && (draft.open > 0 || (draft.calls === 0 && closedCount === drafts.length - 1))) break;
      emit(draft);
      if (draft.role === "model" && draft.calls > 0) this.#forget(draft);
    }
    if (closedCount === drafts.length) drafts.length = 0;
    else if (closedCount > 0) drafts.splice(0, closedCount);
  }

  /** Frees an emitted draft; its calls and their outcomes stay known. */
  #forget({ parts }: ModelDraft): void {
    for (const part of parts) if (part.type === "exchange") this.#draftOf[callOrdinal(part.call)] = undefined;
  }

  /** Drafts that may still change. */
  get openDrafts(): readonly StepDraft[] {
    return this.#drafts;
  }
}

const toLabelledText = (label: string, outcome: Outcome): readonly (Text | Media)[] => [
  { type: "text", text: label },
  ...outcome.content.map(structuredAsText),
];

const structuredAsText = (part: Content): Text | Media =>
  part.type === "structured" ? { type: "text", text: JSON.stringify(part.value) } : part;
