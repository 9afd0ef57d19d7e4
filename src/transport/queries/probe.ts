import type { Provider } from "../../providers/define.ts";
import type { World } from "../../world/world.ts";
import { resolveEndpoint } from "../endpoint.ts";
import { ProviderError } from "../failure.ts";
import { listModels } from "./list-models.ts";
import { ProviderQuery } from "./provider-query.ts";

/** A provider that answers: how many models it lists, or undefined where there is no list. */
export type ProbeResult = { readonly models: number | undefined };

/** Finds out whether a provider can be reached and takes our credentials, at no cost. Throws a `ProviderError` when not. */
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

/** Asks for what nobody offers under that address, and so learns no more than who answers there. */
const checkReachable = async (provider: Provider, world: World, signal: AbortSignal | undefined): Promise<void> => {
  const { id, label, defaultModel } = provider;
  const resolved = resolveEndpoint(provider, defaultModel, world.env, "generate");
  if (!resolved.found) throw new ProviderError({ provider: id, label, kind: "misconfigured", how: resolved.how });
  await new ProviderQuery(provider, world, signal).send({ method: "GET", url: resolved.url });
};

/** Gateways often serve models without a list of them. */
const hasNoModelList = (error: unknown): boolean =>
  error instanceof ProviderError &&
  error.failure.kind === "refused" &&
  (error.failure.status === 404 || error.failure.status === 405);
