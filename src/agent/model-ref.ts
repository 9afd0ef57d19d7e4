import { findProvider } from "../providers/find.ts";
import type { Provider } from "../providers/define.ts";

/** A model and who serves it. */
export type ModelRef = { readonly provider: Provider; readonly model: string };

/** Reads `provider/model`; a provider alone means its default model. Throws an `UnknownNameError` with what is nearest. */
export const parseModel = (name: string): ModelRef => {
  const slash = name.indexOf("/");
  const provider = findProvider(slash === -1 ? name : name.slice(0, slash));
  const model = slash === -1 ? "" : name.slice(slash + 1);
  return { provider, model: model === "" ? provider.defaultModel : model };
};

/** A model as people write it. */
export const modelName = ({ provider, model }: ModelRef): string => `${provider.id}/${model}`;
