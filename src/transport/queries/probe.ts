import type { Provider } from "../../providers/define.ts";
import type { World } from "../../world/world.ts";
import { resolveEndpoint } from "../endpoint.ts";
import { ProviderError } from "../failure.ts";
import { listModels } from "./list-models.ts";
import { ProviderQuery } from "./provider-query.ts";

/** A reachable provider: how many models it lists, or undefined if it has no list. */
export type ProbeResult = { readonly models: number | undefined };

/** Checks at no cost that a provider is reachable and accepts our credentials. Throws a `ProviderError` otherwise. */
export const probeProvider = async (provider: Provider, world: World, signal?: AbortSignal): Promise<ProbeResult> => {
  try {
    if (provider.endpoint.paths.models !== undefined)
      return { models: (await listModels(provider, world, signal)).length };
    await checkReachable(provider, world, signal);
  } catch (error) {
    if (!hasNoModelList(error)) throw error;
  }
  return { models: undefined };
};

/** Sends a GET to the generate endpoint: the expected 404 or 405 proves that the server responds. */
const checkReachable = async (provider: Provider, world: World, signal: AbortSignal | undefined): Promise<void> => {
  const { id, label, defaultModel } = provider;
  const resolved = resolveEndpoint(provider, defaultModel, world.env, "generate");
  if (!resolved.found) throw new ProviderError({ provider: id, label, kind: "misconfigured", how: resolved.how });
  await new ProviderQuery(provider, world, signal).send({ method: "GET", url: resolved.url });
};

/** Whether the error only means that there is no model list: gateways often have none. */
const hasNoModelList = (error: unknown): boolean =>
  error instanceof ProviderError &&
  error.failure.kind === "refused" &&
  (error.failure.status === 404 || error.failure.status === 405);
