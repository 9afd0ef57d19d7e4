import type { Session } from "../../session/session.ts";
import type { Settings } from "../../settings/schema/values.ts";
import { createRequestSigner } from "../../transport/credentials/request-signer.ts";
import type { RetryPolicy } from "../../transport/retry/policy.ts";
import { openTransport, type Transport } from "../../transport/transport.ts";
import { chooseModel, type ModelChoice } from "../models/choose.ts";
import { ModelInputRegistry } from "../models/input.ts";
import { modelName } from "../models/name.ts";
import { readRecentModels } from "../models/recent.ts";
import type { ModelPool } from "../models/router.ts";
import type { ResolvedAgentOptions } from "../options.ts";
import { lastUsedPool } from "../session/create.ts";

/** The model of a session, and the means to send requests to it. */
export type OpenModels = {
  readonly choice: ModelChoice;
  readonly inputs: ModelInputRegistry;
  readonly transport: Transport;
};

/** Chooses the model and opens the transport to it. */
export const openModels = async ({
  world,
  home,
  model,
  localModel,
  admission,
  loaded: { settings },
}: ResolvedAgentOptions): Promise<OpenModels> => {
  const inputs = new ModelInputRegistry(settings.models, async ({ provider, model }, signal) => {
    const { findModelInput } = await import("../../transport/queries/model-input.ts");
    return findModelInput(provider, model, world, signal);
  });
  return {
    choice: await chooseModel(model === undefined ? settings : { ...settings, model }, world.env, {
      lastChoice: async () => (await readRecentModels(world, home.state))[0],
      localModel,
    }),
    inputs,
    transport: openTransport({
      world,
      signer: createRequestSigner(world),
      retryPolicy: timeoutsFrom(settings),
      inputOf: (model) => inputs.get(model),
      admission,
    }),
  };
};

/** A resumed session continues with its last model unless settings or flags name one. */
export const selectPool = async (
  { loaded: { settings }, model = settings.model, resume }: ResolvedAgentOptions,
  choice: ModelChoice,
  session: Session,
): Promise<ModelPool> => (model === undefined && resume !== undefined ? lastUsedPool(session, choice) : choice.pool);

/** The pool of the model that a resumed session used last, if the session is to continue with another one. */
export const findEarlierPool = async (
  { resume }: ResolvedAgentOptions,
  { choice, pool }: { readonly choice: ModelChoice; readonly pool: ModelPool },
  session: Session,
): Promise<ModelPool | undefined> => {
  if (resume === undefined) return undefined;
  const [[next], earlier] = [pool.models, await lastUsedPool(session, choice)];
  const [last] = earlier.models;
  return next === undefined || last === undefined || modelName(next) === modelName(last) ? undefined : earlier;
};

/** The timeouts of a response, as the transport takes them. */
const timeoutsFrom = (settings: Settings): Pick<RetryPolicy, "idle" | "whole"> => ({
  idle: 1000 * settings["limits.idleTime"],
  whole: 1000 * settings["limits.answerTime"],
});
