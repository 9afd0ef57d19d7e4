import { findProvider } from "../providers/find.ts";
import { split, type ModelRef } from "./model-name.ts";

export { modelName, type ModelRef } from "./model-name.ts";

/** Reads `provider/model`, as `loadModel` does, but with all providers at hand. */
export const parseModel = (name: string): ModelRef => {
  const [id, model] = split(name);
  const provider = findProvider(id);
  return { provider, model: model === "" ? provider.defaultModel : model };
};
