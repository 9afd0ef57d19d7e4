import { providers } from "../../providers/all.ts";
import type { Provider } from "../../providers/define.ts";
import { listSimulatedProviders } from "../../sim/registry.ts";
import type { SimulatorOptions } from "../../sim/simulator.ts";

/** Lists every provider that can be simulated: those with a simulator of their own, then the others with an HTTP API. */
export const listSimulatable = (): readonly string[] => [
  ...listSimulatedProviders(),
  ...unlisted().map(({ id }) => id),
];

/** Describes a provider to the simulator. One without a simulator of its own becomes a typical server of its family. */
export const describeSimulated = (name: string): SimulatorOptions["provider"] => {
  const provider = unlisted().find(({ id }) => id === name);
  if (provider === undefined) return name;
  const { id, wire, endpoint, auth, defaultModel } = provider;
  return { id, wire, base: basePath(endpoint.url), auth: authOf(auth.type), models: [defaultModel] };
};

/** The path of a base URL. */
export const basePath = (url: string): string => url.replace(/^https?:\/\/[^/]+/, "");

const unlisted = (): readonly Provider[] => {
  const listed = listSimulatedProviders();
  return providers.filter(({ id, endpoint }) => !listed.includes(id) && endpoint.url.startsWith("http"));
};

const authOf = (type: Provider["auth"]["type"]): Exclude<SimulatorOptions["provider"], string>["auth"] => {
  switch (type) {
    case "google":
    case "code-assist":
      return "bearer";
    case "bearer":
    case "x-api-key":
    case "x-goog-api-key":
    case "api-key":
    case "aws":
    case "none":
      return type;
  }
};
