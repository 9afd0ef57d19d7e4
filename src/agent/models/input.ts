import type { Entry } from "../../conversation/entry.ts";
import type { ModelInput } from "../../providers/model-input.ts";
import type { Settings } from "../../settings/schema/values.ts";
import type { Journal } from "../session/journal.ts";
import { modelName, type ModelRef } from "./name.ts";

/** Asks the server of a model which kinds of files it takes; undefined where it does not say. */
export type QueryModelInput = (model: ModelRef, signal: AbortSignal) => Promise<ModelInput | undefined>;

/** Which kinds of files models take, as settings describe them or their servers said. What was found once stays. */
export class ModelInputRegistry {
  readonly #described: Settings["models"];
  readonly #find: QueryModelInput;
  readonly #found = new Map<string, Promise<ModelInput | undefined>>();
  readonly #known = new Map<string, ModelInput>();

  constructor(described: Settings["models"], find: QueryModelInput) {
    this.#described = described;
    this.#find = find;
  }

  /** What is known so far; undefined where the provider's own data count. */
  get(model: ModelRef): ModelInput | undefined {
    const name = modelName(model);
    return inputFromSettings(this.#described, name) ?? this.#known.get(name);
  }

  /** The same, after asking the model's server where nobody knows. A server is asked once. */
  async lookUp(model: ModelRef, signal: AbortSignal): Promise<ModelInput | undefined> {
    const known = this.get(model);
    if (known !== undefined || model.provider.destination(model.model).target.mediaUnknown !== true) return known;
    const name = modelName(model);
    const asked = this.#found.get(name) ?? this.#find(model, signal);
    this.#found.set(name, asked);
    try {
      const input = await asked;
      if (input !== undefined) this.#known.set(name, input);
      return input;
    } catch (error) {
      // Somebody gave up waiting; nothing was sent.
      this.#found.delete(name);
      throw error;
    }
  }

  /** Goes on with a session: what its models took before stays, so that requests begin with the same bytes. */
  restore(inputs: { readonly [model: string]: ModelInput }, entries: readonly Entry[]): void {
    for (const [name, input] of Object.entries(inputs)) this.#known.set(name, input);
    const first = entries.findIndex(hasMedia);
    if (first === -1) return;
    // Those that answered without a record were sent what their provider's data say.
    for (const entry of entries.slice(first))
      if (entry.type === "model")
        this.#found.set(`${entry.origin.provider}/${entry.origin.model}`, Promise.resolve(undefined));
  }
}

/** Finds out what a model takes before the first request of a conversation that holds a file, and records it. */
export class ModelInputCheck {
  readonly #journal: Journal;
  readonly #inputs: ModelInputRegistry;
  readonly #checked = new Set<string>();
  #hasMedia = false;
  #looked = 0;

  constructor(journal: Journal, inputs: ModelInputRegistry) {
    this.#journal = journal;
    this.#inputs = inputs;
  }

  /** Resolves at once while there are only words. */
  async prepare(model: ModelRef, signal: AbortSignal): Promise<void> {
    const name = modelName(model);
    if (!this.#look() || this.#checked.has(name)) return;
    const input = await this.#inputs.lookUp(model, signal);
    this.#checked.add(name);
    if (input !== undefined)
      this.#journal.appendMetadata({ kind: "input", provider: model.provider.id, model: model.model, input });
  }

  #look(): boolean {
    const { entries, dropped } = this.#journal.ledger;
    if (!this.#hasMedia) this.#hasMedia = entries.slice(Math.max(0, this.#looked - dropped)).some(hasMedia);
    this.#looked = entries.length + dropped;
    return this.#hasMedia;
  }
}

/** The kinds of files that settings describe for a model. */
export const inputFromSettings = (models: Settings["models"], name: string): ModelInput | undefined =>
  (Object.hasOwn(models, name) ? models[name] : undefined)?.input?.filter((kind) => kind !== "text");

const hasMedia = (entry: Entry): boolean => {
  if (entry.type === "completion") return entry.outcome.content.some(({ type }) => type === "media");
  return "parts" in entry && entry.parts.some(({ type }) => type === "media");
};
