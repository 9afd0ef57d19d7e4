import type { Provider } from "../../providers/define.ts";
import { lazyProviders } from "../../providers/lazy.data.ts";
import { loadProvider } from "../../providers/lazy.ts";
import type { Environment } from "../../world/world.ts";

/** A model and its provider. */
export type ModelRef = { readonly provider: Provider; readonly model: string };

/** The name of a model as people write it: `provider/model`. */
export const modelName = ({ provider, model }: ModelRef): string => `${provider.id}/${model}`;

/**
 * Loads `provider/model`; a provider alone means its default model, and a part of a model's name the model of a provider
 * with a key in `env`. Throws an `UnknownNameError` that suggests the nearest names, or an `AmbiguousNameError`.
 */
export const loadModel = async (name: string, env: Environment = {}): Promise<ModelRef> => {
  const [id, model] = splitModelName(name);
  if (model === "" && !lazyProviders.some((provider) => provider.id === id)) {
    const { matchModel, unknownModel } = await import("./match.ts");
    const match = await matchModel(name, env);
    if (match === undefined) throw unknownModel(name);
    return match;
  }
  const provider = await loadProvider(id);
  return { provider, model: model === "" ? provider.defaultModel : model };
};

/** Splits `provider/model` into its two parts. */
export const splitModelName = (name: string): readonly [provider: string, model: string] => {
  const slash = name.indexOf("/");
  return slash === -1 ? [name, ""] : [name.slice(0, slash), name.slice(slash + 1)];
};
