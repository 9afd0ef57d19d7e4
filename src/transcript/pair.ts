import type { Completion } from "../conversation/entry.ts";
import { callOrdinal } from "../conversation/call-ids.ts";
import { isSameOutcome } from "../conversation/ledger.ts";
import type { Call, CallId, Content, Media, Outcome, Text, Thinking } from "../conversation/parts.ts";
import type { AddNote } from "./decision-log.ts";
import type { CallExchange } from "./step.ts";
import { conflictingResultLabel, orphanResultLabel } from "./words.ts";

/** A step in the making. */
export type StepDraft = UserDraft | ModelDraft;

/** The person's words; `opens` says that what they say next goes in the same message. */
type UserDraft = { readonly role: "user"; readonly parts: readonly (Text | Media)[]; readonly opens?: true };

/** A model's words and calls; `open` counts the calls still without a result. */
export type ModelDraft = {
  readonly role: "model";
  parts: readonly (Text | Thinking | Media | OpenExchange)[];
  calls: number;
  open: number;
};

/** An exchange whose result is still to come, or to be placed. */
export type OpenExchange = {
  -readonly [Field in keyof CallExchange]: CallExchange[Field] | (Field extends "result" ? undefined : never);
};

/**
 * Folds entries into exchanges. A result joins its call wherever it was
 * recorded; what the person said meanwhile stands after the batch; a result
 * without a call becomes a labelled word rather than vanish.
 */
export class ResultPairing {
  readonly #drafts: StepDraft[] = [];
  /** What is known of every call, by its ordinal. */
  readonly #calls: Call[] = [];
  readonly #outcomes: Outcome[] = [];
  readonly #draftOf: (ModelDraft | undefined)[] = [];
  readonly #claims = new Map<CallId, readonly Outcome[]>();
  readonly #decide: AddNote;
  #openDrafts = 0;

  constructor(decide: AddNote) {
    this.#decide = decide;
  }

  addUser(parts: readonly (Text | Media)[]): void {
    if (this.#openDrafts > 0)
      this.#decide("moved-text", "Words said while tools were running stand after their results.");
    this.#drafts.push({ role: "user", parts: [...this.#takeOpening(), ...parts] });
  }

  /** Adds what stands in front of the person's next words, in one message with them. */
  addOpening(parts: readonly (Text | Media)[]): void {
    this.#drafts.push({ role: "user", parts: [...this.#takeOpening(), ...parts], opens: true });
  }

  #takeOpening(): readonly (Text | Media)[] {
    const last = this.#drafts.at(-1);
    if (last?.role !== "user" || last.opens !== true) return [];
    this.#drafts.pop();
    return last.parts;
  }

  /** Adds a model message: its parts as the target will see them, and as they were made. */
  addModel(parts: ModelDraft["parts"], made: readonly { readonly type: string }[]): void {
    const last = this.#drafts.at(-1);
    let draft: ModelDraft;
    if (last?.role === "model" && last.calls === 0) {
      draft = last;
      draft.parts = [...draft.parts, ...parts];
      this.#decide("merged-messages", "Two messages of the model in a row became one.");
    } else {
      draft = { role: "model", parts, calls: 0, open: 0 };
      this.#drafts.push(draft);
    }
    for (const part of made) {
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
      this.#decide("orphan-result", `A result of ${tool} has no call; it is shown as words.`, call);
      this.addUser(toLabelledText(orphanResultLabel(tool), outcome));
    } else if (known === undefined) {
      const draft = this.#draftOf[ordinal]!;
      this.#outcomes[ordinal] = outcome;
      draft.open--;
      if (draft.open === 0) this.#openDrafts--;
      if (this.#drafts.at(-1) !== draft)
        this.#decide("moved-result", `The result of ${tool} was recorded late and stands with its call.`, call);
    } else this.#contradict({ type: "completion", call, tool, outcome }, known);
  }

  /** The call behind an exchange. */
  callOf(id: CallId): Call {
    return this.#calls[callOrdinal(id)]!;
  }

  /** How a call ended, if it has. */
  outcomeOf(id: CallId): Outcome | undefined {
    return this.#outcomes[callOrdinal(id)];
  }

  #contradict({ call, tool, outcome }: Completion, first: Outcome): void {
    const claims = this.#claims.get(call) ?? [];
    if (isSameOutcome(first, outcome) || claims.some((claim) => isSameOutcome(claim, outcome))) {
      this.#decide("duplicate-result", `The same result of ${tool} was recorded twice; one is shown.`, call);
      return;
    }
    const message = `Another result of ${tool} was recorded; the first stands, this one is shown as words.`;
    this.#decide("conflicting-result", message, call);
    this.#claims.set(call, [...claims, outcome]);
    this.addUser(toLabelledText(conflictingResultLabel(tool), outcome));
  }

  /** Hands over the drafts nothing can change any more, in order. */
  takeClosed(emit: (draft: StepDraft) => void): void {
    const drafts = this.#drafts;
    let closed = 0;
    for (; closed < drafts.length; closed++) {
      const draft = drafts[closed]!;
      // The last message without calls, or an opening, may still be joined by the next.
      if (draft.role === "user" && draft.opens === true && closed === drafts.length - 1) break;
      if (draft.role === "model" && (draft.open > 0 || (draft.calls === 0 && closed === drafts.length - 1))) break;
      emit(draft);
      if (draft.role === "model" && draft.calls > 0) this.#forget(draft);
    }
    if (closed === drafts.length) drafts.length = 0;
    else if (closed > 0) drafts.splice(0, closed);
  }

  /** Lets go of a draft that is written; its calls and their ends stay known. */
  #forget({ parts }: ModelDraft): void {
    for (const part of parts) if (part.type === "exchange") this.#draftOf[callOrdinal(part.call)] = undefined;
  }

  /** The drafts that may still change. */
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
