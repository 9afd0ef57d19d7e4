import { findModelFacts, type ModelFacts } from "../../providers/models.ts";
import type { Settings } from "../../settings/schema/values.ts";

/** Facts about models (`provider/model`) that the user knows better than the published list. */
export type KnownModels = Settings["models"];

/** Finds the facts about a model: those of the settings, else the published ones. */
export const findFacts = (name: string, known: KnownModels = {}): ModelFacts => {
  const slash = name.indexOf("/");
  return { ...findModelFacts(name.slice(0, slash), name.slice(slash + 1)), ...known[name] };
};
