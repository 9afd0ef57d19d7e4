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

/** The leading part of every request. It stays the same during a session, so that the provider's prompt cache is used. */
export type RequestPrefix = {
  readonly system?: string;
  readonly tools: readonly ToolDeclaration[];
};

/** A request that is ready to be sent. */
export type RenderedRequest = {
  readonly body: JsonObject;
  readonly report: RenderReport;
  /** The rendering decisions since the last request. */
  readonly notes: readonly Note[];
  /** The digest of the request, recorded with its answer. Call it before entries are added, and after the request was sent: it takes time. */
  readonly digest: () => string;
  readonly destination: Destination;
  readonly originalTool: (alias: string) => string;
  readonly originalInput: (tool: string, input: RawCallInput) => RawCallInput;
};

/** Builds the requests of one conversation, to any number of destinations. Messages are encoded once per destination. */
export class RequestBuilder {
  readonly #journal: Journal;
  readonly #policy: Partial<RenderPolicy>;
  readonly #composers = new Map<Destination, GrowingRequest>();
  #prefix: RequestPrefix;
  #dropped = 0;

  constructor(journal: Journal, prefix: RequestPrefix, policy: Partial<RenderPolicy>) {
    this.#journal = journal;
    this.#prefix = prefix;
    this.#policy = policy;
  }

  get prefix(): RequestPrefix {
    return this.#prefix;
  }

  /** Replaces the prefix from the next request on. The prompt cache of the old one is lost. */
  replacePrefix(prefix: RequestPrefix): void {
    this.#prefix = prefix;
    this.#composers.clear();
  }

  /** Builds a request from the conversation as it is now. */
  build(destination: Destination, settings: RequestSettings): RenderedRequest {
    const { ledger } = this.#journal;
    // Entries were released and positions changed, so encoding starts over.
    if (ledger.dropped !== this.#dropped) this.#composers.clear();
    this.#dropped = ledger.dropped;
    const growing = this.#composers.get(destination) ?? this.#start(destination);
    try {
      growing.composer.add(ledger.entries.slice(growing.added));
      growing.added = ledger.entries.length;
      const { body, report } = growing.composer.compose(settings);
      const notes = report.notes.slice(growing.reported);
      growing.reported = report.notes.length;
      const { composer } = growing;
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
      // The composer may hold half of the new entries.
      this.#composers.delete(destination);
      throw error;
    }
  }

  #start(destination: Destination): GrowingRequest {
    const { system, tools } = this.#prefix;
    const composer = new RequestComposer({
      destination,
      system,
      tools,
      blobs: this.#journal.blobs,
      policy: { unsupportedMedia: "stub", ...this.#policy },
    });
    const growing = { composer, added: 0, reported: 0 };
    this.#composers.set(destination, growing);
    return growing;
  }
}

/** A composer, the entries added to it, and the notes of its report that were returned. */
type GrowingRequest = { readonly composer: RequestComposer; added: number; reported: number };
