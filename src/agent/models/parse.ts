import { findProvider } from "../../providers/find.ts";
import { splitModelName, type ModelRef } from "./name.ts";

export { modelName, type ModelRef } from "./name.ts";

/** Parses `provider/model` like `loadModel`, but synchronously: it loads all providers. */
export const parseModel = (name: string): ModelRef => {
  const [id, model] = splitModelName(name);
  const provider = findProvider(id);
  return { provider, model: model === "" ? provider.defaultModel : model };
};
