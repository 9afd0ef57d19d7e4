import type { Entry } from "../conversation/entry.ts";
import type { ModelInput } from "../providers/input.ts";
import type { Settings } from "../settings/values.ts";
import type { Journal } from "./journal.ts";
import { modelName, type ModelRef } from "./model-name.ts";

/** Asks the server of a model which kinds of files it takes; undefined where it does not say. */
export type FindInput = (model: ModelRef, signal: AbortSignal) => Promise<ModelInput | undefined>;

/** Which kinds of files models take, as settings describe them or their servers said. What was found once stays. */
export class ModelInputs {
  readonly #described: Settings["models"];
  readonly #find: FindInput;
  readonly #found = new Map<string, Promise<ModelInput | undefined>>();
  readonly #known = new Map<string, ModelInput>();

  constructor(described: Settings["models"], find: FindInput) {
    this.#described = described;
    this.#find = find;
  }

  /** What is known so far; undefined where the provider's own data count. */
  of(model: ModelRef): ModelInput | undefined {
    const name = modelName(model);
    return describedInput(this.#described, name) ?? this.#known.get(name);
  }

  /** The same, after asking the model's server where nobody knows. A server is asked once. */
  async find(model: ModelRef, signal: AbortSignal): Promise<ModelInput | undefined> {
    const known = this.of(model);
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
  resume(inputs: { readonly [model: string]: ModelInput }, entries: readonly Entry[]): void {
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
export class InputCheck {
  readonly #journal: Journal;
  readonly #inputs: ModelInputs;
  readonly #checked = new Set<string>();
  #hasMedia = false;
  #looked = 0;

  constructor(journal: Journal, inputs: ModelInputs) {
    this.#journal = journal;
    this.#inputs = inputs;
  }

  /** Resolves at once while there are only words. */
  async prepare(model: ModelRef, signal: AbortSignal): Promise<void> {
    const name = modelName(model);
    if (!this.#look() || this.#checked.has(name)) return;
    const input = await this.#inputs.find(model, signal);
    this.#checked.add(name);
    if (input !== undefined)
      this.#journal.remark({ kind: "input", provider: model.provider.id, model: model.model, input });
  }

  #look(): boolean {
    const { entries, dropped } = this.#journal.ledger;
    if (!this.#hasMedia) this.#hasMedia = entries.slice(Math.max(0, this.#looked - dropped)).some(hasMedia);
    this.#looked = entries.length + dropped;
    return this.#hasMedia;
  }
}

/** The kinds of files that settings describe for a model. */
export const describedInput = (models: Settings["models"], name: string): ModelInput | undefined =>
  (Object.hasOwn(models, name) ? models[name] : undefined)?.input?.filter((kind) => kind !== "text");

const hasMedia = (entry: Entry): boolean => {
  if (entry.type === "completion") return entry.outcome.content.some(({ type }) => type === "media");
  return "parts" in entry && entry.parts.some(({ type }) => type === "media");
};
