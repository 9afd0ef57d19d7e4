import type { Provider } from "../../providers/define.ts";
import { loadProvider } from "../../providers/lazy.ts";

/** A model and its provider. */
export type ModelRef = { readonly provider: Provider; readonly model: string };

/** The name of a model as people write it: `provider/model`. */
export const modelName = ({ provider, model }: ModelRef): string => `${provider.id}/${model}`;

/** Loads `provider/model`; a provider alone means its default model. Throws an `UnknownNameError` that suggests the nearest names. */
export const loadModel = async (name: string): Promise<ModelRef> => {
  const [id, model] = splitModelName(name);
  const provider = await loadProvider(id);
  return { provider, model: model === "" ? provider.defaultModel : model };
};

/** Splits `provider/model` into its two parts. */
export const splitModelName = (name: string): readonly [provider: string, model: string] => {
  const slash = name.indexOf("/");
  return slash === -1 ? [name, ""] : [name.slice(0, slash), name.slice(slash + 1)];
};
