import type { Provider } from "../../providers/define.ts";
import type { World } from "../../world/world.ts";
import { getField, getText } from "../credentials/http.ts";
import { resolveEndpoint } from "../endpoint.ts";
import { ProviderError } from "../failure.ts";
import { ProviderQuery, unreadableResponseError } from "./provider-query.ts";

/** A model as listed by its provider. */
export type ListedModel = {
  /** The name used in requests. */
  readonly id: string;
  /** The context window in tokens. */
  readonly context?: number;
  /** The display name. */
  readonly label?: string;
};

/**
 * Lists the models of a provider, in its order. Models that are not for chat (embeddings, images, speech) are left out.
 * Throws a `ProviderError`.
 */
export const listModels = async (
  provider: Provider,
  world: World,
  signal?: AbortSignal,
): Promise<readonly ListedModel[]> => {
  const { id, label, defaultModel } = provider;
  const resolved = resolveEndpoint(provider, defaultModel, world.env, "models");
  if (!resolved.found) throw new ProviderError({ provider: id, label, kind: "misconfigured", how: resolved.how });
  const query = new ProviderQuery(provider, world, signal);
  const found = new Map<string, ListedModel>();
  const visited = new Set<string>();
  for (let url: string | undefined = resolved.url; url !== undefined && visited.size < maxPages;) {
    visited.add(url);
    const body = await query.send({ method: "GET", url });
    const models = modelsIn(body);
    if (models === undefined) throw unreadableResponseError(provider, "It is no list of models");
    for (const model of models) if (!found.has(model.id)) found.set(model.id, model);
    const next: string | undefined = nextPage(resolved.url, body);
    url = next === undefined || visited.has(next) ? undefined : next;
  }
  return [...found.values()];
};

const maxPages = 20;

/** Finds the list, which has four possible names. An empty one may be null or absent. */
const modelsIn = (body: unknown): readonly ListedModel[] | undefined => {
  const list = Array.isArray(body) ? body : listNames.map((name) => getField(body, name)).find(Array.isArray);
  if (list !== undefined) return list.flatMap(modelFrom);
  if (typeof body !== "object" || body === null) return undefined;
  return Object.keys(body).length === 0 || listNames.some((name) => getField(body, name) === null) ? [] : undefined;
};

const listNames = ["data", "models", "publisherModels", "modelSummaries"] as const;

const modelFrom = (item: unknown): readonly ListedModel[] => {
  const id = getText(item, "id") ?? getText(item, "modelId") ?? getText(item, "name")?.replace(resourcePath, "");
  if (id === undefined || !isChatModel(item)) return [];
  const context = contextNames.map((name) => getField(item, name)).find(isCount);
  const label = labelNames.map((name) => getText(item, name)).find((text) => text !== undefined);
  return [
    {
      id,
      ...(context === undefined ? {} : { context }),
      ...(label === undefined || label.replace(resourcePath, "") === id ? {} : { label }),
    },
  ];
};

/** Google prefixes model names with a resource path; a tuned model's whole path is its name. */
const resourcePath = /^(publishers\/[^/]+\/)?models\//;

const contextNames = [
  "context_length",
  "context_window",
  "max_context_length",
  "max_model_len",
  "max_input_tokens",
  "inputTokenLimit",
];

const labelNames = ["display_name", "displayName", "modelName", "name"];

const isCount = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value > 0;

/** Whether a listed model is for chat; true if the list does not say. */
const isChatModel = (item: unknown): boolean => {
  const capabilities = getField(item, "capabilities");
  return (
    offers(getField(item, "supportedGenerationMethods"), "generateContent") &&
    offers(getField(item, "endpoints"), "chat") &&
    offers(getField(item, "outputModalities"), "TEXT") &&
    getField(capabilities, "completion_chat") !== false &&
    getField(capabilities, "chat_completion") !== false &&
    getField(item, "active") !== false
  );
};

const offers = (list: unknown, what: string): boolean => !Array.isArray(list) || list.includes(what);

/** Returns the URL of the next page: after a token, or after the last listed model. */
const nextPage = (first: string, body: unknown): string | undefined => {
  const after = getField(body, "has_more") === true ? getText(body, "last_id") : undefined;
  const [name, token] = [
    ["pageToken", getText(body, "nextPageToken")],
    ["page_token", getText(body, "next_page_token")],
    ["after_id", after],
  ].find(([, value]) => value !== undefined) ?? ["", undefined];
  if (name === undefined || token === undefined) return undefined;
  const url = new URL(first);
  url.searchParams.set(name, token);
  return url.href;
};
