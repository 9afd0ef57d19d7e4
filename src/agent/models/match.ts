import { nearestNames } from "../../conversation/nearest-names.ts";
import { lazyProviders } from "../../providers/lazy.data.ts";
import { loadProvider } from "../../providers/lazy.ts";
import { listModelIds } from "../../providers/models.ts";
import { AmbiguousNameError, UnknownNameError } from "../../providers/unknown-name.ts";
import type { Environment } from "../../world/world.ts";
import type { ModelRef } from "./name.ts";

/**
 * Finds the model that a short name such as `sonnet` or `gpt-5` means: the exact id, else the provider's default model if
 * it matches, else the highest version. Only providers with a key are considered. Throws an `AmbiguousNameError` if the
 * models of several providers match, or only models that need a key; returns undefined if none matches.
 */
export const matchModel = async (query: string, env: Environment): Promise<ModelRef | undefined> => {
  const candidates = (await Promise.all(lazyProviders.map(({ id }) => bestMatch(query, id)))).filter(
    (match) => match !== undefined,
  );
  if (candidates.length === 0) return undefined;
  const usable = withoutSecondApis(candidates.filter(({ keys }) => keys.some((key) => (env[key] ?? "") !== "")));
  const [only] = usable;
  if (only !== undefined && usable.length === 1)
    return { provider: await loadProvider(only.provider), model: only.model };
  throw new AmbiguousNameError(
    query,
    (usable.length > 0 ? usable : withoutSecondApis(candidates)).map(({ provider, model, keys: [key] }) => ({
      name: `${provider}/${model}`,
      ...(usable.length > 0 || key === undefined ? {} : { needs: key }),
    })),
  );
};

/** The error for a name that is no provider and no part of a model's name. */
export const unknownModel = (given: string): UnknownNameError => {
  const providers = lazyProviders.map(({ id }) => id);
  if (nearestNames(given, providers).length > 0) return new UnknownNameError("provider", given, providers);
  const words = providers.flatMap((id) => listModelIds(id).flatMap((model) => model.match(/[a-z]{3,}/g) ?? []));
  const isModel = nearestNames(given, words).length > 0;
  return new UnknownNameError(
    isModel ? "model" : "provider or model",
    given,
    isModel ? [...new Set(words)] : providers,
  );
};

/** The best match among the models of one provider. */
type ModelMatch = { readonly provider: string; readonly model: string; readonly keys: readonly string[] };

const bestMatch = async (query: string, provider: string): Promise<ModelMatch | undefined> => {
  const ids = listModelIds(provider).filter((id) => matchesQuery(query, id));
  const keys = lazyProviders.find(({ id }) => id === provider)?.keys ?? [];
  const [first] = ids;
  if (first === undefined) return undefined;
  const { defaultModel } = await loadProvider(provider);
  const found = [query, defaultModel].find((id) => ids.includes(id)) ?? ids.toSorted(compareModels)[0] ?? first;
  return { provider, model: found, keys };
};

/** Whether a model id contains the words and numbers of a query in order, from the start of a word. */
const matchesQuery = (query: string, id: string): boolean => {
  const words = query.toLowerCase().match(/[a-z]+|\d+/g);
  if (words === null) return false;
  // "gpt-5" is not the beginning of "gpt-50".
  const end = /\d$/.test(query) ? "(?!\\d)" : "";
  return new RegExp(`(^|[^a-z0-9])${words.join("[^a-z0-9]?")}${end}`).test(id.toLowerCase());
};

/** Orders model ids by version, the highest first; then the shortest id, which has no special purpose. */
export const compareModels = (one: string, other: string): number => {
  const [versions, others] = [versionOf(one), versionOf(other)];
  for (const [index, number] of versions.entries()) {
    const difference = (others[index] ?? 0) - number;
    if (difference !== 0) return difference;
  }
  return others.length - versions.length || one.length - other.length || (one < other ? -1 : 1);
};

/** The version numbers in a model id, without dates and sizes such as 70b. */
const versionOf = (id: string): readonly number[] =>
  [...id.replaceAll(dates, "").matchAll(/(?<![0-9])(\d{1,2})(?![0-9a-z])/g)].map(([, number]) => Number(number));

/** Dates as in `gpt-4o-2024-05-13` and `preview-10-2025`. */
const dates = /(?<![0-9])(?:\d{4}-\d{2}(?:-\d{2})?|\d{2}-\d{4})(?![0-9])/g;

/** Leaves out a second API of the same provider, which takes the same keys. */
const withoutSecondApis = (matches: readonly ModelMatch[]): readonly ModelMatch[] =>
  matches.filter(
    ({ keys }, index) =>
      keys.length === 0 || matches.findIndex((each) => each.keys.some((key) => keys.includes(key))) === index,
  );
