import type { RawCallInput } from "../../conversation/call-input.ts";
import type { ToolDeclaration } from "../../conversation/entry.ts";
import type { JsonObject } from "../../conversation/json.ts";
import type { Note } from "../../conversation/notes.ts";
import type { RenderReport } from "../../transcript/incremental-renderer.ts";
import type { RenderPolicy } from "../../transcript/target.ts";
import type { Destination } from "../../wire/bind.ts";
import { RequestComposer } from "../../wire/compose.ts";
import type { RequestSettings } from "../../wire/wire.ts";
import type { Journal } from "../session/journal.ts";

/** What every request of a conversation says besides its messages. Nothing here changes while a session lasts. */
export type RequestPrefix = {
  readonly system?: string;
  readonly tools: readonly ToolDeclaration[];
};

/** A request as it was written. */
export type RenderedRequest = {
  readonly body: JsonObject;
  readonly report: RenderReport;
  /** Decisions nobody was told of yet. */
  readonly notes: readonly Note[];
  /** For the reply to remember. Asked for before anything more is added, and not before the request is on its way. */
  readonly digest: () => string;
  readonly destination: Destination;
  readonly originalTool: (alias: string) => string;
  readonly originalInput: (tool: string, input: RawCallInput) => RawCallInput;
};

/** The requests of one conversation, to any number of destinations. Each keeps what it has written already. */
export class RequestBuilder {
  readonly #journal: Journal;
  readonly #policy: Partial<RenderPolicy>;
  readonly #open = new Map<Destination, { readonly composer: RequestComposer; added: number; told: number }>();
  #head: RequestPrefix;
  #dropped = 0;

  constructor(journal: Journal, head: RequestPrefix, policy: Partial<RenderPolicy>) {
    this.#journal = journal;
    this.#head = head;
    this.#policy = policy;
  }

  get prefix(): RequestPrefix {
    return this.#head;
  }

  /** Another head from the next request on: all that was cached under the old one is lost. */
  replacePrefix(head: RequestPrefix): void {
    this.#head = head;
    this.#open.clear();
  }

  /** The conversation as it is now, as a request. */
  build(destination: Destination, settings: RequestSettings): RenderedRequest {
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

  #begin(destination: Destination): { readonly composer: RequestComposer; added: number; told: number } {
    const { system, tools } = this.#head;
    const composer = new RequestComposer({
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
