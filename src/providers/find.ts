import type { Destination } from "../wire/bind.ts";
import type { WireId } from "../wire/wire.ts";
import { providers } from "./all.ts";
import type { Provider } from "./define.ts";
import type { ModelInput } from "./model-input.ts";
import { UnknownNameError } from "./unknown-name.ts";

export { UnknownNameError } from "./unknown-name.ts";

/** The API families, by name. */
export const wireIds: readonly WireId[] = ["gemini", "anthropic", "bedrock", "openai-chat", "openai-responses"];

/** The provider that owns each API family. */
export const homeProviders: Readonly<Record<WireId, string>> = {
  gemini: "google",
  anthropic: "anthropic",
  bedrock: "bedrock",
  "openai-chat": "openai-chat",
  "openai-responses": "openai",
};

/** Finds a provider by id. Throws an `UnknownNameError` with the nearest names. */
export const findProvider = (id: string): Provider => {
  const found = providers.find((provider) => provider.id === id);
  if (found === undefined)
    throw new UnknownNameError(
      "provider",
      id,
      providers.map((provider) => provider.id),
    );
  return found;
};

/** Finds an API family by name. Throws an `UnknownNameError` with the nearest names. */
export const findWire = (name: string): WireId => {
  const found = wireIds.find((id) => id === name);
  if (found === undefined) throw new UnknownNameError("wire", name, wireIds);
  return found;
};

/** Resolves `provider/model` to its destination. A provider alone means its default model. */
export const destinationOf = (name: string, account?: string, input?: ModelInput): Destination => {
  const slash = name.indexOf("/");
  const provider = findProvider(slash === -1 ? name : name.slice(0, slash));
  const model = slash === -1 ? "" : name.slice(slash + 1);
  return provider.destination(model === "" ? provider.defaultModel : model, account, [], input);
};
