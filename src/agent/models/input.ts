import type { Entry } from "../../conversation/entry.ts";
import type { ModelInput } from "../../providers/model-input.ts";
import type { Settings } from "../../settings/schema/values.ts";
import type { Journal } from "../session/journal.ts";
import { modelName, type ModelRef } from "./name.ts";

/** Asks the server of a model which kinds of media it accepts. Undefined if the server does not tell. */
export type QueryModelInput = (model: ModelRef, signal: AbortSignal) => Promise<ModelInput | undefined>;

/** The kinds of media models accept, from settings or from their servers. An answer is kept for the session. */
export class ModelInputRegistry {
  readonly #settings: Settings["models"];
  readonly #query: QueryModelInput;
  readonly #queries = new Map<string, Promise<ModelInput | undefined>>();
  readonly #known = new Map<string, ModelInput>();

  constructor(settings: Settings["models"], query: QueryModelInput) {
    this.#settings = settings;
    this.#query = query;
  }

  /** The kinds known so far. Undefined if the provider's own data apply. */
  get(model: ModelRef): ModelInput | undefined {
    const name = modelName(model);
    return inputFromSettings(this.#settings, name) ?? this.#known.get(name);
  }

  /** Like `get`, but asks the model's server if nothing is known. A server is asked once. */
  async lookUp(model: ModelRef, signal: AbortSignal): Promise<ModelInput | undefined> {
    const known = this.get(model);
    if (known !== undefined || model.provider.destination(model.model).target.mediaUnknown !== true) return known;
    const name = modelName(model);
    const query = this.#queries.get(name) ?? this.#query(model, signal);
    this.#queries.set(name, query);
    try {
      const input = await query;
      if (input !== undefined) this.#known.set(name, input);
      return input;
    } catch (error) {
      // The wait was cancelled; the server is asked again next time.
      this.#queries.delete(name);
      throw error;
    }
  }

  /** Restores the kinds recorded in a resumed session, so that requests begin with the same bytes (prompt cache). */
  restore(inputs: { readonly [model: string]: ModelInput }, entries: readonly Entry[]): void {
    for (const [name, input] of Object.entries(inputs)) this.#known.set(name, input);
    const first = entries.findIndex(hasMedia);
    if (first === -1) return;
    // Models that answered without a record were sent media by their provider's data.
    for (const entry of entries.slice(first))
      if (entry.type === "model")
        this.#queries.set(`${entry.origin.provider}/${entry.origin.model}`, Promise.resolve(undefined));
  }
}

/** Looks up the media a model accepts before the first request that holds any, and records the result. */
export class ModelInputCheck {
  readonly #journal: Journal;
  readonly #inputs: ModelInputRegistry;
  readonly #checked = new Set<string>();
  #hasMedia = false;
  #scanned = 0;

  constructor(journal: Journal, inputs: ModelInputRegistry) {
    this.#journal = journal;
    this.#inputs = inputs;
  }

  /** Resolves at once if the conversation has no media. */
  async prepare(model: ModelRef, signal: AbortSignal): Promise<void> {
    const name = modelName(model);
    if (!this.#scanForMedia() || this.#checked.has(name)) return;
    const input = await this.#inputs.lookUp(model, signal);
    this.#checked.add(name);
    if (input !== undefined)
      this.#journal.appendMetadata({ kind: "input", provider: model.provider.id, model: model.model, input });
  }

  #scanForMedia(): boolean {
    const { entries, dropped } = this.#journal.ledger;
    if (!this.#hasMedia) this.#hasMedia = entries.slice(Math.max(0, this.#scanned - dropped)).some(hasMedia);
    this.#scanned = entries.length + dropped;
    return this.#hasMedia;
  }
}

/** The kinds of media that settings list for a model. */
export const inputFromSettings = (models: Settings["models"], name: string): ModelInput | undefined =>
  (Object.hasOwn(models, name) ? models[name] : undefined)?.input?.filter((kind) => kind !== "text");

const hasMedia = (entry: Entry): boolean => {
  if (entry.type === "completion") return entry.outcome.content.some(({ type }) => type === "media");
  return "parts" in entry && entry.parts.some(({ type }) => type === "media");
};
