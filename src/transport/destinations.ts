import type { Provider } from "../providers/define.ts";
import type { ModelInput } from "../providers/model-input.ts";
import type { Quirk } from "../providers/quirks.ts";
import type { Destination } from "../wire/bind.ts";

/** A model at a provider, as requests name it. */
export type ModelAddress = { readonly provider: Provider; readonly model: string };

type DestinationsOptions = {
  /** Where requests for a model go, and on whose account. */
  readonly locate: (address: ModelAddress) => { readonly url: string; readonly account?: string };
  /** The kinds of media a model accepts, where that is known better than by its provider. */
  readonly inputOf?: ((address: ModelAddress) => ModelInput | undefined) | undefined;
};

/** The destinations of one transport, with the quirks it learned from refusals, per endpoint and model. */
export class Destinations {
  readonly #options: DestinationsOptions;
  readonly #quirks = new Map<string, readonly Quirk[]>();
  readonly #known = new Map<string, Destination>();

  constructor(options: DestinationsOptions) {
    this.#options = options;
  }

  /** The destination for a model now. It is the same object until something is learned about it. */
  get(address: ModelAddress): Destination {
    const { provider, model } = address;
    const { account } = this.#options.locate(address);
    const quirks = this.quirks(address);
    const input = this.#options.inputOf?.(address);
    const key = JSON.stringify([provider.id, this.#key(address), account, quirks, input]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const destination = provider.destination(model, account, quirks, input);
    this.#known.set(key, destination);
    return destination;
  }

  quirks(address: ModelAddress): readonly Quirk[] {
    return this.#quirks.get(this.#key(address)) ?? [];
  }

  setQuirks(address: ModelAddress, quirks: readonly Quirk[]): void {
    this.#quirks.set(this.#key(address), quirks);
  }

  #key(address: ModelAddress): string {
    return `${this.#options.locate(address).url} ${address.model}`;
  }
}
