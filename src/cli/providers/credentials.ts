import type { Provider } from "../../providers/define.ts";
import { findProvider } from "../../providers/find.ts";
import { UnknownNameError } from "../../providers/unknown-name.ts";
import { SettingsError } from "../../settings/error.ts";
import { AuthError } from "../../transport/credentials/api-key.ts";
import type { CredentialStatus } from "../../transport/credentials/api-key.ts";
import { findCredentials } from "../../transport/credentials/credentials.ts";
import type { World } from "../../world/world.ts";
import { UserError } from "../user-error.ts";

/** Finds a provider by the name the user gave. Throws a `UserError` with the nearest names. */
export const findNamedProvider = (name: string): Provider => {
  try {
    return findProvider(name);
  } catch (error) {
    if (error instanceof UnknownNameError) throw new UserError(error.message);
    throw error;
  }
};

/** Finds the source of a provider's credentials, or what to set. An unreadable file is reported like a missing one. */
export const findProviderCredentials = async (provider: Provider, world: World): Promise<CredentialStatus> => {
  try {
    return await findCredentials(provider, world);
  } catch (error) {
    if (error instanceof Error && "code" in error) return { found: false, how: `${error.message}.` };
    throw error;
  }
};

/** The world of this run, with the base URLs of the user's settings and their stored keys. */
export const loadProviderWorld = async (): Promise<World> => {
  const { loadAgentEnvironment } = await import("../../agent/environment.ts");
  try {
    return (await loadAgentEnvironment({ folder: "." })).world;
  } catch (error) {
    if (error instanceof SettingsError || error instanceof AuthError) throw new UserError(error.message, { code: 1 });
    throw error;
  }
};
