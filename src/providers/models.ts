import type { UsageModality, TokenUsage } from "../wire/decode/events.ts";
import { catalogueDate, catalogue, type CataloguePriceRow, type CatalogueRow } from "./models.data.ts";

/** What is known of a model, as its provider serves it. */
export type ModelFacts = {
  readonly provider: string;
  /** The name the facts were found under, which may be shorter than the one asked for. */
  readonly id: string;
  /** False where nothing is known and everything below is a cautious guess. */
  readonly known: boolean;
  /** How many tokens prompt and answer may have together. */
  readonly context: number;
  /** How many tokens one answer may have. Some models have no limit here but their context window. */
  readonly maxOutput: number;
  readonly input: readonly UsageModality[];
  readonly reasoning: boolean;
  /** Absent where nobody published one, or where a subscription pays. */
  readonly price?: Price;
};

/** US dollars for a million tokens. */
export type Price = TokenRates & {
  /** Rates that replace all of the others once a prompt is longer; the longest last. */
  readonly longer?: readonly (TokenRates & { readonly above: number })[];
};

/** Where cached tokens have no rate of their own, they cost what others cost. */
type TokenRates = {
  readonly input: number;
  readonly output: number;
  readonly cachedRead?: number;
  readonly cachedWrite?: number;
};

/** The day the facts are of, as `2026-11-02`. Prices change without notice. */
export const factsDate: string = catalogueDate;

/** The known models of a provider, sorted by id. */
export const listModelFacts = (provider: string): readonly ModelFacts[] =>
  catalogueRows(provider).map((row) => parseModelFacts(provider, row));

/** What is known of a model. Names may carry a date, a version, a region or a path; a model nobody knows gets safe defaults. */
export const findModelFacts = (provider: string, model: string): ModelFacts => {
  const rows = catalogueRows(provider);
  for (const name of spellings(model)) {
    const row = rows.find(([id]) => id === name);
    if (row !== undefined) return parseModelFacts(provider, row);
  }
  return { provider, id: model, known: false, ...defaultSizes, input: ["text"], reasoning: false };
};

/**
 * What one answer cost in US dollars, or undefined where the price is unknown.
 * Add up costs, not usage: long prompts have other prices.
 */
export const computeCost = ({ price }: ModelFacts, usage: TokenUsage): number | undefined => {
  if (price === undefined) return undefined;
  const rates = price.longer?.findLast(({ above }) => usage.input > above) ?? price;
  const fresh = Math.max(0, usage.input - usage.cachedRead - usage.cachedWrite);
  const millionths =
    fresh * rates.input +
    usage.cachedRead * (rates.cachedRead ?? rates.input) +
    usage.cachedWrite * (rates.cachedWrite ?? rates.input) +
    usage.output * rates.output;
  return millionths / 1_000_000;
};

/** Small enough for nearly every model in use. */
const defaultSizes = { context: 128_000, maxOutput: 8192 };

const catalogueRows = (provider: string): readonly CatalogueRow[] =>
  Object.hasOwn(catalogue, provider) ? (catalogue[provider] ?? []) : [];

const parseModelFacts = (
  provider: string,
  [id, context, maxOutput, input, reasoning, ...prices]: CatalogueRow,
): ModelFacts => {
  const [price, ...longer] = prices;
  return {
    provider,
    id,
    known: true,
    context: context ?? defaultSizes.context,
    maxOutput: maxOutput ?? defaultSizes.maxOutput,
    input: modalities.filter((kind) => input.includes(kind.charAt(0))),
    reasoning,
    ...(price === undefined ? {} : { price: parsePrice(price, longer) }),
  };
};

const modalities: readonly UsageModality[] = ["text", "image", "document", "audio", "video"];

const parsePrice = (price: CataloguePriceRow, longer: readonly CataloguePriceRow[]): Price => ({
  ...parseRates(price),
  ...(longer.length === 0 ? {} : { longer: longer.map((row) => ({ above: row[0], ...parseRates(row) })) }),
});

const parseRates = ([, input, output, cachedRead, cachedWrite]: CataloguePriceRow): TokenRates => ({
  input,
  output,
  ...(typeof cachedRead === "number" ? { cachedRead } : {}),
  ...(typeof cachedWrite === "number" ? { cachedWrite } : {}),
});

/** Names the facts of a model may be found under, the nearest first: without path, version, date or `-latest`, then without region. */
const spellings = (model: string): readonly string[] => {
  const bare = model.replace(/^(.*\/)?models\/|^arn:[^/]*\//, "");
  const unnumbered = bare.replace(/:\d+$/, "");
  const unversioned = unnumbered.replace(/-v\d+$/, "");
  const undated = unversioned.replace(/[-@](\d{8}|\d{4}-\d{2}-\d{2}|\d{4})$|[-@:]latest$/, "");
  const names = [model, bare, unnumbered, unversioned, undated];
  return [...names, ...names.map((name) => name.replace(/^(us|us-gov|eu|apac|au|ca|in|jp|global)\./, ""))];
};
