import {
  note,
  sameOutcome,
  type Call,
  type CallId,
  type Completion,
  type Content,
  type Media,
  type Note,
  type Outcome,
  type Text,
  type Thinking,
} from "../conversation/index.ts";
import { anotherResult, orphanResult } from "./words.ts";

/** A step in the making. */
export type Draft = UserDraft | ModelDraft;

export type UserDraft = { readonly role: "user"; readonly parts: readonly (Text | Media)[] };

/** A model's words and calls; `open` counts the calls still without a result. */
export type ModelDraft = {
  readonly role: "model";
  readonly parts: (Text | Thinking | Media | OpenCall)[];
  open: number;
};

/** A call under the names of the target, waiting for its result or holding it. */
export type OpenCall = {
  readonly type: "call";
  readonly call: Call;
  readonly id: string;
  readonly tool: string;
  outcome: Outcome | undefined;
  /** Other ends that were claimed for it and shown as words. */
  claims?: readonly Outcome[];
};

type Owner = { readonly draft: ModelDraft; readonly call: OpenCall };

/**
 * Folds entries into exchanges. A result joins its call wherever it was
 * recorded; what the person said meanwhile stands after the batch; a result
 * without a call becomes a labelled word rather than vanish.
 */
export class Pairing {
  readonly #drafts: Draft[] = [];
  readonly #owners = new Map<CallId, Owner>();
  readonly #note: (note: Note) => void;
  #openDrafts = 0;

  constructor(report: (note: Note) => void) {
    this.#note = report;
  }

  user(parts: readonly (Text | Media)[]): void {
    if (this.#openDrafts > 0)
      this.#note(note("moved-text", "Words said while tools were running stand after their results."));
    this.#drafts.push({ role: "user", parts });
  }

  model(parts: ModelDraft["parts"]): void {
    const last = this.#drafts.at(-1);
    let draft: ModelDraft;
    if (last?.role === "model" && !last.parts.some((part) => part.type === "call")) {
      draft = last;
      draft.parts.push(...parts);
      this.#note(note("merged-messages", "Two messages of the model in a row became one."));
    } else {
      draft = { role: "model", parts, open: 0 };
      this.#drafts.push(draft);
    }
    for (const part of parts) {
      if (part.type !== "call") continue;
      if (part.outcome === undefined) draft.open++;
      this.#owners.set(part.call.id, { draft, call: part });
    }
    if (draft.open > 0) this.#openDrafts++;
  }

  complete({ call, tool, outcome }: Completion): void {
    const owner = this.#owners.get(call);
    if (owner === undefined) {
      this.#note(note("orphan-result", `A result of ${tool} has no call; it is shown as words.`, call));
      this.user(worded(orphanResult(tool), outcome));
    } else if (owner.call.outcome === undefined) {
      owner.call.outcome = outcome;
      owner.draft.open--;
      if (owner.draft.open === 0) this.#openDrafts--;
      if (this.#drafts.at(-1) !== owner.draft)
        this.#note(note("moved-result", `The result of ${tool} was recorded late and stands with its call.`, call));
    } else if ([owner.call.outcome, ...(owner.call.claims ?? [])].some((known) => sameOutcome(known, outcome))) {
      this.#note(note("duplicate-result", `The same result of ${tool} was recorded twice; one is shown.`, call));
    } else {
      this.#note(
        note(
          "conflicting-result",
          `Another result of ${tool} was recorded; the first stands, this one is shown as words.`,
          call,
        ),
      );
      owner.call.claims = [...(owner.call.claims ?? []), outcome];
      this.user(worded(anotherResult(tool), outcome));
    }
  }

  /** Takes the drafts nothing can change any more. */
  take(): readonly Draft[] {
    if (this.#drafts.length === 0) return [];
    const stop = this.#drafts.findIndex(
      (draft, index) =>
        draft.role === "model" &&
        (draft.open > 0 || (index === this.#drafts.length - 1 && !draft.parts.some((part) => part.type === "call"))),
    );
    return this.#drafts.splice(0, stop === -1 ? this.#drafts.length : stop);
  }

  /** The drafts that may still change. */
  get rest(): readonly Draft[] {
    return this.#drafts;
  }
}

const worded = (label: string, outcome: Outcome): readonly (Text | Media)[] => [
  { type: "text", text: label },
  ...outcome.content.map(asWords),
];

const asWords = (part: Content): Text | Media =>
  part.type === "structured" ? { type: "text", text: JSON.stringify(part.value) } : part;
