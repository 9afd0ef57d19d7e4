import type { Provider } from "./define.ts";
import { lazyProviders } from "./lazy.data.ts";
import { UnknownNameError } from "./unknown-name.ts";

/** Loads a provider by id. Throws an `UnknownNameError` with the nearest names. */
export const loadProvider = (id: string): Promise<Provider> => {
  const found = lazyProviders.find((provider) => provider.id === id);
  if (found === undefined)
    throw new UnknownNameError(
      "provider",
      id,
      lazyProviders.map((provider) => provider.id),
    );
  return found.load();
};
