import type { UsageModality, TokenUsage } from "../wire/decode/events.ts";
import { catalogueDate, catalogue, type CataloguePriceRow, type CatalogueRow } from "./models.data.ts";

/** Facts about a model, as its provider serves it. */
export type ModelFacts = {
  readonly provider: string;
  /** The name the facts were found under, which may be shorter than the requested one. */
  readonly id: string;
  /** False if the model is unknown and the facts below are safe defaults. */
  readonly known: boolean;
  /** Context window: tokens of prompt and response together. */
  readonly context: number;
  /** Maximum output tokens. Some models are limited by their context window only. */
  readonly maxOutput: number;
  readonly input: readonly UsageModality[];
  readonly reasoning: boolean;
  /** Absent if none is published, or for subscriptions. */
  readonly price?: Price;
};

/** US dollars for a million tokens. */
export type Price = TokenRates & {
  /** Rates that replace all others for longer prompts; the longest last. */
  readonly longer?: readonly (TokenRates & { readonly above: number })[];
};

/** Without a rate for cached tokens, they cost as much as others. */
type TokenRates = {
  readonly input: number;
  readonly output: number;
  readonly cachedRead?: number;
  readonly cachedWrite?: number;
};

/** The date of the facts, as `2026-11-02`. Prices change without notice. */
export const factsDate: string = catalogueDate;

/** Lists the known models of a provider, sorted by id. */
export const listModelFacts = (provider: string): readonly ModelFacts[] =>
  catalogueRows(provider).map((row) => parseModelFacts(provider, row));

/** Lists the ids of the known models of a provider, sorted. */
export const listModelIds = (provider: string): readonly string[] => catalogueRows(provider).map(([id]) => id);

/**
 * Finds the facts about a model. Names may have a date, a version, a region or a path; an unknown model gets safe
 * defaults.
 */
export const findModelFacts = (provider: string, model: string): ModelFacts => {
  for (const name of spellings(model)) {
    const row = findCatalogueRow(provider, name);
    if (row !== undefined) return parseModelFacts(provider, row);
  }
  return { provider, id: model, known: false, ...defaultSizes, input: ["text"], reasoning: false };
};

/**
 * Computes the cost of one response in US dollars; undefined if the price is unknown. Add up costs, not usage: long
 * prompts have other prices.
 */
export const computeCost = ({ price }: Pick<ModelFacts, "price">, usage: TokenUsage): number | undefined => {
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

/** Says that a spending limit cannot count the answers of a model, and what to do. */
export const describeUnpriced = (name: string): string =>
  `No price is known for ${name}, so the spending limit does not count its answers. Set it with parley config set 'models."${name}".price' '{"input": 1, "output": 2}' (dollars per million tokens).`;

/** Sizes that nearly every model in use has. */
const defaultSizes = { context: 128_000, maxOutput: 8192 };

/** Finds the row of a model under exactly this name. */
export const findCatalogueRow = (provider: string, id: string): CatalogueRow | undefined => {
  const text = catalogueText(provider);
  const begin = text.indexOf(`\n[${JSON.stringify(id)},`);
  return begin === -1 ? undefined : parseRow(text.slice(begin + 1, text.indexOf("\n", begin + 1)));
};

const catalogueRows = (provider: string): readonly CatalogueRow[] =>
  catalogueText(provider).split("\n").slice(1, -1).map(parseRow);

const catalogueText = (provider: string): string =>
  Object.hasOwn(catalogue, provider) ? (catalogue[provider] ?? "") : "";

const parseRow = (line: string): CatalogueRow => JSON.parse(line) as CatalogueRow;

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

/** Names to look up, nearest first: without path, version, date or `-latest`, then without region. */
const spellings = (model: string): readonly string[] => {
  const bare = model.replace(/^(.*\/)?models\/|^arn:[^/]*\//, "");
  const unnumbered = bare.replace(/:\d+$/, "");
  const unversioned = unnumbered.replace(/-v\d+$/, "");
  const undated = unversioned.replace(/[-@](\d{8}|\d{4}-\d{2}-\d{2}|\d{4})$|[-@:]latest$/, "");
  const names = [model, bare, unnumbered, unversioned, undated];
  return [...names, ...names.map((name) => name.replace(/^(us|us-gov|eu|apac|au|ca|in|jp|global)\./, ""))];
};
