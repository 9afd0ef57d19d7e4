import { isObject } from "../../conversation/json.ts";
import type { Provider } from "../../providers/define.ts";
import type { ModelInput } from "../../providers/model-input.ts";
import type { World } from "../../world/world.ts";
import { resolveEndpoint } from "../endpoint.ts";
import { ProviderQuery, type QueryRequest } from "./provider-query.ts";

/** Asks a local server which media a model accepts; undefined if it does not say so within two seconds. */
export const findModelInput = async (
  provider: Provider,
  model: string,
  world: World,
  signal?: AbortSignal,
): Promise<ModelInput | undefined> => {
  const resolved = resolveEndpoint(provider, model, world.env, "models");
  if (!resolved.found) return undefined;
  const { origin, pathname } = new URL(resolved.url);
  const root = origin + pathname.replace(/(\/v\d+)?\/models$/, "");
  const query = new ProviderQuery(provider, world, signal, lookupTimeout);
  for (const { request, read } of localServers) {
    const response = await query.send(request(root, model)).catch(() => undefined);
    signal?.throwIfAborted();
    const input = isObject(response) ? read(response) : undefined;
    if (input !== undefined) return input;
  }
  return undefined;
};

/** Timeout for all servers together, in milliseconds. */
const lookupTimeout = 2000;

type LocalServer = {
  readonly request: (root: string, model: string) => QueryRequest;
  /** Reads the media kinds; undefined if the response is not of this kind of server. */
  readonly read: (response: Readonly<Record<string, unknown>>) => ModelInput | undefined;
};

/** In the order they are tried: llama.cpp has Ollama's path too, but does not list vision there. */
const localServers: readonly LocalServer[] = [
  // llama.cpp: one model per server.
  {
    request: (root) => ({ method: "GET", url: `${root}/props` }),
    read: ({ modalities }) =>
      isObject(modalities) && typeof modalities["vision"] === "boolean"
        ? [
            ...(modalities["vision"] ? (["image"] as const) : []),
            ...(modalities["audio"] === true ? (["audio"] as const) : []),
          ]
        : undefined,
  },
  // Ollama, since 0.6.4.
  {
    request: (root, model) => ({ method: "POST", url: `${root}/api/show`, body: JSON.stringify({ model }) }),
    read: ({ capabilities }) =>
      Array.isArray(capabilities) ? (capabilities.includes("vision") ? ["image"] : []) : undefined,
  },
  // LM Studio.
  {
    request: (root, model) => ({ method: "GET", url: `${root}/api/v0/models/${pathOf(model)}` }),
    read: ({ type }) => (type === "vlm" ? ["image"] : type === "llm" ? [] : undefined),
  },
];

/** Encodes a model name for a path; the slash in LM Studio's names is kept. */
const pathOf = (model: string): string => model.split("/").map(encodeURIComponent).join("/");
