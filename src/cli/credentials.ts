import { findProvider, UnknownNameError, type Provider } from "../providers/index.ts";
import { findCredentials, type Found } from "../transport/index.ts";
import type { World } from "../world/index.ts";
import { Failure } from "./failure.ts";

/** The provider a person named. Throws a `Failure` with the nearest names. */
export const providerNamed = (name: string): Provider => {
  try {
    return findProvider(name);
  } catch (error) {
    if (error instanceof UnknownNameError) throw new Failure(error.message);
    throw error;
  }
};

/** Where credentials for a provider come from, or what to set. A file that cannot be read is told like one that is missing. */
export const credentialsOf = async (provider: Provider, world: World): Promise<Found> => {
  try {
    return await findCredentials(provider, world);
  } catch (error) {
    if (error instanceof Error && "code" in error) return { found: false, how: `${error.message}.` };
    throw error;
  }
};
