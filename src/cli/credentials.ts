import type { Provider } from "../providers/define.ts";
import { findProvider } from "../providers/find.ts";
import { UnknownNameError } from "../providers/unknown-name.ts";
import type { Found } from "../transport/credentials-key.ts";
import { findCredentials } from "../transport/credentials.ts";
import type { World } from "../world/world.ts";
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
