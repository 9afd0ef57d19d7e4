import type { RawInput } from "../conversation/arguments.ts";
import type { ToolDeclaration } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { Note } from "../conversation/notes.ts";
import type { Report } from "../transcript/rendering.ts";
import type { Policy } from "../transcript/target.ts";
import type { Destination } from "../wire/bind.ts";
import { Composer } from "../wire/compose.ts";
import type { Settings } from "../wire/wire.ts";
import type { Journal } from "./journal.ts";

/** What every request of a conversation says besides its messages. Nothing here changes while a session lasts. */
export type Head = {
  readonly system?: string;
  readonly tools: readonly ToolDeclaration[];
};

/** A request as it was written. */
export type Written = {
  readonly body: JsonObject;
  readonly report: Report;
  /** Decisions nobody was told of yet. */
  readonly notes: readonly Note[];
  /** For the reply to remember. Asked for before anything more is added, and not before the request is on its way. */
  readonly digest: () => string;
  readonly destination: Destination;
  readonly originalTool: (alias: string) => string;
  readonly originalInput: (tool: string, input: RawInput) => RawInput;
};

/** The requests of one conversation, to any number of destinations. Each keeps what it has written already. */
export class Compositions {
  readonly #journal: Journal;
  readonly #policy: Partial<Policy>;
  readonly #open = new Map<Destination, { readonly composer: Composer; added: number; told: number }>();
  #head: Head;
  #dropped = 0;

  constructor(journal: Journal, head: Head, policy: Partial<Policy>) {
    this.#journal = journal;
    this.#head = head;
    this.#policy = policy;
  }

  get head(): Head {
    return this.#head;
  }

  /** Another head from the next request on: all that was cached under the old one is lost. */
  change(head: Head): void {
    this.#head = head;
    this.#open.clear();
  }

  /** The conversation as it is now, as a request. */
  write(destination: Destination, settings: Settings): Written {
    const { ledger } = this.#journal;
    // Places are counted anew, and what is written begins anew too.
    if (ledger.dropped !== this.#dropped) this.#open.clear();
    this.#dropped = ledger.dropped;
    const open = this.#open.get(destination) ?? this.#begin(destination);
    try {
      open.composer.add(ledger.entries.slice(open.added));
      open.added = ledger.entries.length;
      const { body, report } = open.composer.compose(settings);
      const notes = report.notes.slice(open.told);
      open.told = report.notes.length;
      const { composer } = open;
      let digest: string | undefined;
      return {
        body,
        report,
        notes,
        digest: () => (digest ??= composer.digest()),
        destination,
        originalTool: (alias) => composer.originalTool(alias),
        originalInput: (tool, input) => composer.originalInput(tool, input),
      };
    } catch (error) {
      // What it holds may be half done.
      this.#open.delete(destination);
      throw error;
    }
  }

  #begin(destination: Destination): { readonly composer: Composer; added: number; told: number } {
    const { system, tools } = this.#head;
    const composer = new Composer({
      destination,
      system,
      tools,
      blobs: this.#journal.blobs,
      policy: { unsupportedMedia: "stub", ...this.#policy },
    });
    const begun = { composer, added: 0, told: 0 };
    this.#open.set(destination, begun);
    return begun;
  }
}
