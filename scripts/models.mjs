/*
 * `npx tsx scripts/models.mjs` writes src/providers/models.data.ts from published model data and prints where a second
 * source has other prices. Needs npm and tar. For newer data, change the versions and dates below.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { providers } from "../src/providers/all.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const output = join(root, "src", "providers", "models.data.ts");

const source = { name: "@earendil-works/pi-ai", version: "1.5.0", published: "2026-11-02", holder: "Mario Zechner" };
const second = {
  name: "@pydantic/genai-prices",
  version: "0.1.8",
  published: "2026-09-23",
  holder: "Pydantic Services Inc.",
};

const main = async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-models-"));
  try {
    const data = unpack(folder, source);
    const prices = await import(pathToFileURL(join(unpack(folder, second), "dist", "index.js")).href);
    const catalogue = catalogueFrom((file) => modelsIn(join(data, "dist", "providers", "data", `${file}.json`)));
    writeFileSync(output, textOf(catalogue));
    execFileSync(join(root, "node_modules", ".bin", "oxfmt"), [output]);
    console.log(disagreements(catalogue, prices).join("\n"));
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** Downloads and unpacks a package without installing it, and checks that its licence is still MIT. */
const unpack = (folder, { name, version }) => {
  const options = { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
  const archive = execFileSync("npm", ["pack", "--silent", `${name}@${version}`], options).trim();
  const into = mkdtempSync(join(folder, "package-"));
  execFileSync("tar", ["-xzf", archive, "-C", into, "--strip-components=1"], options);
  const { license } = JSON.parse(readFileSync(join(into, "package.json"), "utf8"));
  if (license !== "MIT")
    throw new Error(`${name} is now under ${license}: change the licence notice of the data file.`);
  return into;
};

/** The chat models of one file, which groups them by API. Empty if the source lacks the provider. */
const modelsIn = (path) =>
  Object.entries(existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {}).flatMap(([api, models]) =>
    Object.values(models)
      .filter(({ type }) => type === "chat")
      .map((model) => ({ ...factsFrom(model), api })),
  );

const factsFrom = ({ id, contextWindow, maxTokens, input, reasoning, cost }) => ({
  id,
  context: contextWindow,
  // Some limits are larger than the window they must fit into.
  maxOutput: Math.min(maxTokens, contextWindow),
  input,
  reasoning: reasoning === true,
  prices: pricesFrom(cost),
});

/** Returns all prices of a model, each with the prompt size above which it applies. 0 in the source means unknown. */
const pricesFrom = ({ tiers = [], ...base }) =>
  base.input === 0 && base.output === 0
    ? []
    : [{ inputTokensAbove: 0, ...base }, ...tiers].map(
        ({ inputTokensAbove, input, output, cacheRead, cacheWrite }) => ({
          above: inputTokensAbove,
          input,
          output,
          cachedRead: cacheRead > 0 ? cacheRead : null,
          // A price below that of the prompt itself can only be a surcharge.
          cachedWrite: cacheWrite >= input ? cacheWrite : null,
        }),
      );

/** Every provider's models. A provider without an exception below is read under its own id. */
const catalogueFrom = (read) => {
  const [googles, openais] = [read("google"), read("openai").map(withWholeWindow)];
  const exceptions = {
    google: googles.filter(({ id }) => !id.startsWith("deep-research")),
    vertex: read("google-vertex").map(withTiersOf(googles)),
    "code-assist": googles.filter(({ id }) => inCodeAssist.has(id)).map(withoutPrice),
    bedrock: read("amazon-bedrock"),
    openai: openais,
    "openai-chat": openais,
    azure: read("azure")
      .filter(({ api }) => api === "azure-openai-responses")
      .map(withWholeWindow)
      .map(withTiersOf(openais)),
    openrouter: read("openrouter")
      .filter(({ id }) => onOpenRouter.test(id))
      .map(withoutPromotion),
    kimi: read("moonshotai"),
    // The source lists a subscription, with the same models under the same names.
    qwen: read("qwen-token-plan")
      .filter(({ id }) => id.startsWith("qwen"))
      .map(withoutPrice),
    // Facts about these are below.
    cohere: [],
    local: [],
    offline: [],
  };
  const served = providers.map(({ id }) => [id, exceptions[id] ?? read(id)]);
  return served.map(([provider, models]) => ({
    provider,
    models: [...models, ...extraOf(provider, models)]
      .map((model) => ({ ...model, input: kindsOf(provider, model) }))
      .sort((one, other) => (one.id < other.id ? -1 : 1)),
  }));
};

/** The source gives the price threshold as context window of these models; elsewhere it has the full window, as has the second source. */
const withWholeWindow = (model) => (model.context === 272_000 ? { ...model, context: 1_050_000 } : model);

/** Adds price tiers for long prompts from the same model at the vendor's own provider, where the base price is the same; the source lists them only there. */
const withTiersOf = (others) => (model) => {
  const twin = others.find(({ id }) => id === model.id);
  const isSame = twin !== undefined && JSON.stringify(twin.prices[0]) === JSON.stringify(model.prices[0]);
  return isSame ? { ...model, prices: twin.prices } : model;
};

const withoutPrice = (model) => ({ ...model, prices: [] });

/** Removes prices with unusually cheap prompts: hosts on OpenRouter change often, and such a price is one host's promotion. */
const withoutPromotion = (model) =>
  model.prices.some(({ input, output }) => output > 15 * input) ? withoutPrice(model) : model;

/** The models Gemini CLI offers with Code Assist. */
const inCodeAssist = new Set([
  "gemini-2.5-flash",
  "gemini-2.5-flash-lite",
  "gemini-2.5-pro",
  "gemini-3-flash-preview",
  "gemini-3.1-flash-lite",
  "gemini-3.1-pro-preview",
  "gemini-3.1-pro-preview-customtools",
  "gemini-3.5-flash",
  "gemini-3.5-flash-lite",
  "gemini-3.8-flash",
]);

/** Models of vendors that are also providers here, without variants such as `:free` and aliases such as `~google/...`. */
const onOpenRouter =
  /^(amazon|anthropic|cohere|deepseek|google|minimax|mistralai|moonshotai|openai|qwen|x-ai|z-ai)\/[^:]+$/;

/**
 * Models the source lacks at their own provider. Sizes are those it gives for the same model elsewhere; prices, and the
 * aliases in `like`, are from the second source. Values that neither has are omitted.
 */
const extra = {
  google: [
    // Text and generated images have different prices, so there is no single price.
    { id: "gemini-2.5-flash-image", input: ["text", "image"], reasoning: false },
    { id: "gemini-3-pro-image", context: 65_536, maxOutput: 32_768, input: ["text", "image"], reasoning: true },
  ],
  anthropic: ["fable-5-2", "mythos-5", "mythos-5-1", "mythos-5-2"].map((name) => ({
    id: `claude-${name}`,
    input: ["text", "image"],
    reasoning: true,
  })),
  openai: [{ id: "gpt-5.6", like: "gpt-5.6-sol" }],
  deepseek: [
    // The peak price, as the source gives for the other models. Off-peak it is half.
    { id: "deepseek-v4-flash", context: 1_000_000, maxOutput: 384_000, reasoning: true, price: [0.44, 1.32, 0.014] },
    {
      id: "deepseek-v4-flash-vision-exp",
      context: 1_048_576,
      maxOutput: 262_144,
      input: ["text", "image"],
      reasoning: true,
    },
  ],
  qwen: [{ id: "qwen3-max", context: 262_144, reasoning: false }],
  minimax: [
    { id: "MiniMax-M2.5", context: 204_800, maxOutput: 131_072, reasoning: true, price: [0.3, 1.2, 0.03, 0.375] },
  ],
  cohere: [
    { id: "command-a-03-2025", context: 256_000, maxOutput: 8000, reasoning: false, price: [2.5, 10] },
    { id: "command-r-08-2024", context: 128_000, maxOutput: 4000, reasoning: false, price: [0.15, 0.6] },
    { id: "command-r-plus-08-2024", context: 128_000, maxOutput: 4000, reasoning: false, price: [2.5, 10] },
  ],
  // Local models are free. This is the context window of the model; servers often configure less.
  local: [{ id: "qwen3", context: 40_960, reasoning: true, price: [0, 0] }],
  offline: [{ id: "parley", input: ["text", "image", "document", "audio"], reasoning: false, price: [0, 0] }],
};

const extraOf = (provider, models) =>
  (extra[{ vertex: "google", "openai-chat": "openai", azure: "openai" }[provider] ?? provider] ?? []).map(
    ({ id, like, context = null, maxOutput = null, input = ["text"], reasoning, price }) =>
      like === undefined
        ? { id, context, maxOutput, input, reasoning, prices: price === undefined ? [] : [flat(price)] }
        : { ...models.find((model) => model.id === like), id },
  );

const flat = ([input, output, cachedRead = null, cachedWrite = null]) => ({
  above: 0,
  input,
  output,
  cachedRead,
  cachedWrite,
});

/** Additional input media by the vendors' documentation: the source has only text and images. */
const alsoTake = [
  {
    provider: /^(google|vertex|code-assist)$/,
    model: /^gemini-(?!.*(computer-use|image|robotics))/,
    kinds: "document audio video",
  },
  { provider: /^anthropic$/, model: /./, kinds: "document" },
  { provider: /^bedrock$/, model: /anthropic\.claude|meta\.llama4|mistral\.pixtral/, kinds: "document" },
  { provider: /^bedrock$/, model: /amazon\.nova-(?!micro)/, kinds: "document video" },
  { provider: /^(openai|openai-chat|azure)$/, model: /./, sees: true, kinds: "document" },
  { provider: /^xai$/, model: /./, kinds: "document" },
  { provider: /^kimi$/, model: /./, sees: true, kinds: "video" },
  { provider: /^mistral$/, model: /mistral|codestral|devstral|magistral|pixtral|voxtral|ministral/, kinds: "document" },
  { provider: /^mistral$/, model: /voxtral/, kinds: "audio" },
  // The gateway extracts the text of PDFs for models that cannot read them.
  { provider: /^openrouter$/, model: /./, kinds: "document" },
  { provider: /^openrouter$/, model: /^google\/gemini-(?!.*(image|banana))/, kinds: "audio video" },
  { provider: /^openrouter$/, model: /voxtral|gpt-audio/, kinds: "audio" },
];

const kindsOf = (provider, { id, input }) => {
  const more = alsoTake
    .filter((rule) => rule.provider.test(provider) && rule.model.test(id))
    .filter((rule) => rule.sees !== true || input.includes("image"))
    .flatMap(({ kinds }) => kinds.split(" "));
  return ["text", "image", "document", "audio", "video"].filter((kind) => [...input, ...more].includes(kind));
};

const textOf = (catalogue) => `/*
 * Model facts as of ${source.published}. Generated by scripts/models.mjs: change that, not this.
 *
 * From ${source.name} ${source.version} (MIT, copyright ${source.holder}), published ${source.published};
 * some models it lacks from ${second.name} ${second.version} (MIT, copyright ${second.holder}),
 * published ${second.published}. Both licences apply to the data taken from them.
 */

/** The date of the facts. */
export const catalogueDate = "${source.published}";

/** One model. \`input\` has a letter for each kind it takes: text, image, document, audio, video. Null is unknown. */
export type CatalogueRow = readonly [
  id: string,
  context: number | null,
  maxOutput: number | null,
  input: string,
  reasoning: boolean,
  ...prices: readonly CataloguePriceRow[],
];

/** US dollars for a million tokens, for prompts of more than \`above\` tokens. */
export type CataloguePriceRow = readonly [
  above: number,
  input: number,
  output: number,
  cachedRead?: number | null,
  cachedWrite?: number | null,
];

/**
 * The models of each provider, sorted by id, one a line: a CatalogueRow as JSON. As text they cost a start nothing until a
 * line is looked up.
 */
export const catalogue: Readonly<Record<string, string>> = {
${catalogue.map(({ provider, models }) => `${JSON.stringify(provider)}: \`\n${models.map((model) => `${rowOf(model)}\n`).join("")}\`,`).join("\n")}
};
`;

const rowOf = ({ id, context, maxOutput, input, reasoning, prices }) =>
  JSON.stringify([id, context, maxOutput, input.map((kind) => kind[0]).join(""), reasoning, ...prices.map(priceRowOf)]);

const priceRowOf = ({ above, input, output, cachedRead, cachedWrite }) => {
  const row = [above, input, output, cachedRead, cachedWrite];
  while (row.at(-1) === null) row.pop();
  return row;
};

/** The second source's names of our providers. */
const secondNames = {
  ...Object.fromEntries(providers.map(({ id }) => [id, id])),
  vertex: "google",
  bedrock: "aws",
  xai: "x-ai",
  kimi: "moonshotai",
};

/** Lists models for which the two sources have different base prices, and the counts. */
const disagreements = (catalogue, { calcPrice }) => {
  const compared = catalogue
    .filter(({ provider }) => provider in secondNames)
    .flatMap(({ provider, models }) =>
      models
        .filter(({ prices }) => prices.length > 0)
        .map((model) => ({ provider, model, other: priceThere(calcPrice, secondNames[provider], model.id) })),
    );
  const found = compared.filter(({ other }) => other !== undefined);
  const lines = found.flatMap(({ provider, model, other }) => {
    const differing = Object.keys(other.price)
      .filter((field) => other.price[field] !== undefined && model.prices[0][field] !== null)
      .filter((field) => Math.abs(other.price[field] - model.prices[0][field]) > 0.0005 * model.prices[0][field])
      .map((field) => `${field} ${model.prices[0][field]}, there ${other.price[field]}`);
    return differing.length === 0 ? [] : [`${provider}/${model.id}: ${differing.join("; ")} (as ${other.id})`];
  });
  const counts = `${found.length} of ${compared.length} priced models are in ${second.name}; ${lines.length} differ.`;
  return [...lines, counts];
};

const priceThere = (calcPrice, providerId, model) => {
  const timestamp = new Date(`${source.published}T12:00:00Z`);
  const result = calcPrice({ input_tokens: 1, output_tokens: 1 }, model, { providerId, timestamp });
  if (result === null) return undefined;
  const { input_mtok, output_mtok, cache_read_mtok, cache_write_mtok } = result.model_price;
  const base = (price) => (typeof price === "object" ? price.base : price);
  return {
    id: result.model.id,
    price: {
      input: base(input_mtok),
      output: base(output_mtok),
      cachedRead: base(cache_read_mtok),
      cachedWrite: base(cache_write_mtok),
    },
  };
};

await main();
